// What goes into the stacks: embeddings, positions with their wavelengths, masks.
import { useMemo, useState } from 'preact/hooks';
import { useMatrix } from '../cache';
import { piece, show, number } from '../format';
import { Heatmap } from '../heatmap';
import { Matrix } from '../matrix';
import { Bar, Choice, Message, Panel, Waiting } from '../parts';
import { columnTokens, kindNames, meta, rowTokens } from '../session';
import type { AttentionInfo, Token, Trace } from '../types';
import { wavelength, Wavelengths } from '../wavelengths';

type Side = 'source' | 'target';

const two = (m: Matrix): Matrix => Matrix.of([m.rows, m.columns], m.cells as Float32Array);

const difference = (a: Matrix, b: Matrix): Matrix =>
  Matrix.of([a.rows, a.columns], Float32Array.from(a.cells as Float32Array, (x, i) => x - b.cells[i]!));

const norm = (m: Matrix, row: number): number => {
  let sum = 0;
  for (let c = 0; c < m.columns; ++c) sum += m.at(row, c) ** 2;
  return Math.sqrt(sum);
};

function Norms({ tokens, embedding, encoding }: { tokens: Token[]; embedding: Matrix; encoding: Matrix }) {
  const rows = useMemo(() => tokens.map((_, i) => [norm(embedding, i), norm(encoding, i)] as const), [tokens, embedding, encoding]);
  const most = Math.max(...rows.flat(), 1e-30);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Norms by token">
      <table class="plain wide">
        <thead><tr><th scope="col" class="text">token</th><th scope="col">embedding</th><td class="bar-cell" /><th scope="col">position</th><td class="bar-cell" /></tr></thead>
        <tbody>
          {rows.map(([e, p], i) => (
            <tr key={i}>
              <th scope="row">{i} {piece(tokens[i]!.piece)}</th>
              <td>{show(e)}</td><td class="bar-cell"><Bar share={e / most} /></td>
              <td>{show(p)}</td><td class="bar-cell"><Bar share={p / most} tone="second" /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const mapHeight = (rows: number) => Math.min(360, rows * 20 + 10);

function Embedded({ trace, side }: { trace: Trace; side: Side }) {
  const base = `traces/${trace.id}/tensor`;
  const encodingPath = `${side === 'source' ? 'encoder' : 'decoder'}_positions.encoding`;
  const hasEncoding = trace.tensors.some((t) => t.path === encodingPath);
  const input = useMatrix(`${base}/${side}_input?as=f32`);
  const encoding = useMatrix(hasEncoding ? `${base}/${encodingPath}?as=f32` : null);
  const tokens = side === 'source' ? trace.source_tokens : trace.target_tokens;
  const names = useMemo(() => tokens.map((t) => piece(t.piece)), [tokens]);
  const sum = useMemo(() => input.value && two(input.value), [input.value]);
  const position = useMemo(() => encoding.value && two(encoding.value), [encoding.value]);
  const embedding = useMemo(() => sum && position && sum.rows === position.rows ? difference(sum, position) : sum, [sum, position]);
  const sinusoidal = meta.value?.model?.config.positions === 'sinusoidal';
  const common = { palette: 'signed' as const, rows: names, rowTitle: 'token', columnTitle: 'column', stretch: true, most: 26 };
  return (
    <>
      <Panel title="Embedding" about={`Row of the table by token${hasEncoding ? ', times √D: the input less its position' : ''}`}>
        <Waiting of={input} what="Fetching">
          {(m) => <Heatmap {...common} name="Embeddings" matrix={embedding ?? two(m)} valueTitle="embedding" height={mapHeight(tokens.length)} />}
        </Waiting>
      </Panel>
      {hasEncoding ? (
        <Panel title="Position" about={sinusoidal ? 'Sines and cosines, added to the embedding: column 2i and 2i+1 have one wavelength, 2π·10000^(2i/D) tokens' : 'Added to the embedding'}>
          {sinusoidal && position && <Wavelengths columns={position.columns} />}
          <Waiting of={encoding} what="Fetching">
            {(m) => <Heatmap {...common} name="Position encoding" matrix={position ?? two(m)} valueTitle="encoding" height={mapHeight(tokens.length)} range={sinusoidal ? 1 : undefined}
                             note={sinusoidal ? (_, c) => `wavelength ${show(wavelength(c, m.columns))} tokens` : undefined} />}
          </Waiting>
        </Panel>
      ) : (
        <Panel title="Position"><p class="about">This model's position scheme adds nothing to the embeddings; it works inside attention ({meta.value?.model?.config.positions}).</p></Panel>
      )}
      <div class="two">
        <Panel title="Their sum" about="What the first layer reads">
          {sum && <Heatmap {...common} name="Input of the first layer" matrix={sum} valueTitle="input" height={mapHeight(tokens.length)} />}
        </Panel>
        {embedding && position && embedding !== sum && (
          <Panel title="Norms" about="Of a like size, or one drowns the other"><Norms tokens={tokens} embedding={embedding} encoding={position} /></Panel>
        )}
      </div>
    </>
  );
}

// What a mask lets through is what has a weight: a masked cell is a byte of its own.
function MaskMap({ trace, info }: { trace: Trace; info: AttentionInfo }) {
  const weights = useMatrix(`traces/${trace.id}/attention/${info.kind}/overview?size=160`);
  const small = useMatrix(weights.error ? `traces/${trace.id}/attention/${info.kind}/overview?size=48` : null);
  const of = weights.error ? small : weights;
  const mask = useMemo(() => {
    const plane = of.value?.plane(0, 0);
    return plane && Matrix.of([plane.rows, plane.columns], Float32Array.from(plane.cells, (_, i) => (Number.isNaN(plane.value(i)) ? NaN : 1)));
  }, [of.value]);
  const rows = useMemo(() => rowTokens(trace, info.kind).map((t) => piece(t.piece)), [trace, info.kind]);
  const columns = useMemo(() => columnTokens(trace, info.kind).map((t) => piece(t.piece)), [trace, info.kind]);
  const whole = mask?.rows === info.rows && mask.columns === info.columns;
  const allowed = mask ? Array.from(mask.cells).filter((x) => x === 1).length / mask.cells.length : 0;
  return (
    <Panel title={kindNames[info.kind]} about={info.causal ? 'Causal: a query sees itself and what stands before it' : 'Open: a query sees every key'}>
      <Waiting of={of} what="Fetching">
        {() => mask && (
          <Heatmap name={`Mask of ${kindNames[info.kind]}`} matrix={mask} palette="weights" rows={whole ? rows : undefined} columns={whole ? columns : undefined}
                   rowTitle="query" columnTitle="key" valueTitle="allowed" height={300} most={22} bar={false} />
        )}
      </Waiting>
      <p class="about">{show(100 * number(allowed), 3)} % of the cells allowed; hatched ones are masked.</p>
    </Panel>
  );
}

const sides = [['source', 'source'], ['target', 'target']] as const;

export function Inputs({ trace }: { trace: Trace }) {
  const [side, setSide] = useState<Side>('source');
  if (!trace.tensors.some((t) => t.path === `${side}_input`)) return <Message kind="hint" text="The trace holds no inputs: the program taps none in a model of this kind." />;
  return (
    <>
      <div class="row"><span class="label">Side</span><Choice label="Side" value={side} options={sides} onChange={setSide} /></div>
      <Embedded key={`${trace.id}/${side}`} trace={trace} side={side} />
      <h2>Masks</h2>
      <div class="three">{trace.attentions.map((info) => <MaskMap key={`${trace.id}/${info.kind}`} trace={trace} info={info} />)}</div>
    </>
  );
}
