// Curves of a run, with one cursor over all charts: by pointer or by the arrow keys.
import { effect, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { axesOf, curveOf, paintChart, type Curve } from './chart_paint';
import { show } from './format';
import { announce } from './live';
import { Panel } from './parts';
import { dark } from './theme';
import { useWidth } from './use_width';
import type { Bin } from './types';

const height = 230;

const cursor = signal<number | null>(null);  // the step all charts read

const nearest = (bins: Bin[], step: number): Bin =>
  bins.reduce((best, bin) => (Math.abs(bin[1] - step) < Math.abs(best[1] - step) ? bin : best));

const valueAt = (curve: Curve, step: number | null): string => show(step === null ? curve.bins.at(-1)![4] : nearest(curve.bins, step)[4]);

function Legend({ curves, hidden, onToggle }: { curves: Curve[]; hidden: Set<string>; onToggle: (name: string) => void }) {
  return (
    <ul class="legend">
      {curves.map((curve) => (
        <li key={curve.name}>
          <button type="button" class="link" aria-pressed={!hidden.has(curve.name)} onClick={() => onToggle(curve.name)}>
            <i style={{ borderColor: curve.stroke, borderTopStyle: curve.dash.length ? 'dashed' : 'solid' }} />
            {curve.label} <b data-curve={curve.name}>{valueAt(curve, cursor.peek())}</b>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Plot({ title, curves, log }: { title: string; curves: Curve[]; log: boolean }) {
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null), mark = useRef<HTMLDivElement>(null);
  const axes = useMemo(() => axesOf(curves, log, Math.max(200, width), height), [curves, log, width]);
  const steps = useMemo(() => [...new Set(curves.flatMap((c) => c.bins.map((b) => b[1])))].sort((a, b) => a - b), [curves]);
  useLayoutEffect(() => {
    if (width) paintChart(canvas.current!, curves, axes, Math.max(200, width), height);
  }, [curves, axes]);
  // Without a redraw of the tree: the line and the numbers follow the pointer.
  useEffect(() => effect(() => {
    const step = cursor.value;
    if (!mark.current) return;  // a chart that leaves the page loses the focus last
    mark.current.hidden = step === null;
    if (step !== null) mark.current.style.transform = `translateX(${axes.x.at(step)}px)`;
    for (const curve of curves) {
      const text = box.current!.closest('.panel')?.querySelector(`[data-curve="${curve.name}"]`);
      if (text) text.textContent = valueAt(curve, step);
    }
  }), [curves, axes]);
  const onPointerMove = (event: PointerEvent) => {
    const at = axes.x.value(event.clientX - canvas.current!.getBoundingClientRect().left);
    cursor.value = steps.reduce((best, step) => (Math.abs(step - at) < Math.abs(best - at) ? step : best), steps[0]!);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const now = cursor.value === null ? steps.length : steps.findIndex((s) => s >= cursor.value!);
    cursor.value = steps[Math.min(steps.length - 1, Math.max(0, now + by))]!;
    announce(`step ${cursor.value}: ${curves.map((c) => `${c.label} ${valueAt(c, cursor.value)}`).join(', ')}`);
  };
  const summary = curves.map((c) => `${c.label} ${show(c.bins[0]![4])} to ${show(c.bins.at(-1)![4])}`).join(', ');
  return (
    <div class="chart" ref={box}>
      <div class="chart-field" role="application" aria-roledescription="chart" tabIndex={0} aria-label={`${title}: ${summary}. Arrow keys read the steps.`}
           onPointerMove={onPointerMove} onPointerLeave={() => (cursor.value = null)} onBlur={() => (cursor.value = null)} onKeyDown={onKeyDown}>
        <canvas ref={canvas} />
        <div class="chart-cursor" ref={mark} hidden />
      </div>
    </div>
  );
}

function Table({ curves }: { curves: Curve[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Values by step">
      {curves.map(({ name, bins }) => (
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

function CursorStep() {
  return <span class="about cursor-step">{cursor.value === null ? 'last values' : `step ${cursor.value.toLocaleString('en-US')}`}</span>;
}

export function Chart({ title, about, series, log }: { title: string; about: string; series: Record<string, Bin[]>; log: boolean }) {
  const [asTable, setTable] = useState(false);
  const [hidden, hide] = useState(new Set<string>());
  const night = dark.value;
  const all = useMemo(() => Object.entries(series).map(([name, bins], i) => curveOf(name, bins, i, night)), [series, night]);
  const curves = useMemo(() => all.filter((c) => !hidden.has(c.name)), [all, hidden]);
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    hide(next);
  };
  return (
    <Panel title={title} about={about} tools={<><CursorStep /><button type="button" class="quiet" aria-pressed={asTable} onClick={() => setTable(!asTable)}>{asTable ? 'show as curves' : 'show as table'}</button></>}>
      {asTable ? <Table curves={all} /> : <><Plot title={title} curves={curves} log={log} /><Legend curves={all} hidden={hidden} onToggle={toggle} /></>}
    </Panel>
  );
}
