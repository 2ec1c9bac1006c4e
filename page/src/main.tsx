// The page: head, list of screens, the screen.
import './styles.css';
import { Component, render, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { OverviewsAhead } from './ahead';
import { count } from './format';
import { Help } from './help';
import { helpOpen, installKeys } from './keys';
import { spoken } from './live';
import { Choice, Message } from './parts';
import { followAddress, screen, screens, trace as traceId, type Screen } from './selection';
import { SelectionBar } from './selection_bar';
import { loadMeta, meta, metaError, Clamp, useTrace } from './session';
import { chooseTheme, theme } from './theme';
import type { Meta, Trace } from './types';
import { Attention } from './screens/attention';
import { Diagnosis } from './screens/diagnosis';
import { Flow } from './screens/flow';
import { Heads } from './screens/heads';
import { Inputs } from './screens/inputs';
import { ModelScreen } from './screens/model';
import { Tensors } from './screens/tensors';
import { Training } from './screens/training';
import { Translate } from './screens/translate';

const titles: Record<Screen, string> = {
  translate: 'Translate', heads: 'Heads', attention: 'Attention', inputs: 'Inputs', flow: 'Flow',
  training: 'Training', diagnosis: 'Diagnosis', model: 'Model', tensors: 'Tensors',
};

const needsTrace: Partial<Record<Screen, (props: { trace: Trace }) => ComponentChildren>> = {
  heads: Heads, attention: Attention, inputs: Inputs, flow: Flow, tensors: Tensors,
};
const selects: Screen[] = ['heads', 'attention'];

// A fault in one screen leaves the others in reach.
class Guard extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  override state = { failed: null as string | null };
  override componentDidCatch(e: unknown) {
    this.setState({ failed: e instanceof Error ? e.message : String(e) });
  }
  override render() {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return <Message text={`This screen failed: ${failed}. Another screen may still work; reload the page for a fresh start.`}
                    retry={() => this.setState({ failed: null })} />;
  }
}

function Head({ of }: { of: Meta | null }) {
  const model = of?.model;
  return (
    <header class="top">
      <p class="brand"><span aria-hidden="true" class="logo" />glassformer</p>
      {model && (
        <p class="model-name" title={model.path}>
          <b>{model.path.split('/').slice(-2).join('/')}</b>
          <span>{count(model.parameters)} parameters{model.step === null || model.step === undefined ? '' : `, step ${count(model.step)}`}</span>
        </p>
      )}
      {of?.report && <p class="badge">report</p>}
      {of?.run?.live && <p class="badge live">run goes on</p>}
      <div class="top-tools">
        {of && of.traces.length > 0 && (
          <label class="trace-choice">
            <span>trace</span>
            <select value={traceId.value} onChange={(e) => (traceId.value = e.currentTarget.value)}>
              {of.traces.map((id) => <option key={id} value={id} selected={id === traceId.value}>{id}</option>)}
            </select>
          </label>
        )}
        <Choice label="Theme" value={theme.value} options={[['system', 'Auto'], ['light', 'Light'], ['dark', 'Dark']]} onChange={chooseTheme} />
        <button type="button" class="help-button" aria-label="Help on keys" onClick={() => (helpOpen.value = true)}>?</button>
      </div>
    </header>
  );
}

function Screens() {
  return (
    <nav class="screens" aria-label="Screens">
      <ul>
        {screens.map((name, i) => (
          <li key={name}>
            <button type="button" aria-current={name === screen.value ? 'page' : undefined} onClick={() => (screen.value = name)}>
              <kbd>{i + 1}</kbd>{titles[name]}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Body({ of, trace }: { of: Meta; trace: ReturnType<typeof useTrace> }) {
  const name = screen.value;
  const Traced = needsTrace[name];
  if (Traced) {
    if (!of.model) return <Message kind="hint" text='No model is loaded. Start the program with "glassformer inspect --model FILE".' />;
    if (trace.error) return <Message text={trace.error.message} retry={trace.retry} />;
    if (of.traces.length === 0) return <Message kind="hint" text="Nothing is traced yet. Give a sentence on the first screen, Translate (key 1)." />;
    if (!trace.value) return <p class="waiting" role="status">Tracing…</p>;
    return (
      <>
        {selects.includes(name) && <SelectionBar trace={trace.value} />}
        <Traced trace={trace.value} />
      </>
    );
  }
  if (name === 'training') return <Training meta={of} />;
  if (name === 'diagnosis') return <Diagnosis meta={of} />;
  if (name === 'model') return <ModelScreen meta={of} trace={trace.value} />;
  return <Translate meta={of} trace={trace} />;
}

function Page() {
  const of = meta.value;
  const trace = useTrace();
  useLayoutEffect(() => installKeys(() => trace.value), [trace.value]);  // no key is lost between a drawing and its effects
  useEffect(() => {
    document.title = `${titles[screen.value]} · Glassformer`;
  }, [screen.value]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>To the screen</a>
      <Clamp trace={trace.value} />
      <OverviewsAhead trace={trace.value} />
      <Head of={of} />
      <Screens />
      <main id="main" tabIndex={-1} data-screen={screen.value}>
        <h1>{titles[screen.value]}</h1>
        {metaError.value ? <Message text={metaError.value} retry={() => void loadMeta()} />
          : of ? <Guard key={screen.value}><Body of={of} trace={trace} /></Guard>
          : <p class="waiting" role="status">Asking the program…</p>}
      </main>
      <div class="visually-hidden" aria-live="polite" id="live">{spoken.value}</div>
      <Help />
    </>
  );
}

function start(): void {
  followAddress();
  void loadMeta();
  render(<Page />, document.getElementById('page')!);
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();
