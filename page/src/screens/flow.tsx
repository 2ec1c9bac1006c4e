// How large the residual stream is, and what each sub-layer adds to it; by token on demand.
import { useState } from 'preact/hooks';
import { number, piece, show } from '../format';
import { Bar, Message, Panel } from '../parts';
import * as selection from '../selection';
import type { FlowRow, Token, Trace } from '../types';

const sublayers: Record<FlowRow['sublayer'], string> = { self_attn: 'self-attention', cross_attn: 'cross-attention', feed_forward: 'feed-forward' };

const tapOf = (row: FlowRow): string => `${row.stack}.layers.${row.layer}.${row.sublayer}_residual.stream`;

function ByToken({ row, tokens }: { row: FlowRow; tokens: Token[] }) {
  const most = Math.max(...row.streams.map(number), ...row.contributions.map(number), 1e-30);
  return (
    <div class="scroll by-token" tabIndex={0} role="region" aria-label="Norms by token">
      <table class="plain wide">
        <thead><tr><th scope="col" class="text">token</th><th scope="col">adds</th><td class="bar-cell" /><th scope="col">stream</th><td class="bar-cell" /></tr></thead>
        <tbody>
          {row.streams.map((stream, i) => (
            <tr key={i}>
              <th scope="row">{i} {piece(tokens[i]?.piece ?? '')}</th>
              <td>{show(row.contributions[i]!)}</td>
              <td class="bar-cell"><Bar share={number(row.contributions[i]!) / most} tone="second" /></td>
              <td>{show(stream)}</td>
              <td class="bar-cell"><Bar share={number(stream) / most} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Rows({ rows, tokens, most }: { rows: FlowRow[]; tokens: Token[]; most: number }) {
  const [open, setOpen] = useState<number | null>(null);
  return (
    <div class="flow-rows">
      <div class="flow-row flow-head" aria-hidden="true"><span /><span>adds</span><span /><span>stream</span><span /><span>share</span><span /></div>
      {rows.map((row, i) => {
        const attention = row.sublayer === 'feed_forward' ? null : row.sublayer === 'cross_attn' ? 'cross' as const : row.stack;
        return (
          <div key={i} class={`flow-item ${i > 0 && rows[i - 1]!.layer !== row.layer ? 'next-layer' : ''}`}>
            <div class="flow-row">
              <button type="button" class="link" aria-expanded={open === i} onClick={() => setOpen(open === i ? null : i)}>
                <span aria-hidden="true">{open === i ? '▾' : '▸'}</span> layer {row.layer} {sublayers[row.sublayer]}
              </button>
              <span>{show(row.contribution)}</span>
              <Bar share={number(row.contribution) / most} tone="second" />
              <span>{show(row.stream)}</span>
              <Bar share={number(row.stream) / most} />
              <span>{show(number(row.contribution) / number(row.stream), 2)}</span>
              <button type="button" class="quiet" onClick={() => (attention ? selection.go({ screen: 'attention', stack: attention, layer: row.layer }) : selection.go({ screen: 'tensors', tensor: tapOf(row) }))}>
                {attention ? 'attention' : 'tensor'}
              </button>
            </div>
            {open === i && <ByToken row={row} tokens={tokens} />}
          </div>
        );
      })}
    </div>
  );
}

export function Flow({ trace }: { trace: Trace }) {
  if (trace.flow.length === 0) return <Message kind="hint" text="The trace holds no residual stream: this model has no residual connections the program knows." />;
  const most = Math.max(...trace.flow.flatMap((row) => [number(row.stream), number(row.contribution)]).filter(Number.isFinite));
  return (
    <>
      <p class="about">
        Norms, mean over tokens. <b class="swatch second" /> what a sub-layer adds, <b class="swatch" /> the residual stream after it; the share is
        their ratio. In a healthy model the stream grows gently and no sub-layer adds nothing or everything.
      </p>
      <div class="two">
        {(['encoder', 'decoder'] as const).map((stack) => {
          const rows = trace.flow.filter((row) => row.stack === stack);
          return rows.length > 0 && (
            <Panel key={stack} title={stack === 'encoder' ? 'Encoder' : 'Decoder'}>
              <Rows rows={rows} tokens={stack === 'encoder' ? trace.source_tokens : trace.target_tokens} most={most} />
            </Panel>
          );
        })}
      </div>
    </>
  );
}
