// What the model at hand is and which trace is looked at: answers that most screens begin with.
import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, getJson } from './api';
import { useJson, type Loaded } from './cache';
import * as selection from './selection';
import type { AttentionInfo, Kind, Meta, Token, Trace } from './types';

export const meta = signal<Meta | null>(null);
export const metaError = signal<string | null>(null);

export async function loadMeta(): Promise<void> {
  metaError.value = null;
  try {
    meta.value = await getJson<Meta>('meta');
  } catch (e) {
    metaError.value = e instanceof ApiError ? e.message : String(e);
  }
}

export const isTrace = (id: string): boolean => meta.value?.traces.includes(id) ?? false;

// A trace that is gone, as after a restart of the program, gives way to the newest.
effect(() => {
  const known = meta.value?.traces;
  if (known && known.length > 0 && !known.includes(selection.trace.value)) selection.trace.value = known[known.length - 1]!;
});

export function addTrace(id: string): void {
  const now = meta.value;
  if (now && !now.traces.includes(id)) meta.value = { ...now, traces: [...now.traces, id] };
  selection.trace.value = id;
}

export function runEnded(): void {
  const now = meta.value;
  if (now?.run) meta.value = { ...now, run: { ...now.run, live: false } };
}

export const useTrace = (): Loaded<Trace> => {
  const id = selection.trace.value;
  return useJson<Trace>(id && isTrace(id) ? `traces/${id}` : null);
};

export const attentionOf = (trace: Trace, kind: Kind): AttentionInfo | undefined => trace.attentions.find((a) => a.kind === kind);

export const rowTokens = (trace: Trace, kind: Kind): Token[] => (kind === 'encoder' ? trace.source_tokens : trace.target_tokens);
export const columnTokens = (trace: Trace, kind: Kind): Token[] => (kind === 'decoder' ? trace.target_tokens : trace.source_tokens);

export const kindNames: Record<Kind, string> = {
  encoder: 'Encoder self-attention',
  decoder: 'Decoder self-attention',
  cross: 'Cross-attention',
};

// Path of an attention's taps in a model of the library.
export const modulePath = (kind: Kind, layer: number): string =>
  kind === 'cross' ? `decoder.layers.${layer}.cross_attn` : `${kind}.layers.${layer}.self_attn`;

// Brings the selection inside what the trace has. A component of its own, so that a move of the selection redraws
// no more than reads it.
export function Clamp({ trace }: { trace: Trace | undefined }): null {
  const { stack, layer, head, query, key } = selection;
  const kind = stack.value;
  useEffect(() => {
    if (!trace) return;
    const info = attentionOf(trace, kind);
    if (!info) {
      if (trace.attentions[0]) stack.value = trace.attentions[0].kind;
      return;
    }
    const clamp = (s: typeof layer, n: number) => {
      if (s.value >= n) s.value = Math.max(0, n - 1);
    };
    clamp(layer, info.layers);
    clamp(head, info.heads);
    clamp(query, info.rows);
    clamp(key, info.columns);
  }, [trace, kind, layer.value, head.value, query.value, key.value]);
  return null;
}
