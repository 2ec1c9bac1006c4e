// The chosen cell worked out, term by term, in front of the reader: q·k, the scale, the mask, exp, the division.
import { exact, number, show } from './format';
import { largestDifference, useCell, type Head } from './head_data';
import { Numbers, Panel, Waiting } from './parts';
import * as selection from './selection';
import type { AttentionInfo, Cell, Num, Trace } from './types';

interface Props {
  trace: Trace;
  info: AttentionInfo;
  head: Head;
  names: { rows: string[]; columns: string[] };
}

function Terms({ left, right, label }: { left: Num[]; right: Num[]; label: string }) {
  const largest = left.reduce<number>((most, x, i) => Math.max(most, Math.abs(number(x) * number(right[i]!))), 1e-30);
  return (
    <ol class="terms" tabIndex={0} aria-label={label}>
      {left.map((x, i) => {
        const product = number(x) * number(right[i]!);
        return (
          <li key={i} title={`column ${i}: ${exact(x)} × ${exact(right[i]!)} = ${exact(product)}`} class={product < 0 ? 'minus' : 'plus'}>
            <span>{show(x, 3)} × {show(right[i]!, 3)}</span>
            <b>{show(product, 3)}</b>
            <i style={{ width: `${(100 * Math.abs(product)) / largest}%` }} />
          </li>
        );
      })}
    </ol>
  );
}

function Line({ name, children, result }: { name: string; children: preact.ComponentChildren; result: preact.ComponentChildren }) {
  return (
    <div class="work-line">
      <span class="work-name">{name}</span>
      <span class="work-sum">{children}</span>
      <span class="work-result">= <b>{result}</b></span>
    </div>
  );
}

// Every line starts from the numbers the line before it ends with; only inputs are taken from the program.
function Arithmetic({ cell, query, index }: { cell: Cell; query: number; index: number }) {
  const dot = cell.query.reduce<number>((sum, x, i) => sum + number(x) * number(cell.key[i]!), 0);
  const scaled = dot * cell.scale, bias = number(cell.score) - number(cell.dot) * cell.scale;
  const biased = Math.abs(bias) > 1e-4 * Math.max(1, Math.abs(number(cell.score)));
  const score = biased ? scaled + bias : scaled;
  const power = Math.exp(score - number(cell.row_max)), weight = cell.allowed ? power / number(cell.row_sum) : 0;
  return (
    <div class="worked">
      <h3>q<sub>{query}</sub> · k<sub>{index}</sub>: {cell.query.length} terms</h3>
      <Terms left={cell.query} right={cell.key} label="Terms of the dot product" />
      <Line name="sum" result={exact(dot)}>Σ q·k</Line>
      <Line name="scale" result={exact(scaled)}>{exact(dot)} × {exact(cell.scale)}</Line>
      {biased && <Line name="position" result={exact(score)}>{exact(scaled)} + {exact(bias)} of the position scheme</Line>}
      {cell.allowed ? (
        <>
          <Line name="mask" result={exact(score)}>allowed: the score stays</Line>
          <Line name="exp" result={exact(power)}>exp({exact(score)} − {exact(cell.row_max)}), the row's largest</Line>
          <Line name="divide" result={exact(weight)}>{exact(power)} ÷ {exact(cell.row_sum)}, the row's sum</Line>
        </>
      ) : (
        <Line name="mask" result="0">masked: this query must not see this key, so its weight is</Line>
      )}
      <Numbers of={[
        ['weight in the model', exact(cell.weight)],
        ['difference', exact(Math.abs(weight - number(cell.weight)))],
        ['rank in the row', cell.allowed ? String(cell.rank) : '–'],
        ['context, recomputed − captured', exact(largestDifference(cell.context, cell.captured))],
      ]} />
      <details>
        <summary>What this key adds to the weighted sum: weight × v<sub>{index}</sub></summary>
        <Terms left={cell.value.map(() => weight)} right={cell.value} label="Weight times value, by column" />
      </details>
    </div>
  );
}

export function Worked({ trace, info, head, names }: Props) {
  const { query, key, layer, head: index } = selection;
  const cell = useCell(trace, info, head, layer.value, index.value, query.value, key.value);
  return (
    <Panel title="The chosen cell, worked out" class="worked-panel"
           about={<>query {query.value} <q>{names.rows[query.value]}</q> on key {key.value} <q>{names.columns[key.value]}</q></>}>
      <Waiting of={cell}>{(value) => <Arithmetic cell={value} query={query.value} index={key.value} />}</Waiting>
    </Panel>
  );
}
