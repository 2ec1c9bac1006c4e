// Matrix to pixels: one image a matrix, made once and drawn at any size; masked cells stay transparent over a hatching.
import { Lru } from './lru';
import type { Matrix } from './matrix';
import { colour, type Palette } from './palette';
import { ink } from './theme';

export interface Geometry {
  left: number;  // of the cells in the canvas, CSS pixels, as all of these
  top: number;
  width: number;
  height: number;
  cellWidth: number;
  cellHeight: number;
  labels: boolean;
}

// The largest size of whole device pixels a cell that fits; below one pixel a cell, whatever fits.
function cellSize(room: number, cells: number, most: number): number {
  const dpr = window.devicePixelRatio || 1;
  const device = (room * dpr) / cells;
  return device >= 1 ? Math.min(most, Math.floor(device) / dpr) : room / cells;
}

export interface Room {
  width: number;
  height: number;
  most: number;      // largest cell
  stretch: boolean;  // cells need not be square
  labels: { rows: number; columns: number } | null;  // pixels the names take, where they fit
}

export function layOut(rows: number, columns: number, room: Room): Geometry {
  const names = room.labels;
  const width = (left: number, right: number) => cellSize(Math.max(8, room.width - left - right), columns, room.most);
  const height = (top: number) => cellSize(Math.max(8, room.height - top), rows, room.most);
  // Cells that need not be square fill the width to the last pixel.
  const full = (size: number, left: number, right: number) => (room.stretch ? Math.min(room.most, (room.width - left - right) / columns) : size);
  const square = (w: number, h: number): [number, number] => (room.stretch ? [w, h] : [Math.min(w, h), Math.min(w, h)]);
  if (names) {
    const [w, h] = square(full(width(names.rows, names.columns * 0.6), names.rows, names.columns * 0.6), height(names.columns));
    if (w >= 12 && h >= 11) return geometry(names.rows, names.columns, w, h, rows, columns, true);
  }
  const [w, h] = square(full(width(0, 0), 0, 0), height(0));
  return geometry(0, 0, w, h, rows, columns, false);
}

const geometry = (left: number, top: number, w: number, h: number, rows: number, columns: number, labels: boolean): Geometry => ({
  left, top, width: w * columns, height: h * rows, cellWidth: w, cellHeight: h, labels,
});

export const largest = (matrix: Matrix): number => Math.max(Math.abs(matrix.low), Math.abs(matrix.high));

// Of the cells in a pixel's block the largest is shown: the mean would hide a thin diagonal. Signed values go by size.
const sizeOf = (palette: Palette, value: number): number => (Number.isNaN(value) ? -1 : palette === 'weights' ? value : Math.abs(value));

interface Bytes {
  sizes: Float32Array;
  colours: Uint32Array;
}

// Size and colour of each byte, so that a cell costs two look-ups.
function bytesOf(values: Float32Array, palette: Palette, most: number, night: boolean): Bytes {
  return { sizes: values.map((v) => sizeOf(palette, v)), colours: Uint32Array.from(values, (v) => colour(palette, v, most, night)) };
}

let weightBytes: { night: boolean; of: Float32Array; bytes: Bytes } | undefined;

// All matrices of weights share theirs.
function keptBytes(values: Float32Array, palette: Palette, most: number, night: boolean): Bytes {
  if (palette !== 'weights') return bytesOf(values, palette, most, night);
  if (weightBytes?.of !== values || weightBytes.night !== night) weightBytes = { night, of: values, bytes: bytesOf(values, palette, most, night) };
  return weightBytes.bytes;
}

const edges = (cells: number, pixels: number): Int32Array => Int32Array.from({ length: pixels + 1 }, (_, i) => Math.floor((i * cells) / pixels));

// The index of the largest of each of rows x columns blocks: first down each column, then across.
function pooled(matrix: Matrix, rows: number, columns: number, palette: Palette, table: Bytes | null): Uint32Array {
  const { cells, columns: width } = matrix, across = edges(width, columns), down = edges(matrix.rows, rows);
  const chosen = new Uint32Array(rows * columns), sizes = new Float32Array(width), places = new Uint32Array(width);
  for (let r = 0, i = 0; r < rows; ++r) {
    sizes.fill(-2);
    for (let at = down[r]! * width, end = down[r + 1]! * width; at < end; ) {
      for (let x = 0; x < width; ++x, ++at) {
        const size = table ? table.sizes[cells[at]!]! : sizeOf(palette, cells[at]!);
        if (size > sizes[x]!) {
          sizes[x] = size;
          places[x] = at;
        }
      }
    }
    for (let c = 0; c < columns; ++c, ++i) {
      let best = across[c]!;
      for (let x = best + 1; x < across[c + 1]!; ++x) if (sizes[x]! > sizes[best]!) best = x;
      chosen[i] = places[best]!;
    }
  }
  return chosen;
}

// At most `maxRows` x `maxColumns` pixels.
export function imageOf(matrix: Matrix, palette: Palette, most: number, night: boolean, maxRows: number, maxColumns: number): ImageData {
  const rows = Math.min(matrix.rows, Math.max(1, maxRows)), columns = Math.min(matrix.columns, Math.max(1, maxColumns));
  const image = new ImageData(columns, rows), pixels = new Uint32Array(image.data.buffer), { cells } = matrix;
  const table = matrix.values ? keptBytes(matrix.values, palette, most, night) : null;
  const chosen = rows === matrix.rows && columns === matrix.columns ? null : pooled(matrix, rows, columns, palette, table);
  for (let i = 0; i < pixels.length; ++i) {
    const cell = cells[chosen ? chosen[i]! : i]!;
    pixels[i] = table ? table.colours[cell]! : colour(palette, cell, most, night);
  }
  return image;
}

export interface Image {
  canvas: HTMLCanvasElement;
  masked: boolean;  // some of it is transparent
}

const images = new Lru<Image>(24 << 20);

// The image of a matrix on a canvas of its own, made once.
export function keptImage(...of: Parameters<typeof imageOf>): Image {
  const key = [of[0].id, ...of.slice(1)].join();
  const kept = images.get(key);
  if (kept) return kept;
  const data = imageOf(...of), image = { canvas: canvasOf(data), masked: new Uint32Array(data.data.buffer).includes(0) };
  images.set(key, image, 4 * data.width * data.height);
  return image;
}

function canvasOf(image: ImageData): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext('2d')!.putImageData(image, 0, 0);
  return canvas;
}

let hatch: { look: string; tile: HTMLCanvasElement } | undefined;

export function hatching(context: CanvasRenderingContext2D, dpr: number): CanvasPattern {
  const ground = ink('hatch-ground'), line = ink('hatch'), look = `${dpr} ${ground} ${line}`;
  if (hatch?.look !== look) hatch = { look, tile: hatchTile(dpr, ground, line) };
  return context.createPattern(hatch.tile, 'repeat')!;
}

function hatchTile(dpr: number, ground: string, line: string): HTMLCanvasElement {
  const tile = document.createElement('canvas');
  tile.width = tile.height = Math.round(6 * dpr);
  const on = tile.getContext('2d')!;
  on.fillStyle = ground;
  on.fillRect(0, 0, tile.width, tile.width);
  on.strokeStyle = line;
  on.lineWidth = dpr;
  for (const shift of [-tile.width, 0, tile.width]) {
    on.beginPath();
    on.moveTo(shift, tile.width);
    on.lineTo(shift + tile.width, 0);
    on.stroke();
  }
  return tile;
}

// Lines between cells that are large enough to be counted.
function grid(context: CanvasRenderingContext2D, g: Geometry, rows: number, columns: number): void {
  if (Math.min(g.cellWidth, g.cellHeight) < 9) return;
  context.fillStyle = ink('panel');
  for (let r = 1; r < rows; ++r) context.fillRect(g.left, g.top + r * g.cellHeight - 0.5, g.width, 1);
  for (let c = 1; c < columns; ++c) context.fillRect(g.left + c * g.cellWidth - 0.5, g.top, 1, g.height);
}

function clipped(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > room) cut = cut.slice(0, -1);
  return `${cut}…`;
}

export const labelFont = '12px system-ui, "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif';

function names(context: CanvasRenderingContext2D, g: Geometry, rows: string[], columns: string[]): void {
  context.font = labelFont;
  context.fillStyle = ink('ink-soft');
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  rows.forEach((text, r) => context.fillText(clipped(context, text, g.left - 8), g.left - 6, g.top + (r + 0.5) * g.cellHeight));
  context.textAlign = 'left';
  columns.forEach((text, c) => {
    context.save();
    context.translate(g.left + (c + 0.5) * g.cellWidth, g.top - 6);
    context.rotate(-Math.PI / 3.4);
    context.fillText(clipped(context, text, g.top * 1.12), 0, 0);
    context.restore();
  });
}

// The image over a hatching, which shows where it is masked.
export function drawImage(context: CanvasRenderingContext2D, image: Image, dpr: number, left: number, top: number, width: number, height: number): void {
  if (image.masked) {
    context.fillStyle = hatching(context, dpr);
    context.fillRect(left, top, width, height);
  }
  context.imageSmoothingEnabled = false;
  context.drawImage(image.canvas, left, top, width, height);
}

// Empty and of this size. A canvas of that size already keeps its memory.
function cleared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const context = canvas.getContext('2d')!;
  if (canvas.width === width && canvas.height === height) {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
  } else {
    canvas.width = width;
    canvas.height = height;
  }
  return context;
}

export function paint(canvas: HTMLCanvasElement, g: Geometry, image: Image, size: { width: number; height: number },
                      texts: { rows: string[]; columns: string[]; gridRows: number; gridColumns: number }): void {
  const dpr = window.devicePixelRatio || 1;
  const context = cleared(canvas, Math.ceil(size.width * dpr), Math.ceil(size.height * dpr));
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  drawImage(context, image, dpr, g.left * dpr, g.top * dpr, g.width * dpr, g.height * dpr);
  context.scale(dpr, dpr);
  grid(context, g, texts.gridRows, texts.gridColumns);
  if (g.labels) names(context, g, texts.rows, texts.columns);
}
