// Small pieces every screen is made of.
import type { ComponentChildren } from 'preact';
import type { Loaded } from './cache';
import { show, shape } from './format';
import type { Statistics } from './types';

interface PanelProps {
  title: ComponentChildren;
  about?: ComponentChildren;
  tools?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Panel({ title, about, tools, children, class: extra = '' }: PanelProps) {
  return (
    <section class={`panel ${extra}`}>
      <header class="panel-head">
        <h2>{title}</h2>
        {tools && <div class="panel-tools">{tools}</div>}
        {about && <p class="about">{about}</p>}
      </header>
      {children}
    </section>
  );
}

export function Message({ text, kind = 'error', retry }: { text: string; kind?: 'error' | 'hint'; retry?: () => void }) {
  return (
    <div class={`message ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      <p>{text}</p>
      {retry && <button type="button" onClick={retry}>Ask again</button>}
    </div>
  );
}

// Shows an answer once it is there, what went wrong otherwise; while the next one is on its way, the one before, dimmed.
export function Waiting<T>({ of, children, what = 'Computing' }: { of: Loaded<T>; what?: string; children: (value: T) => ComponentChildren }) {
  if (of.error) return <Message text={of.error.message} retry={of.retry} />;
  if (of.value === undefined) return <p class="waiting" role="status">{what}…</p>;
  return <div class={of.loading ? 'stale' : 'fresh'} aria-busy={of.loading}>{children(of.value)}</div>;
}

export function Numbers({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="numbers">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Stats({ of }: { of: Statistics }) {
  return <Numbers of={[['shape', shape(of.shape)], ['min', show(of.min)], ['max', show(of.max)], ['mean', show(of.mean)], ['deviation', show(of.deviation)], ['non-finite', <span class={of.non_finite > 0 ? 'warn' : ''}>{of.non_finite}</span>]]} />;
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

// One of a few, as a row of buttons.
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {options.map(([id, text]) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => onChange(id)}>{text}</button>
      ))}
    </div>
  );
}

interface StepperProps {
  label: string;
  value: number;
  count: number;
  keys: string;
  onChange: (value: number) => void;
}

export function Stepper({ label, value, count, keys, onChange }: StepperProps) {
  const options = Array.from({ length: count }, (_, i) => i);
  return (
    <div class="stepper" title={keys}>
      <button type="button" aria-label={`${label} before`} disabled={value <= 0} onClick={() => onChange(value - 1)}>‹</button>
      <label>
        <span>{label}</span>
        <select value={value} onChange={(e) => onChange(Number(e.currentTarget.value))}>
          {options.map((i) => <option key={i} value={i} selected={i === value}>{i}</option>)}
        </select>
      </label>
      <button type="button" aria-label={`${label} after`} disabled={value >= count - 1} onClick={() => onChange(value + 1)}>›</button>
    </div>
  );
}

// A share as a bar; width by CSSOM, since the page's policy forbids style attributes.
export function Bar({ share, tone = 'accent' }: { share: number; tone?: string }) {
  const width = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) * 100 : 0;
  return (
    <span class={`bar ${tone}`} aria-hidden="true">
      <i style={{ width: `${width}%` }} />
    </span>
  );
}
