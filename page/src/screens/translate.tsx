// A sentence in, its translation out, and the search between them.
import { useState } from 'preact/hooks';
import { isReport } from '../answers';
import { ApiError, post } from '../api';
import { useJson, type Loaded } from '../cache';
import { BeamPanel } from '../beam_panel';
import { number, percent, piece, show } from '../format';
import { announce } from '../live';
import { Bar, Message, Numbers, Panel, Waiting } from '../parts';
import * as selection from '../selection';
import { addTrace } from '../session';
import { Tokens } from '../tokens';
import type { Beam, Meta, Trace } from '../types';

interface Question {
  source: string;
  target?: string;
  beam?: number;
  prefix?: number[];
}

function useTranslation(): { busy: boolean; error: string | null; translate: (question: Question) => Promise<void> } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const translate = async (question: Question) => {
    setBusy(true);
    setError(null);
    try {
      const { id } = await post<{ id: string }>('traces', question);
      addTrace(id);
      selection.hypothesis.value = 0;
      announce(`traced as ${id}`);
    } catch (e) {
      setError(e instanceof ApiError ? e.message : String(e));
    }
    setBusy(false);
  };
  return { busy, error, translate };
}

interface FormProps {
  initial: string;
  beam: number;
  busy: boolean;
  onSubmit: (question: Question) => void;
}

function SentenceForm({ initial, beam: initialBeam, busy, onSubmit }: FormProps) {
  const [source, setSource] = useState(initial);
  const [target, setTarget] = useState('');
  const [beam, setBeam] = useState(initialBeam);
  const submit = (event: Event) => {
    event.preventDefault();
    if (source.trim()) onSubmit({ source, beam, ...(target.trim() ? { target } : {}) });
  };
  return (
    <form class="sentence-form" onSubmit={submit}>
      <label class="grow">Source
        <textarea rows={2} value={source} lang="und" onInput={(e) => setSource(e.currentTarget.value)}
                  onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) submit(e); }} />
      </label>
      <label class="grow">Target
        <textarea rows={2} placeholder="optional: traced instead of the model's own translation" value={target} lang="und" onInput={(e) => setTarget(e.currentTarget.value)} />
      </label>
      <div class="form-end">
        <label>Beam <input type="number" min={1} max={64} value={beam} onInput={(e) => setBeam(Number(e.currentTarget.value) || 1)} /></label>
        <button class="primary" type="submit" disabled={busy || !source.trim()}>{busy ? 'Translating…' : 'Translate'}</button>
      </div>
    </form>
  );
}

function Sentences({ trace }: { trace: Trace }) {
  return (
    <Panel title="Tokens" about="Pieces as the model reads them; ▁ stands for a space. Choose one and go on to Attention (key 3).">
      <div class="sentences">
        <div class="sentence"><span class="label">source</span>
          <Tokens label="Source tokens" tokens={trace.source_tokens} chosen={selection.key.value} onChoose={(key) => selection.go({ key })} /></div>
        <div class="sentence"><span class="label">target</span>
          <Tokens label="Target tokens" tokens={trace.target_tokens} chosen={selection.query.value} onChoose={(query) => selection.go({ query })} /></div>
      </div>
      <p class="translation" lang="und">{trace.target}</p>
    </Panel>
  );
}

function Predictions({ trace }: { trace: Trace }) {
  const at = Math.min(selection.query.value, trace.predictions.length - 1);
  const of = trace.predictions[at];
  if (!of) return null;
  return (
    <Panel title="Next token" about={<>After <q>{piece(trace.target_tokens[at]?.piece ?? '')}</q> (row {at}) the model should say <q>{piece(of.piece)}</q></>}>
      <Numbers of={[['probability', percent(Math.exp(number(of.log_p)))], ['log p', show(of.log_p)], ['rank', String(of.rank)], ['loss of the sentence', show(trace.loss)]]} />
      <table class="plain wide">
        <thead><tr><th scope="col" class="text">most likely</th><th scope="col">p</th><td class="bar-cell" /></tr></thead>
        <tbody>
          {of.top.map((token) => (
            <tr key={token.id} class={token.id === of.id ? 'chosen' : ''}>
              <th scope="row">{piece(token.piece)}</th>
              <td>{percent(token.p)}</td>
              <td class="bar-cell"><Bar share={number(token.p)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Searched({ trace, onForce }: { trace: Trace; onForce: (prefix: number[]) => void }) {
  const beam = useJson<Beam>(`traces/${trace.id}/beam`);
  if (beam.error?.status === 404) {
    return <Panel title="Beam"><p class="about">{isReport() ? 'The report holds no search.' : 'This trace was given its target, so nothing was searched.'}</p></Panel>;
  }
  return <Waiting of={beam}>{(value) => <BeamPanel beam={value} onForce={onForce} />}</Waiting>;
}

export function Translate({ meta, trace }: { meta: Meta; trace: Loaded<Trace> }) {
  const { busy, error, translate } = useTranslation();
  const now = trace.value;
  if (!meta.model) return <Message kind="hint" text='No model is loaded. Start the program with "glassformer inspect --model FILE".' />;
  return (
    <>
      {!meta.report && <Panel title="Sentence"><SentenceForm key={now?.id ?? ''} initial={now?.source ?? ''} beam={4} busy={busy} onSubmit={(q) => void translate(q)} /></Panel>}
      {error && <Message text={error} />}
      {trace.error && <Message text={trace.error.message} retry={trace.retry} />}
      {meta.traces.length === 0 && <Message kind="hint" text="Write a sentence above and press Translate; every screen then shows the model at work on it." />}
      {now && (
        <div class={busy || trace.loading ? 'stack stale' : 'stack'}>
          <div class="translate-top">
            <Sentences trace={now} />
            <Predictions trace={now} />
          </div>
          <Searched key={now.id} trace={now} onForce={(prefix) => void translate({ source: now.source, prefix })} />
        </div>
      )}
    </>
  );
}
