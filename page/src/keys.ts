// Keys that work everywhere: 1 to 9 screens, [ ] layer, Page Up and Page Down head, ? help.
import { signal } from '@preact/signals';
import { screen, screens } from './selection';
import { moveHead, moveLayer } from './selection_bar';
import type { Trace } from './types';

export const helpOpen = signal(false);

export const helpKeys: [keys: string, what: string][] = [
  ['1 – 9', 'the nine screens, in the order of the list'],
  ['[   ]', 'the layer before, the layer after'],
  ['Page Up   Page Down', 'the head before, the head after'],
  ['← ↑ → ↓', 'move the cell of the heat map in focus; with Shift, by ten; Home and End, first and last column'],
  ['Enter', 'choose: a head, a hypothesis, a tensor'],
  ['Tab', 'on to the next control; a grid of heads or a beam is one stop, arrows move inside'],
  ['?', 'this help'],
  ['Esc', 'close it'],
];

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

// `trace` gives the trace on screen, if there is one.
export function installKeys(trace: () => Trace | undefined): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
    const now = trace();
    const move = { '[': () => now && moveLayer(now, -1), ']': () => now && moveLayer(now, 1),
                   PageUp: () => now && moveHead(now, -1), PageDown: () => now && moveHead(now, 1),
                   '?': () => (helpOpen.value = true) }[event.key];
    const number = Number(event.key);
    if (move) move();
    else if (number >= 1 && number <= screens.length) screen.value = screens[number - 1]!;
    else return;
    event.preventDefault();
  };
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}
