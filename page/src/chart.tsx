// Curves of a run: the last value of each bin as a line, its least and largest as a band.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { number, show } from './format';
import { lineColours } from './palette';
import { Panel } from './parts';
import { dark, ink } from './theme';
import type { Bin } from './types';

interface Props {
  title: string;
  about: string;
  series: Record<string, Bin[]>;
  log: boolean;
}

interface Look {
  stroke: string;
  dash?: number[];
}

// Layers of one stack go through shades of one colour with their depth, so that a trend in depth is seen.
function lookOf(name: string, at: number, night: boolean): Look {
  const layer = /\b(encoder|decoder)\.layers\.(\d+)/.exec(name);
  if (!layer) return at < lineColours.length ? { stroke: lineColours[at]! } : { stroke: lineColours[at % lineColours.length]!, dash: [5, 4] };
  const hue = layer[1] === 'encoder' ? 214 : 32, depth = Math.min(8, Number(layer[2]));
  return { stroke: `hsl(${hue} 75% ${night ? 82 - depth * 5 : 30 + depth * 5}%)`, dash: layer[1] === 'decoder' ? [6, 3] : undefined };
}

// A logarithm has no place for zero or less.
const plotted = (value: number, log: boolean): number | null => (!Number.isFinite(value) || (log && value <= 0) ? null : value);

function aligned(series: Record<string, Bin[]>, log: boolean): uPlot.AlignedData {
  const steps = [...new Set(Object.values(series).flatMap((bins) => bins.map((b) => b[1])))].sort((a, b) => a - b);
  const at = new Map(steps.map((s, i) => [s, i]));
  const columns: (number | null)[][] = [];
  for (const bins of Object.values(series)) {
    const [last, low, high] = [0, 1, 2].map(() => new Array<number | null>(steps.length).fill(null));
    for (const [, step, min, max, value] of bins) {
      const i = at.get(step)!;
      last![i] = plotted(number(value), log);
      low![i] = plotted(number(min), log);
      high![i] = plotted(number(max), log);
    }
    columns.push(last!, low!, high!);
  }
  return [steps, ...columns];
}

function options(names: string[], series: Record<string, Bin[]>, log: boolean, width: number, night: boolean): uPlot.Options {
  const axis = { stroke: ink('ink-soft'), grid: { stroke: ink('line'), width: 1 }, ticks: { stroke: ink('line'), width: 1 }, font: '12px system-ui' };
  const lines = names.flatMap((name, i): uPlot.Series[] => {
    const look = lookOf(name, i, night);
    const few = series[name]!.length < 40;
    const edge: uPlot.Series = { label: name, class: 'band', stroke: 'transparent', width: 0, points: { show: false }, spanGaps: true };
    return [{ label: name, stroke: look.stroke, dash: look.dash, width: 1.7, spanGaps: true, points: { show: few, size: 5 }, value: (_, v) => (v === null ? '–' : show(v)) }, edge, edge];
  });
  const bands = names.map((_, i): uPlot.Band => ({ series: [3 * i + 3, 3 * i + 2], fill: `${lineColours[i % lineColours.length]!}${names.length > 4 ? '12' : '2a'}` }));
  return {
    width, height: 250, bands,
    scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
    axes: [axis, { ...axis, size: 62, values: (_, ticks) => ticks.map((t) => (t === null ? '' : show(t, 3))) }],
    series: [{ label: 'step' }, ...lines],
    cursor: { sync: { key: 'run' }, points: { size: 6 } },
    legend: { live: true },
  };
}

function Table({ series }: { series: Record<string, Bin[]> }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Values by step">
      {Object.entries(series).map(([name, bins]) => (
        <table key={name} class="plain wide">
          <caption>{name}</caption>
          <thead><tr><th scope="col">steps</th><th scope="col">min</th><th scope="col">max</th><th scope="col">last</th></tr></thead>
          <tbody>
            {bins.map(([first, last, min, max, value]) => (
              <tr key={first}><th scope="row">{first === last ? first : `${first}–${last}`}</th><td>{show(min)}</td><td>{show(max)}</td><td>{show(value)}</td></tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

const summary = (series: Record<string, Bin[]>): string =>
  Object.entries(series).map(([name, bins]) => `${name} ${show(bins[0]![4])} to ${show(bins.at(-1)![4])}`).join(', ');

export function Chart({ title, about, series, log }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [asTable, setTable] = useState(false);
  const names = Object.keys(series), night = dark.value;
  const data = useMemo(() => aligned(series, log), [series, log]);
  useLayoutEffect(() => {
    const room = box.current;
    if (!room) return undefined;
    const made = new uPlot(options(names, series, log, Math.max(240, room.clientWidth), night), data, room);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(240, room.clientWidth), height: 250 }));
    observer.observe(room);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names.join(), log, night, asTable]);
  useLayoutEffect(() => plot.current?.setData(data), [data]);
  return (
    <Panel title={title} about={about} tools={<button type="button" class="quiet" aria-pressed={asTable} onClick={() => setTable(!asTable)}>{asTable ? 'show as curves' : 'show as table'}</button>}>
      {asTable ? <Table series={series} /> : <div class="chart" ref={box} role="img" aria-label={`${title}: ${summary(series)}`} />}
    </Panel>
  );
}
