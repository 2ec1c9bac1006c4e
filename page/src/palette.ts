// Colours of data: Cividis for shares, which people who do not tell red from green read alike, and blue to red through
// a neutral middle for signed values.
export type Palette = 'weights' | 'signed';

type Rgb = readonly [number, number, number];

const cividis: Rgb[] = [
  [0x00, 0x22, 0x4e], [0x12, 0x35, 0x70], [0x3b, 0x49, 0x6c], [0x57, 0x5d, 0x6d], [0x70, 0x71, 0x73],
  [0x8a, 0x86, 0x78], [0xa5, 0x9c, 0x74], [0xc3, 0xb3, 0x69], [0xe1, 0xcc, 0x55], [0xfe, 0xe8, 0x38],
];
// On a dark page the middle is dark, so that nought looks like nothing there as well.
const divergingDark: Rgb[] = [
  [0xb4, 0xd8, 0xff], [0x5c, 0xa2, 0xe6], [0x2b, 0x55, 0x84], [0x1f, 0x27, 0x32], [0x87, 0x3b, 0x34], [0xe0, 0x70, 0x5c], [0xff, 0xcb, 0xbc],
];
const diverging: Rgb[] = [
  [0x12, 0x3f, 0x7a], [0x21, 0x66, 0xac], [0x67, 0xa9, 0xcf], [0xf7, 0xf7, 0xf7], [0xef, 0x8a, 0x62], [0xb2, 0x18, 0x2b], [0x7a, 0x0a, 0x1f],
];

function between(stops: Rgb[], share: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const mix = (c: number) => Math.round(stops[i]![c]! + (at - i) * (stops[i + 1]![c]! - stops[i]![c]!));
  return [mix(0), mix(1), mix(2)];
}

// Little-endian RGBA, as ImageData wants it.
const table = (stops: Rgb[]): Uint32Array =>
  Uint32Array.from({ length: 256 }, (_, i) => {
    const [r, g, b] = between(stops, i / 255);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });

const tables = { weights: table(cividis), signed: table(diverging), night: table(divergingDark) };

// Where a value stands on its colour bar, 0 to 1. Weights go by their square root, or the many small ones of a long
// sentence would all look like nothing.
export function share(palette: Palette, value: number, largest: number): number {
  if (palette === 'weights') return Math.sqrt(value);
  return largest > 0 ? 0.5 + (0.5 * value) / largest : 0.5;
}

// Packed RGBA; 0, which is transparent, for NaN.
export function colour(palette: Palette, value: number, largest: number, night: boolean): number {
  if (Number.isNaN(value)) return 0;
  const at = Math.min(1, Math.max(0, share(palette, value, largest)));
  return tables[palette === 'signed' && night ? 'night' : palette][Math.round(at * 255)]!;
}

export const css = (packed: number): string => `rgb(${packed & 255} ${(packed >> 8) & 255} ${(packed >> 16) & 255})`;

// Lines of a chart, told apart in both themes; more than these are told apart by dashes.
export const lineColours = ['#3f76c4', '#c97a1c', '#3d9970', '#b3507a', '#7a67c7', '#8a8a2e', '#2f9aa8', '#b85c4a'];
