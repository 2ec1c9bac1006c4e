// A matrix to look into: colours on a canvas, a cell chosen by pointer or arrows, the same numbers as a table.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { show } from './format';
import { keptImage, labelFont, largest, layOut, paint, type Geometry } from './heatmap_paint';
import { announce } from './live';
import type { Matrix } from './matrix';
import { ColourBar } from './colour_bar';
import type { Palette } from './palette';
import { MatrixTable } from './matrix_table';
import { dark } from './theme';
import { useWidth } from './use_width';

export interface HeatmapProps {
  name: string;            // said to a screen reader
  matrix: Matrix;          // rank 2
  palette: Palette;
  rows?: string[];         // names; numbers where absent
  columns?: string[];
  rowTitle: string;        // what a row is: "query"
  columnTitle: string;
  valueTitle: string;
  row?: number;            // the chosen cell
  column?: number;
  onChoose?: (row: number, column: number) => void;
  note?: (row: number, column: number) => string;  // more about a cell
  height?: number;         // at most, CSS pixels
  most?: number;           // largest cell
  stretch?: boolean;       // cells fill the room, square or not
  range?: number;          // of the signed palette; the matrix's own largest where absent
  bar?: boolean;
  ranked?: boolean;        // say a cell's rank in its row
  exact?: { row: number; values: number[] };  // of one row, where the matrix holds bytes
}

const nameOf = (names: string[] | undefined, i: number): string => names?.[i] ?? String(i);

// 1 for the largest. Bytes cannot tell weights that are nearly equal, so the row's own numbers decide where they are known.
const rankIn = (row: number[], c: number): number => 1 + row.filter((value) => value > row[c]!).length;

export function describe(p: HeatmapProps, r: number, c: number): string {
  const exact = p.exact?.row === r ? p.exact.values : undefined, own = exact?.[c];
  const value = own ?? p.matrix.at(r, c), about = own === undefined && p.matrix.values ? '≈ ' : '';
  const rank = p.ranked && !Number.isNaN(value) ? `, rank ${exact ? rankIn(exact, c) : p.matrix.rank(r, c)} of ${p.matrix.columns}` : '';
  const what = Number.isNaN(value) ? 'masked' : `${p.valueTitle} ${about}${show(value)}`;
  const place = (title: string, names: string[] | undefined, i: number) => `${title} ${i}${names ? ` ${nameOf(names, i)}` : ''}`;
  return `${place(p.rowTitle, p.rows, r)}, ${place(p.columnTitle, p.columns, c)}: ${what}${rank}${p.note ? `, ${p.note(r, c)}` : ''}`;
}

function textWidth(texts: string[]): number {
  const context = document.createElement('canvas').getContext('2d')!;
  context.font = labelFont;
  return texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 0);
}

// How much the names take: rows to the left, columns slanted above.
function labelRoom(rows: string[] | undefined, columns: string[] | undefined) {
  if (!rows && !columns) return null;
  return { rows: Math.min(104, textWidth(rows ?? []) + 12), columns: Math.min(76, textWidth(columns ?? []) * 0.8 + 16) };
}

function place(box: HTMLElement | null, g: Geometry, row: number, column: number): void {
  if (!box) return;
  box.style.transform = `translate(${g.left + column * g.cellWidth}px, ${g.top + row * g.cellHeight}px)`;
  box.style.width = `${Math.max(3, g.cellWidth)}px`;
  box.style.height = `${Math.max(3, g.cellHeight)}px`;
}

const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function moved(event: KeyboardEvent, row: number, column: number, m: Matrix): [number, number] | null {
  const clamp = (x: number, n: number) => Math.min(n - 1, Math.max(0, x));
  if (event.key === 'Home') return [row, 0];
  if (event.key === 'End') return [row, m.columns - 1];
  const step = steps[event.key];
  if (!step) return null;
  const far = event.shiftKey ? 10 : 1;
  return [clamp(row + far * step[0], m.rows), clamp(column + far * step[1], m.columns)];
}

export function Heatmap(p: HeatmapProps) {
  const { matrix, palette } = p;
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const hover = useRef<HTMLDivElement>(null), chosen = useRef<HTMLDivElement>(null), readout = useRef<HTMLParagraphElement>(null);
  const [asTable, setTable] = useState(false);
  const [own, setOwn] = useState<[number, number]>([0, 0]);
  const row = Math.min(p.row ?? own[0], matrix.rows - 1), column = Math.min(p.column ?? own[1], matrix.columns - 1);
  const room = useMemo(() => labelRoom(p.rows, p.columns), [p.rows, p.columns]);
  const height = p.height ?? 420;
  const g = useMemo(
    () => layOut(matrix.rows, matrix.columns, { width, height, most: p.most ?? 30, stretch: p.stretch ?? false, labels: room }),
    [matrix.rows, matrix.columns, width, height, p.most, p.stretch, room],
  );
  const range = p.range ?? largest(matrix);
  const dpr = window.devicePixelRatio || 1, night = dark.value;
  const image = useMemo(
    () => (width ? keptImage(matrix, palette, range, night, Math.round(g.height * dpr), Math.round(g.width * dpr)) : null),
    [matrix, palette, range, night, g, dpr],
  );

  useLayoutEffect(() => {
    if (!image || asTable) return;
    const size = { width: g.labels ? Math.min(width, g.left + g.width + g.top * 0.6) : g.width, height: g.top + g.height };
    paint(canvas.current!, g, image, size, { rows: p.rows ?? [], columns: p.columns ?? [], gridRows: matrix.rows, gridColumns: matrix.columns });
  }, [image, asTable]);
  useEffect(() => {
    place(chosen.current, g, row, column);
    if (readout.current) readout.current.textContent = describe(p, row, column);
  });

  // The row's own numbers come a moment after the cell was chosen, and are then said.
  const told = useRef<{ matrix: Matrix; cell: string; text: string } | null>(null);
  useEffect(() => {
    const last = told.current, text = describe(p, row, column);
    if (last?.matrix !== matrix || last.cell !== `${row},${column}` || last.text === text) return;
    last.text = text;
    announce(text);
  });

  const choose = (r: number, c: number) => {
    setOwn([r, c]);
    p.onChoose?.(r, c);
    const text = describe(p, r, c);
    told.current = { matrix, cell: `${r},${c}`, text };
    announce(text);
  };
  const cellAt = (event: PointerEvent | MouseEvent): [number, number] | null => {
    const at = canvas.current!.getBoundingClientRect();
    const c = Math.floor((event.clientX - at.left - g.left) / g.cellWidth), r = Math.floor((event.clientY - at.top - g.top) / g.cellHeight);
    return r >= 0 && c >= 0 && r < matrix.rows && c < matrix.columns ? [r, c] : null;
  };
  // Straight to the document: a redraw of the tree for each pointer event would be felt.
  const onPointerMove = (event: PointerEvent) => {
    const cell = cellAt(event);
    hover.current!.hidden = !cell;
    if (cell) place(hover.current, g, ...cell);
    readout.current!.textContent = describe(p, ...(cell ?? [row, column]));
  };
  const onPointerLeave = () => {
    hover.current!.hidden = true;
    readout.current!.textContent = describe(p, row, column);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const next = moved(event, row, column, matrix);
    if (!next) return;
    event.preventDefault();
    choose(...next);
  };

  return (
    <div class="heatmap" ref={box}>
      {asTable ? (
        <MatrixTable matrix={matrix} rows={p.rows} columns={p.columns} row={row} column={column} label={p.name} onChoose={choose} />
      ) : (
        <div class="heatmap-field" role="application" aria-roledescription="heat map" tabIndex={0} onKeyDown={onKeyDown}
             aria-label={`${p.name}, ${matrix.rows} by ${matrix.columns}. Arrow keys move the cell.`}
             onPointerMove={onPointerMove} onPointerLeave={onPointerLeave}
             onClick={(event) => { const cell = cellAt(event); if (cell) choose(...cell); }}>
          <canvas ref={canvas} data-left={g.left} data-top={g.top} data-cell-width={g.cellWidth} data-cell-height={g.cellHeight} />
          <div class="heatmap-hover" ref={hover} hidden />
          <div class="heatmap-chosen" ref={chosen} />
        </div>
      )}
      <div class="heatmap-foot">
        <p class="readout" ref={readout} />
        {p.bar !== false && <ColourBar palette={palette} largest={range} />}
        <button type="button" class="quiet" aria-pressed={asTable} onClick={() => setTable(!asTable)}>
          {asTable ? 'show as map' : 'show as table'}
        </button>
      </div>
    </div>
  );
}
