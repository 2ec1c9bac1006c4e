// Numbers and tokens as text.
import type { Num } from './types';

export const number = (x: Num | null | undefined): number => (x === null || x === undefined ? NaN : Number(x));

const special = (x: number): string | null =>
  Number.isNaN(x) ? 'NaN' : x === Infinity ? '∞' : x === -Infinity ? '-∞' : null;

// As many digits as a reader compares by eye.
export function show(value: Num | null | undefined, digits = 4): string {
  const x = number(value);
  const word = special(x);
  if (word) return word;
  if (x === 0) return '0';
  const size = Math.abs(Number(x.toPrecision(digits)));  // 0.99999 is printed as 1.000
  if (size >= 1e6 || size < 1e-4) return x.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return x.toFixed(Math.max(0, Math.min(digits + 1, digits - 1 - Math.floor(Math.log10(size)))));
}

// Every digit of a float32: nine tell any two apart.
export function exact(value: Num | null | undefined): string {
  const x = number(value);
  const digits = Number(x.toPrecision(9));
  return special(x) ?? (digits !== 0 && Math.abs(digits) < 1e-4 ? digits.toExponential() : String(digits));
}

export const percent = (value: Num): string => {
  const x = number(value) * 100;
  return special(x) ?? (x >= 99.95 ? '100 %' : `${x.toFixed(x >= 9.95 ? 0 : x >= 0.95 ? 1 : 2)} %`);
};

export const count = (n: number): string => n.toLocaleString('en-US');

// 1,234,567 parameters fit a box of a drawing as 1.23 M.
export function short(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toPrecision(3)} B`;
  if (n >= 1e6) return `${(n / 1e6).toPrecision(3)} M`;
  if (n >= 1e3) return `${(n / 1e3).toPrecision(3)} k`;
  return String(n);
}

export const shape = (sizes: number[]): string => (sizes.length ? `[${sizes.join(' × ')}]` : 'a number');

// The piece as it stands, with what cannot be seen made visible.
export const piece = (text: string): string => (text === '' ? '∅' : text.replace(/\n/g, '⏎').replace(/ /g, '␣'));

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
