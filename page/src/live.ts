// The live region: what a screen reader is told when the selection moves.
import { signal } from '@preact/signals';

export const spoken = signal('');

export const announce = (text: string): void => {
  spoken.value = text;
};
