// What if: change one head or the positions, decode again, compare.
import { useState } from 'preact/hooks';
import { ApiError, post } from './api';
import { isReport } from './answers';
import { useHead, useRow } from './head_data';
import { announce } from './live';
import { InterventionResult } from './intervention_result';
import { Message, Panel } from './parts';
import { RowEditor } from './row_editor';
import * as selection from './selection';
import { useSettled } from './use_settled';
import type { AttentionInfo, Intervention, Trace } from './types';

interface Props {
  trace: Trace;
  info: AttentionInfo;
  names: { rows: string[]; columns: string[] };
}

export type Change =
  | { change: 'drop_head'; kind: string; layer: number; head: number }
  | { change: 'edit_row'; kind: string; layer: number; head: number; query: number; weights: number[] }
  | { change: 'shuffle_positions'; side: 'source' | 'target'; seed: number };

type State = { busy: true; what: string } | { error: string } | { result: Intervention; what: string } | null;

function useIntervention(trace: Trace): [state: State, run: (what: string, change: Change) => Promise<void>] {
  const [state, set] = useState<State>(null);
  const run = async (what: string, change: Change) => {
    set({ busy: true, what });
    try {
      const result = await post<Intervention>(`traces/${trace.id}/intervene`, change);
      set({ result, what });
      announce(`${what}: loss ${result.loss.before} before, ${result.loss.after} after`);
    } catch (e) {
      set({ error: e instanceof ApiError ? e.message : String(e) });
    }
  };
  return [state, run];
}

function Row({ trace, info, names, run }: Props & { run: (what: string, change: Change) => Promise<void> }) {
  const now = { query: selection.query.value, layer: selection.layer.value, head: selection.head.value };
  const { query, layer, head } = useSettled(now, `${now.layer}/${now.head}/${now.query}`);
  const data = useHead(trace, info, info.kind, layer, head);
  const row = useRow(trace, info, data, layer, head, query);
  if (!row.value) return null;
  const send = (weights: number[]) =>
    run(`row of query ${query} edited`, { change: 'edit_row', kind: info.kind, layer, head, query, weights });
  return (
    <fieldset class="edit-row">
      <legend>Edit the row of query {query} <q>{names.rows[query]}</q></legend>
      <RowEditor key={`${layer}/${head}/${query}/${row.loading}`} weights={row.value.weights} names={names.columns} chosen={selection.key.value} onApply={send} />
    </fieldset>
  );
}

export function Interventions({ trace, info, names }: Props) {
  const { layer, head } = selection;
  const [state, run] = useIntervention(trace);
  const [side, setSide] = useState<'source' | 'target'>('source');
  const [seed, setSeed] = useState(1);
  const busy = state !== null && 'busy' in state;
  if (isReport()) return null;
  return (
    <Panel title="What if" about="Change the model's working for this sentence, decode it again greedily, a token at a time, and compare." class="what-if">
      <div class="what-if-forms">
        <fieldset disabled={busy}>
          <legend>Drop this head</legend>
          <p class="about">The context of layer {layer.value}, head {head.value} becomes zero.</p>
          <button type="button" onClick={() => void run(`head ${head.value} of layer ${layer.value} dropped`, { change: 'drop_head', kind: info.kind, layer: layer.value, head: head.value })}>Drop it</button>
        </fieldset>
        <fieldset disabled={busy}>
          <legend>Shuffle positions</legend>
          <label>side <select value={side} onChange={(e) => setSide(e.currentTarget.value as 'source' | 'target')}><option value="source">source</option><option value="target">target</option></select></label>
          <label>seed <input type="number" min={0} value={seed} onInput={(e) => setSeed(Number(e.currentTarget.value))} /></label>
          <button type="button" onClick={() => void run(`${side} positions shuffled, seed ${seed}`, { change: 'shuffle_positions', side, seed })}>Shuffle</button>
        </fieldset>
        <Row trace={trace} info={info} names={names} run={run} />
      </div>
      {busy && <p class="waiting" role="status">{state.what}: decoding again…</p>}
      {state && 'error' in state && <Message text={state.error} />}
      {state && 'result' in state && <InterventionResult what={state.what} of={state.result} />}
    </Panel>
  );
}
