// The selection that the screens share, to be seen and changed.
import { announce } from './live';
import { Choice, Stepper } from './parts';
import * as selection from './selection';
import { attentionOf } from './session';
import { kinds, type Kind, type Trace } from './types';

const names: Record<Kind, string> = { encoder: 'Encoder self', decoder: 'Decoder self', cross: 'Cross' };

export function moveLayer(trace: Trace, by: number): void {
  const info = attentionOf(trace, selection.stack.value);
  if (!info) return;
  selection.layer.value = Math.min(info.layers - 1, Math.max(0, selection.layer.value + by));
  announce(`layer ${selection.layer.value}`);
}

export function moveHead(trace: Trace, by: number): void {
  const info = attentionOf(trace, selection.stack.value);
  if (!info) return;
  selection.head.value = Math.min(info.heads - 1, Math.max(0, selection.head.value + by));
  announce(`head ${selection.head.value}`);
}

export function SelectionBar({ trace }: { trace: Trace }) {
  const info = attentionOf(trace, selection.stack.value);
  const present = kinds.filter((kind) => attentionOf(trace, kind)).map((kind) => [kind, names[kind]] as const);
  return (
    <div class="selection-bar" role="toolbar" aria-label="Selection">
      <Choice label="Attention" value={selection.stack.value} options={present} onChange={(kind) => selection.go({ stack: kind })} />
      {info && (
        <>
          <Stepper label="layer" keys="[ and ]" value={selection.layer.value} count={info.layers} onChange={(n) => (selection.layer.value = n)} />
          <Stepper label="head" keys="Page Up and Page Down" value={selection.head.value} count={info.heads} onChange={(n) => (selection.head.value = n)} />
        </>
      )}
    </div>
  );
}
