// The run's curves, live while it goes on: every bin with its extremes.
import { useEffect, useState } from 'preact/hooks';
import { listen } from '../api';
import { forget, useJson } from '../cache';
import { Chart } from '../chart';
import { count, show } from '../format';
import { announce } from '../live';
import { Message, Numbers, Waiting } from '../parts';
import { runEnded } from '../session';
import type { Bin, Meta, SeriesAnswer } from '../types';

const question = 'run/series';  // whole, in 400 bins; a report holds it under this name

interface Group {
  title: string;
  about: string;
  log: boolean;
  holds: (name: string) => boolean;
}

const oneOf = (...names: string[]) => (name: string) => names.includes(name);

const groups: Group[] = [
  { title: 'Loss', about: 'loss is smoothed where the recipe smooths labels; nll is −log p of a token; valid_nll the same on held-out text', log: false, holds: oneOf('loss', 'nll', 'valid_nll') },
  { title: 'Quality', about: 'BLEU and chrF on held-out text', log: false, holds: oneOf('valid_bleu', 'valid_chrf') },
  { title: 'Learning rate', about: '', log: false, holds: oneOf('lr') },
  { title: 'Gradient norm', about: 'of the whole model, before clipping', log: true, holds: oneOf('grad_norm') },
  { title: 'Gradient norm by part', about: 'one line far below or above the others: gradients vanish or explode there', log: true, holds: (name) => name.startsWith('grad_norm.') },
  { title: 'Update-to-weight ratio by part', about: 'size of an update over the weights it changes; near 0.001 in a healthy run', log: true, holds: (name) => name.startsWith('update_ratio.') },
  { title: 'Speed', about: 'tokens per second', log: false, holds: oneOf('tokens_per_second') },
];

type Live = 'live' | 'ended' | 'lost' | 'still';

// Asks again when the run has written more, at most once a second.
function useLive(live: boolean): Live {
  const [state, set] = useState<Live>(live ? 'live' : 'still');
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!live) return undefined;
    let timer = 0;
    const refresh = () => {
      timer = 0;
      forget(question);
      redraw((n) => n + 1);
    };
    const stop = listen('run/events', {
      metrics: () => { set('live'); timer ||= window.setTimeout(refresh, 1000); },
      end: () => { stop(); refresh(); set('ended'); runEnded(); announce('the run has ended'); },
      error: () => set((now) => (now === 'ended' ? now : 'lost')),
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [live]);
  return state;
}

const states: Record<Live, string> = {
  live: 'live: the curves grow as the run does',
  ended: 'the run has ended',
  lost: 'the program does not answer; the curves stand as they were last seen',
  still: 'the run is not going on',
};

function named(answer: SeriesAnswer, holds: (name: string) => boolean): Record<string, Bin[]> {
  return Object.fromEntries(Object.entries(answer.series).filter(([name, bins]) => bins.length > 0 && holds(name)));
}

function Charts({ answer }: { answer: SeriesAnswer }) {
  const last = (name: string) => answer.series[name]?.at(-1)?.[4];
  const known = (name: string) => groups.some((g) => g.holds(name));
  const all: Group[] = [...groups, { title: 'Others', about: '', log: false, holds: (name) => !known(name) }];
  const facts: [string, string][] = [['step', count(answer.last_step)]];
  for (const name of ['loss', 'nll', 'valid_nll', 'valid_bleu', 'lr', 'tokens_per_second']) if (last(name) !== undefined) facts.push([`${name}, last`, show(last(name))]);
  return (
    <>
      <Numbers of={facts} />
      <div class="two charts">
        {all.map((group) => {
          const series = named(answer, group.holds);
          return Object.keys(series).length > 0 && <Chart key={group.title} title={group.title} about={group.about} series={series} log={group.log} />;
        })}
      </div>
    </>
  );
}

function Run({ run }: { run: NonNullable<Meta['run']> }) {
  const state = useLive(run.live);
  const answer = useJson<SeriesAnswer>(question);
  return (
    <div class="stack">
      <p class="about">Run <b>{run.name}</b>, {states[state]}.</p>
      <Waiting of={{ ...answer, loading: false }} what="Reading the run">{(value) => <Charts answer={value} />}</Waiting>
    </div>
  );
}

export function Training({ meta }: { meta: Meta }) {
  if (!meta.run) return <Message kind="hint" text='No run is open. Start the program with "--run FOLDER", the folder that glassformer train writes.' />;
  return <Run run={meta.run} />;
}
