// What the checks found, each finding with its evidence and the way to the place.
import { useState } from 'preact/hooks';
import { useJson } from '../cache';
import { count, plural, show } from '../format';
import { Choice, Message, Panel, Waiting } from '../parts';
import { go, type Place } from '../selection';
import type { Finding, Findings, Meta } from '../types';

// Where in the page a place of a finding is: a head, an attention, a tensor; null for lines of files and the like.
export function placeOf(text: string): Place | null {
  const attention = /(encoder|decoder)\.layers\.(\d+)\.(self_attn|cross_attn)/.exec(text);
  const head = /heads?[ .](\d+)/.exec(text);
  if (attention) {
    const stack = attention[3] === 'cross_attn' ? 'cross' as const : attention[1] as 'encoder' | 'decoder';
    return { screen: 'attention', stack, layer: Number(attention[2]), ...(head ? { head: Number(head[1]) } : {}) };
  }
  const series = /^(grad_norm|update_ratio|loss|nll|valid_nll|lr)\b/.test(text);
  if (series) return { screen: 'training' };
  const path = /^[a-z_]+(\.[a-z_0-9]+)*$/.exec(text);
  return path ? { screen: 'tensors', tensor: text } : null;
}

function Places({ of }: { of: string[] }) {
  return (
    <ul class="places" aria-label="Where">
      {of.map((text) => {
        const place = placeOf(text);
        return <li key={text}>{place ? <button type="button" class="link mono" onClick={() => go(place)}>{text}</button> : <span class="mono">{text}</span>}</li>;
      })}
    </ul>
  );
}

function Evidence({ of }: { of: Finding }) {
  if (of.evidence.length === 0) return null;
  return (
    <table class="plain wide">
      <thead><tr><th scope="col" class="text">evidence</th><th scope="col">measured</th><th scope="col" class="text">healthy</th></tr></thead>
      <tbody>
        {of.evidence.map((e) => (
          <tr key={e.name}>
            <th scope="row" class="text">{e.name}</th>
            <td><b>{show(e.measured)}</b></td>
            <td class="text">{e.healthy || '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Card({ of }: { of: Finding }) {
  return (
    <Panel class={`finding ${of.severity}`} title={<><span class="severity">{of.severity === 'fault' ? '▲ fault' : '● note'}</span> {of.check}</>}
           tools={<span class="badge">{of.certainty}</span>}>
      <p class="what">{of.what}</p>
      {of.step !== null && of.step !== undefined && <p class="about">at step {count(of.step)}</p>}
      {of.places.length > 0 && <Places of={of.places} />}
      <Evidence of={of} />
      <dl class="cause">
        <div><dt>Likely cause</dt><dd>{of.cause}</dd></div>
        <div><dt>Remedy</dt><dd>{of.remedy}</dd></div>
        {of.also.length > 0 && <div><dt>May explain too</dt><dd>{of.also.join(', ')}</dd></div>}
      </dl>
    </Panel>
  );
}

const sources = [['model', 'of the model'], ['run', 'of the run']] as const;

export function Diagnosis({ meta }: { meta: Meta }) {
  const [source, setSource] = useState<'model' | 'run'>(meta.model ? 'model' : 'run');
  const findings = useJson<Findings>(source === 'model' ? (meta.model ? 'findings' : null) : meta.run ? 'run/findings' : null);
  if (!meta.model && !meta.run) return <Message kind="hint" text='There is nothing to diagnose. Start the program with "--model FILE" or "--run FOLDER".' />;
  return (
    <div class="stack">
      {meta.model && meta.run && <div class="row"><span class="label">Diagnosis</span><Choice label="Diagnosis" value={source} options={sources} onChange={setSource} /></div>}
      <Waiting key={source} of={findings} what="Examining">
        {({ findings: all, healthy }) => (
          <div class="stack">
            {all.length === 0
              ? <Panel title="Healthy"><p>The checks ran and none of them found a fault.</p></Panel>
              : <p>{healthy ? 'No faults; ' : ''}{plural(all.length, 'finding')}, the gravest first.</p>}
            {[...all].sort((a, b) => Number(a.severity === 'note') - Number(b.severity === 'note')).map((f, i) => <Card key={i} of={f} />)}
          </div>
        )}
      </Waiting>
    </div>
  );
}
