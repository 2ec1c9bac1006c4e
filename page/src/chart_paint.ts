// Curves to a canvas: of each bin the last value as a line, the least and the largest as a band.
import { linear, logarithmic, type Scale } from './chart_scale';
import { number, show } from './format';
import { lineColours } from './palette';
import { ink } from './theme';
import type { Bin } from './types';

export interface Curve {
  name: string;
  label: string;  // without what all names of the chart begin with
  bins: Bin[];
  stroke: string;
  dash: number[];
}

export interface Axes {
  x: Scale;
  y: Scale;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// Layers of one stack go through shades of one colour with their depth, so that a trend in depth is seen.
export function curveOf(name: string, bins: Bin[], at: number, night: boolean): Curve {
  const label = name.replace(/^(grad_norm|update_ratio)\./, '');
  const layer = /\b(encoder|decoder)\.layers\.(\d+)/.exec(name);
  if (!layer) return { name, label, bins, stroke: lineColours[at % lineColours.length]!, dash: at < lineColours.length ? [] : [5, 4] };
  const hue = layer[1] === 'encoder' ? 214 : 32, depth = Math.min(8, Number(layer[2]));
  return { name, label, bins, stroke: `hsl(${hue} 75% ${night ? 82 - depth * 6 : 28 + depth * 6}%)`, dash: layer[1] === 'decoder' ? [6, 3] : [] };
}

export function axesOf(curves: Curve[], log: boolean, width: number, height: number): Axes {
  const area = { left: 56, right: width - 24, top: 8, bottom: height - 24 };
  let first = Infinity, last = -Infinity, low = Infinity, high = -Infinity;
  for (const { bins } of curves) {
    for (const [, step, min, max] of bins) {
      first = Math.min(first, step);
      last = Math.max(last, step);
      for (const value of [number(min), number(max)]) {
        if (!Number.isFinite(value) || (log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  if (low > high) [low, high] = log ? [0.1, 1] : [0, 1];
  const room = log ? 0 : (high - low) * 0.04;
  return {
    ...area,
    x: linear(Math.min(first, last), last, area.left, area.right, Math.max(2, Math.floor((area.right - area.left) / 64))),
    y: log ? logarithmic(low, high, area.bottom, area.top) : linear(low - room, high + room, area.bottom, area.top, 5),
  };
}

function grid(context: CanvasRenderingContext2D, axes: Axes): void {
  context.font = '11.5px system-ui, sans-serif';
  context.fillStyle = ink('ink-soft');
  context.strokeStyle = ink('line');
  context.lineWidth = 1;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.beginPath();
  for (const tick of axes.y.ticks) {
    const y = Math.round(axes.y.at(tick)) + 0.5;
    context.moveTo(axes.left, y);
    context.lineTo(axes.right, y);
    context.fillText(show(tick, 3), axes.left - 7, y);
  }
  context.textAlign = 'center';
  for (const tick of axes.x.ticks) {
    const x = Math.round(axes.x.at(tick)) + 0.5;
    context.moveTo(x, axes.top);
    context.lineTo(x, axes.bottom);
    context.fillText(tick.toLocaleString('en-US'), x, axes.bottom + 13);
  }
  context.stroke();
}

type Point = [x: number, y: number];

const points = (curve: Curve, axes: Axes, field: 2 | 3 | 4): Point[] =>
  curve.bins.map((bin): Point => [axes.x.at(bin[1]), axes.y.at(number(bin[field]))]).filter(([, y]) => Number.isFinite(y));

function trace(context: CanvasRenderingContext2D, path: Point[]): void {
  path.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
}

function band(context: CanvasRenderingContext2D, curve: Curve, axes: Axes, alpha: number): void {
  context.globalAlpha = alpha;
  context.fillStyle = curve.stroke;
  context.beginPath();
  trace(context, [...points(curve, axes, 3), ...points(curve, axes, 2).reverse()]);
  context.fill();
  context.globalAlpha = 1;
}

function line(context: CanvasRenderingContext2D, curve: Curve, axes: Axes): void {
  const path = points(curve, axes, 4);
  context.strokeStyle = context.fillStyle = curve.stroke;
  context.lineWidth = 1.7;
  context.lineJoin = 'round';
  context.setLineDash(curve.dash);
  context.beginPath();
  trace(context, path);
  context.stroke();
  context.setLineDash([]);
  if (path.length > 40) return;
  for (const [x, y] of path) {
    context.beginPath();
    context.arc(x, y, 2.6, 0, 2 * Math.PI);
    context.fill();
  }
}

export function paintChart(canvas: HTMLCanvasElement, curves: Curve[], axes: Axes, width: number, height: number): void {
  const dpr = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dpr);
  canvas.height = Math.round(height * dpr);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.scale(dpr, dpr);
  grid(context, axes);
  for (const curve of curves) band(context, curve, axes, curves.length > 4 ? 0.07 : 0.16);
  for (const curve of curves) line(context, curve, axes);
}
