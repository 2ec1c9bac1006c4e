// Sliders for the weights of one row; a long row shows its heaviest keys.
import { useState } from 'preact/hooks';
import { percent } from './format';
import { range } from './matrix_table';

interface Props {
  weights: number[];  // NaN where masked
  names: string[];
  chosen: number;
  onApply: (weights: number[]) => void;
}

const mostSliders = 24;

function slidersOf(weights: number[], chosen: number): number[] {
  const allowed = range(0, weights.length).filter((k) => !Number.isNaN(weights[k]!));
  if (allowed.length <= mostSliders) return allowed;
  const heavy = new Set(allowed.sort((a, b) => weights[b]! - weights[a]!).slice(0, mostSliders - 1)).add(chosen);
  return [...heavy].filter((k) => !Number.isNaN(weights[k]!)).sort((a, b) => a - b);
}

const oneHot = (length: number, key: number): number[] => range(0, length).map((k) => (k === key ? 1 : 0));

export function RowEditor({ weights, names, chosen, onApply }: Props) {
  const [edited, edit] = useState(() => weights.map((w) => w || 0));
  const total = edited.reduce((a, b) => a + b, 0);
  const set = (key: number, value: number) => edit(edited.map((w, k) => (k === key ? value : w)));
  const masked = Number.isNaN(weights[chosen]!);
  return (
    <>
      <div class="sliders">
        {slidersOf(weights, chosen).map((k) => (
          <label key={k} class={k === chosen ? 'chosen' : ''}>
            <span>{names[k]}</span>
            <input type="range" min={0} max={1} step={0.01} value={edited[k]} onInput={(e) => set(k, Number(e.currentTarget.value))} />
            <output>{percent(total > 0 ? edited[k]! / total : 0)}</output>
          </label>
        ))}
      </div>
      <div class="row">
        <button type="button" disabled={masked} onClick={() => { edit(oneHot(weights.length, chosen)); onApply(oneHot(weights.length, chosen)); }}>
          All on key {chosen} <q>{names[chosen]}</q>
        </button>
        <button type="button" disabled={total <= 0} onClick={() => onApply(edited)}>Decode with these</button>
        <button type="button" class="quiet" onClick={() => edit(weights.map((w) => w || 0))}>as it was</button>
      </div>
    </>
  );
}
