// The values of one tensor: its last two axes as a map, an index for each axis before them.
import { useMemo, useState } from 'preact/hooks';
import { isReport, reportHas } from './answers';
import { useMatrix, type Loaded } from './cache';
import { count, piece, shape } from './format';
import { Heatmap } from './heatmap';
import { Matrix } from './matrix';
import { Message, Panel, Stats, Waiting } from './parts';
import { range } from './matrix_table';
import type { TensorInfo, Token, Trace } from './types';

const most = 4_000_000;  // numbers in one answer

// In a report only whole tensors were asked for; there the plane is cut out here.
function usePlane(trace: Trace, tensor: TensorInfo, leading: number[]): Loaded<Matrix> {
  const base = `traces/${trace.id}/tensor/${tensor.path}`;
  const whole = isReport() || leading.length === 0;
  const question = whole ? `${base}?as=f32` : `${base}?slice=${[...leading, ':', ':'].join(',')}&as=f32`;
  const answer = useMatrix(question);
  const value = useMemo(() => {
    const m = answer.value;
    if (!m) return undefined;
    const sizes = tensor.shape.slice(-2), rows = sizes.length === 2 ? sizes[0]! : 1, columns = sizes.at(-1) ?? 1;
    const at = whole ? leading.reduce((sum, index, axis) => sum * tensor.shape[axis]! + index, 0) * rows * columns : 0;
    return Matrix.of([rows, columns], (m.cells as Float32Array).subarray(at, at + rows * columns));
  }, [answer.value, leading.join()]);
  return { ...answer, value };
}

// Rows that are as many as a sentence has tokens are named by them.
function namesOf(trace: Trace, path: string, size: number): string[] | undefined {
  const pieces = (tokens: Token[]) => tokens.map((t) => piece(t.piece));
  const source = path.startsWith('encoder') || path.startsWith('source') || /cross_attn\.(key|value)_heads/.test(path);
  const own = source ? trace.source_tokens : trace.target_tokens;
  return own.length === size ? pieces(own) : undefined;
}

function columnNames(trace: Trace, path: string, size: number): string[] | undefined {
  if (!/\.(scores|weights)$/.test(path)) return undefined;
  const tokens = path.includes('cross_attn') || path.startsWith('encoder') ? trace.source_tokens : trace.target_tokens;
  return tokens.length === size ? tokens.map((t) => piece(t.piece)) : undefined;
}

function Values({ trace, tensor, leading }: { trace: Trace; tensor: TensorInfo; leading: number[] }) {
  const plane = usePlane(trace, tensor, leading);
  const weights = tensor.path.endsWith('.weights');
  return (
    <Waiting of={plane} what="Fetching">
      {(matrix) => (
        <Heatmap name={tensor.path} matrix={matrix} palette={weights ? 'weights' : 'signed'} rows={namesOf(trace, tensor.path, matrix.rows)}
                 columns={columnNames(trace, tensor.path, matrix.columns)} rowTitle="row" columnTitle="column" valueTitle="value" stretch={!weights}
                 height={Math.min(520, Math.max(60, matrix.rows * 22 + 30))} most={weights ? 30 : 24} />
      )}
    </Waiting>
  );
}

export function TensorView({ trace, tensor }: { trace: Trace; tensor: TensorInfo }) {
  const axes = tensor.shape.slice(0, Math.max(0, tensor.shape.length - 2));
  const [leading, setLeading] = useState<number[]>(() => axes.map(() => 0));
  const size = tensor.shape.slice(axes.length).reduce((a, b) => a * b, 1);
  const question = `traces/${trace.id}/tensor/${tensor.path}?as=f32`;
  const absent = isReport() && !reportHas(question);
  return (
    <Panel title={<span class="mono">{tensor.path}</span>} about={`${tensor.dtype} ${shape(tensor.shape)}`} tools={
      axes.map((length, axis) => (
        <label key={axis}>axis {axis} <select value={leading[axis]} onChange={(e) => setLeading(leading.map((v, i) => (i === axis ? Number(e.currentTarget.value) : v)))}>
          {range(0, length).map((i) => <option key={i} value={i} selected={i === leading[axis]}>{i}</option>)}
        </select></label>
      ))}>
      {absent ? <p class="about">The report holds this tensor's statistics, not its values.</p>
        : size > most ? <Message kind="hint" text={`${count(size)} numbers are more than one look can hold. Write them to a file with "glassformer inspect --dump ${tensor.path} --out FILE".`} />
        : <Values trace={trace} tensor={tensor} leading={leading} />}
      <Stats of={tensor} />
    </Panel>
  );
}
