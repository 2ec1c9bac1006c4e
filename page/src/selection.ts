// The one selection that all screens share, kept in the address: #attention?trace=1&stack=cross&layer=0&head=3&…
import { batch, computed, effect, signal } from '@preact/signals';
import { kinds, type Kind } from './types';

export const screens = ['translate', 'heads', 'attention', 'inputs', 'flow', 'training', 'diagnosis', 'model', 'tensors'] as const;
export type Screen = (typeof screens)[number];

export const screen = signal<Screen>('translate');
export const trace = signal('');
export const stack = signal<Kind>('cross');
export const layer = signal(0);
export const head = signal(0);
export const query = signal(0);
export const key = signal(0);
export const hypothesis = signal(0);
export const tensor = signal('');  // path on the tensors screen

const numbers = { layer, head, query, key, hypothesis };

const hash = computed(() => {
  const names = new URLSearchParams({ trace: trace.value, stack: stack.value });
  for (const [name, value] of Object.entries(numbers)) names.set(name, String(value.value));
  if (tensor.value) names.set('tensor', tensor.value);
  return `#${screen.value}?${names}`;
});

function read(): void {
  const [name = '', question = ''] = location.hash.slice(1).split('?');
  const names = new URLSearchParams(question);
  batch(() => {
    if ((screens as readonly string[]).includes(name)) screen.value = name as Screen;
    trace.value = names.get('trace') ?? trace.value;
    const kind = names.get('stack') as Kind;
    if (kinds.includes(kind)) stack.value = kind;
    for (const [of, value] of Object.entries(numbers)) {
      const number = Number(names.get(of) ?? NaN);
      if (Number.isInteger(number) && number >= 0) value.value = number;
    }
    tensor.value = names.get('tensor') ?? '';
  });
}

let later = 0;

// Another screen is a step back in the browser; another cell is not, and waits until the moving ends, since a
// browser is slow to write an address.
function write(): void {
  const next = hash.value;
  window.clearTimeout(later);
  later = window.setTimeout(() => writeNow(next), next.split('?')[0] === location.hash.split('?')[0] ? 150 : 0);
}

function writeNow(next: string): void {
  if (next === location.hash) return;
  const same = location.hash.slice(1).split('?')[0] === screen.peek();
  if (same || !location.hash) history.replaceState(null, '', next);
  else history.pushState(null, '', next);
}

export function followAddress(): void {
  read();
  window.addEventListener('popstate', read);
  window.addEventListener('hashchange', read);
  effect(write);
}

export interface Place {
  screen?: Screen;
  stack?: Kind;
  layer?: number;
  head?: number;
  query?: number;
  key?: number;
  tensor?: string;
}

export function go(place: Place): void {
  batch(() => {
    if (place.stack !== undefined) stack.value = place.stack;
    if (place.layer !== undefined) layer.value = place.layer;
    if (place.head !== undefined) head.value = place.head;
    if (place.query !== undefined) query.value = place.query;
    if (place.key !== undefined) key.value = place.key;
    if (place.tensor !== undefined) tensor.value = place.tensor;
    if (place.screen !== undefined) screen.value = place.screen;
  });
}
