// A matrix as a real table, of which only what is in sight is in the document.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { show } from './format';
import type { Matrix } from './matrix';

const rowHeight = 26, columnWidth = 78, visibleRows = 14, spare = 3;

interface Props {
  matrix: Matrix;
  rows?: string[];
  columns?: string[];
  row: number;
  column: number;
  label: string;
  onChoose: (row: number, column: number) => void;
}

export const range = (first: number, end: number): number[] => Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);

const windowOf = (scroll: number, room: number, size: number, all: number): [number, number] => {
  const first = Math.max(0, Math.floor(scroll / size) - spare);
  return [first, Math.min(all, first + Math.ceil(room / size) + 2 * spare)];
};

export function MatrixTable({ matrix, rows, columns, row, column, label, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, look] = useState({ top: 0, left: 0, width: 800 });
  const update = () => look({ top: box.current!.scrollTop, left: box.current!.scrollLeft, width: box.current!.clientWidth });
  useLayoutEffect(() => {
    box.current!.scrollTop = Math.max(0, (row - 4) * rowHeight);
    box.current!.scrollLeft = Math.max(0, (column - 3) * columnWidth);
    update();
  }, []);
  const [r0, r1] = windowOf(seen.top, visibleRows * rowHeight, rowHeight, matrix.rows);
  const [c0, c1] = windowOf(seen.left, seen.width, columnWidth, matrix.columns);
  const inSight = range(c0, c1);
  const before = c0 * columnWidth, after = (matrix.columns - c1) * columnWidth;
  const gap = (size: number, head = false) => size > 0 && (head ? <th aria-hidden="true" style={{ minWidth: `${size}px` }} /> : <td aria-hidden="true" />);
  return (
    <div class="matrix-table" ref={box} onScroll={update} tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table aria-rowcount={matrix.rows + 1} aria-colcount={matrix.columns + 1}>
        <thead>
          <tr>
            <th aria-hidden="true" />
            {gap(before, true)}
            {inSight.map((c) => <th key={c} scope="col" aria-colindex={c + 2}>{c} {columns?.[c] ?? ''}</th>)}
            {gap(after, true)}
          </tr>
        </thead>
        <tbody>
          {r0 > 0 && <tr aria-hidden="true" style={{ height: `${r0 * rowHeight}px` }} />}
          {range(r0, r1).map((r) => (
            <tr key={r} aria-rowindex={r + 2}>
              <th scope="row">{r} {rows?.[r] ?? ''}</th>
              {gap(before)}
              {inSight.map((c) => (
                <td key={c} aria-colindex={c + 2} class={r === row && c === column ? 'chosen' : ''} onClick={() => onChoose(r, c)}>
                  {Number.isNaN(matrix.at(r, c)) ? 'masked' : show(matrix.at(r, c))}
                </td>
              ))}
              {gap(after)}
            </tr>
          ))}
          {r1 < matrix.rows && <tr aria-hidden="true" style={{ height: `${(matrix.rows - r1) * rowHeight}px` }} />}
        </tbody>
      </table>
    </div>
  );
}
