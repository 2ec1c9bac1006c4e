// Axes of a chart: value to pixel and back, and the round values to print.
export interface Scale {
  at: (value: number) => number;  // NaN for what has no place on the axis
  value: (pixel: number) => number;
  ticks: number[];
}

// The smallest of 1, 2, 5 times a power of ten that gives at most `most` steps.
function roundStep(span: number, most: number): number {
  const least = span / most, power = 10 ** Math.floor(Math.log10(least));
  return (([1, 2, 5].find((m) => m * power >= least) ?? 10) * power);
}

export function linear(low: number, high: number, from: number, to: number, most: number): Scale {
  const span = high - low || Math.abs(high) || 1, top = high > low ? high : low + span;
  const step = roundStep(top - low, most), ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= top + 1e-9 * span; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return {
    at: (value) => from + ((value - low) / (top - low)) * (to - from),
    value: (pixel) => low + ((pixel - from) / (to - from)) * (top - low),
    ticks,
  };
}

export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  const a = Math.log10(low), b = high > low ? Math.log10(high) : Math.log10(low) + 0.5;
  const within = b - a < 2.5 ? [1, 2, 5] : [1], every = Math.max(1, Math.ceil((b - a) / 6)), ticks: number[] = [];
  for (let power = Math.floor(a); power <= b; ++power) {
    if (power % every === 0) ticks.push(...within.map((m) => Number((m * 10 ** power).toPrecision(12))));
  }
  return {
    at: (value) => (value > 0 ? from + ((Math.log10(value) - a) / (b - a)) * (to - from) : NaN),
    value: (pixel) => 10 ** (a + ((pixel - from) / (to - from)) * (b - a)),
    ticks: ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001),
  };
}
