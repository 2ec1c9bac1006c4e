// The chosen query over all its keys: score, exp, weight. What the division adds up.
import { useRef, useState } from 'preact/hooks';
import { show } from './format';
import { useRow, type Head, type Row } from './head_data';
import { range } from './matrix_table';
import { Bar, Choice, Panel, Waiting } from './parts';
import * as selection from './selection';
import type { AttentionInfo, Trace } from './types';

const lineHeight = 28, inSight = 15;

const orders = [['place', 'in order'], ['weight', 'by weight']] as const;
type Order = (typeof orders)[number][0];

function sorted(row: Row, order: Order): number[] {
  const keys = range(0, row.scores.length);
  return order === 'place' ? keys : keys.sort((a, b) => (row.weights[b] || 0) - (row.weights[a] || 0) || a - b);
}

function Lines({ row, names, order }: { row: Row; names: string[]; order: Order }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const keys = sorted(row, order);
  const first = Math.max(0, Math.floor(top / lineHeight) - 4), end = Math.min(keys.length, first + inSight + 8);
  return (
    <div class="row-terms" ref={box} tabIndex={0} role="region" aria-label="Keys of the row" onScroll={() => setTop(box.current!.scrollTop)}>
      <table aria-rowcount={keys.length + 1}>
        <thead>
          <tr><th scope="col">key</th><th scope="col">score</th><th scope="col">exp(s − max)</th><th scope="col">weight</th><td class="bar-cell" /></tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * lineHeight}px` }} />}
          {keys.slice(first, end).map((k, i) => {
            const masked = Number.isNaN(row.scores[k]!);
            return (
              <tr key={k} aria-rowindex={first + i + 2} class={k === selection.key.value ? 'chosen' : masked ? 'masked' : ''}>
                <th scope="row"><button type="button" class="link" onClick={() => selection.go({ key: k })}><small>{k}</small>{names[k]}</button></th>
                <td>{masked ? 'masked' : show(row.scores[k]!)}</td>
                <td>{masked ? '–' : show(Math.exp(row.scores[k]! - row.max))}</td>
                <td>{masked ? '0' : show(row.weights[k]!)}</td>
                <td class="bar-cell"><Bar share={masked ? 0 : row.weights[k]!} /></td>
              </tr>
            );
          })}
          {end < keys.length && <tr aria-hidden="true" style={{ height: `${(keys.length - end) * lineHeight}px` }} />}
        </tbody>
        <tfoot>
          <tr><th scope="row">sum</th><td /><td>{show(row.sum)}</td><td>{show(row.weights.reduce((a, w) => a + (w || 0), 0))}</td><td /></tr>
        </tfoot>
      </table>
    </div>
  );
}

interface Props {
  trace: Trace;
  info: AttentionInfo;
  head: Head;
  names: { rows: string[]; columns: string[] };
}

export function RowTerms({ trace, info, head, names }: Props) {
  const { query, layer, head: index } = selection;
  const [order, setOrder] = useState<Order>('weight');
  const row = useRow(trace, info, head, layer.value, index.value, query.value);
  return (
    <Panel title="The row it stands in" class="row-panel" about={<>query {query.value} <q>{names.rows[query.value]}</q> over all {info.columns} keys</>}
           tools={<Choice label="Order of keys" value={order} options={orders} onChange={setOrder} />}>
      <Waiting of={row}>{(value) => <Lines row={value} names={names.columns} order={order} />}</Waiting>
    </Panel>
  );
}
