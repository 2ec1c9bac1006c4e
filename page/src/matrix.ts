// Matrix files, as docs/inspector-api.md gives them: bytes or float32, decoded cell by cell when looked at, so that
// 512 x 512 weights stay 256 KB.
import { ApiError } from './api';

const weightBytes = 1, float32 = 2, linearBytes = 3;

let made = 0;

export class Matrix {
  readonly id = ++made;  // to keep what is made from it
  private readonly planes = new Map<number, Matrix>();

  private constructor(
    readonly shape: number[],
    readonly cells: Uint8Array | Float32Array,
    readonly values: Float32Array | null,  // of each byte; null where cells are the values
    readonly low: number,
    readonly high: number,
  ) {}

  get bytes(): number {
    return this.cells.byteLength;
  }
  get rows(): number {
    return this.shape[this.shape.length - 2] ?? 1;
  }
  get columns(): number {
    return this.shape[this.shape.length - 1] ?? 1;
  }

  // NaN where masked.
  value(index: number): number {
    const cell = this.cells[index]!;
    return this.values ? this.values[cell]! : cell;
  }
  at(row: number, column: number): number {
    return this.value(row * this.columns + column);
  }

  // One matrix of a stack of them, without a copy: leading indices away. The same one for the same indices.
  plane(...leading: number[]): Matrix {
    const rest = this.shape.slice(leading.length);
    const size = rest.reduce((a, b) => a * b, 1);
    const first = leading.reduce((at, index, axis) => at * this.shape[axis]! + index, 0) * size;
    const kept = this.planes.get(first);
    if (kept && kept.shape.length === rest.length) return kept;
    const cells = this.cells.subarray(first, first + size);
    const plane = cells instanceof Float32Array ? Matrix.of(rest, cells) : new Matrix(rest, cells, this.values, this.low, this.high);
    this.planes.set(first, plane);
    return plane;
  }

  // Pooled cells each spread over the cells they stand for.
  spread(rows: number, columns: number): Matrix {
    if (rows === this.rows && columns === this.columns) return this;
    const cells = this.cells instanceof Uint8Array ? new Uint8Array(rows * columns) : new Float32Array(rows * columns);
    for (let r = 0; r < rows; ++r) {
      const from = Math.floor((r * this.rows) / rows) * this.columns;
      for (let c = 0; c < columns; ++c) cells[r * columns + c] = this.cells[from + Math.floor((c * this.columns) / columns)]!;
    }
    return new Matrix([rows, columns], cells, this.values, this.low, this.high);
  }

  // 1 for the largest of its row.
  rank(row: number, column: number): number {
    const own = this.at(row, column);
    let rank = 1;
    for (let c = 0; c < this.columns; ++c) if (this.at(row, c) > own) ++rank;
    return rank;
  }

  static of(shape: number[], cells: Float32Array): Matrix {
    let low = Infinity, high = -Infinity;
    for (const x of cells) {
      if (x < low && x > -Infinity) low = x;
      if (x > high && x < Infinity) high = x;
    }
    return new Matrix(shape, cells, null, low, high);
  }

  // Throws ApiError for what is no whole matrix file.
  static decode(file: ArrayBuffer): Matrix {
    const view = new DataView(file);
    if (file.byteLength < 8 || view.getUint32(0, true) !== 0x314d4647) throw broken('is no matrix file');
    const type = view.getUint8(5), rank = view.getUint8(6), begin = 16 + 4 * rank;
    if (view.getUint8(4) !== 1) throw broken('is of a newer version than this page; reload the page');
    if (file.byteLength < begin) throw broken('is cut short');
    const shape = Array.from({ length: rank }, (_, i) => view.getUint32(8 + 4 * i, true));
    const low = view.getFloat32(begin - 8, true), high = view.getFloat32(begin - 4, true);
    const size = shape.reduce((a, b) => a * b, 1);
    if (file.byteLength !== begin + size * (type === float32 ? 4 : 1)) throw broken('is cut short');
    if (type === float32) return Matrix.of(shape, new Float32Array(file, begin));
    if (type !== weightBytes && type !== linearBytes) throw broken('holds cells of a type this page does not know');
    return new Matrix(shape, new Uint8Array(file, begin), type === weightBytes ? weightValues : linearValues(low, high), low, high);
  }
}

const broken = (what: string) => new ApiError(0, `A matrix the program sent ${what}. Ask again; if it stays so, start the program again.`);

const valuesOf = (value: (share: number) => number) =>
  Float32Array.from({ length: 256 }, (_, q) => (q === 0 ? NaN : value((q - 1) / 254)));

const weightValues = valuesOf((share) => share * share);
const linearValues = (low: number, high: number) => valuesOf((share) => low + share * (high - low));
