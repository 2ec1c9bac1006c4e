// One head, four steps: project, scores, softmax, weighted sum; each number of the chosen cell worked out below.
import { useMemo } from 'preact/hooks';
import { useJson } from '../cache';
import { piece, show, exact } from '../format';
import { Heatmap } from '../heatmap';
import { useHead, useRow, type Head, type Row } from '../head_data';
import { Interventions } from '../interventions';
import { Message, Panel, Stats, Waiting } from '../parts';
import { RowTerms } from '../row_terms';
import * as selection from '../selection';
import { attentionOf, columnTokens, kindNames, rowTokens } from '../session';
import { Tokens } from '../tokens';
import type { AttentionInfo, Step, Steps, Trace } from '../types';
import { Worked } from '../worked';

interface Names {
  rows: string[];
  columns: string[];
}

interface StepProps {
  head: Head;
  steps: Steps | undefined;
  names: Names;
}

const formula = (step: Step | undefined) => step && <code class="formula">{step.formula}</code>;

const chooseCell = (query: number, key: number) => selection.go({ query, key });

function Projected({ head, steps, names }: StepProps) {
  const parts = [
    { id: 'query', letter: 'Q', tensor: head.query, rows: names.rows, row: selection.query.value, choose: (r: number) => selection.go({ query: r }) },
    { id: 'key', letter: 'K', tensor: head.key, rows: names.columns, row: selection.key.value, choose: (r: number) => selection.go({ key: r }) },
    { id: 'value', letter: 'V', tensor: head.value, rows: names.columns, row: selection.key.value, choose: (r: number) => selection.go({ key: r }) },
  ] as const;
  return (
    <Panel title={<><b class="step-number">1</b>Project</>} class="step project">
      {parts.map(({ id, letter, tensor, rows, row, choose }) => (
        <div key={id} class="projection">
          <h3>{letter} {formula(steps?.[id])}</h3>
          <Waiting of={tensor}>
            {(matrix) => <Heatmap name={`${letter} of the head`} matrix={matrix} palette="signed" rows={undefined} rowTitle={id === 'query' ? 'query' : 'key'}
                                  columnTitle="column" valueTitle={letter} note={(r) => rows[r] ?? ''} row={row} onChoose={choose} height={132} stretch bar={false} most={18} />}
          </Waiting>
          {steps && <Stats of={steps[id]} />}
        </div>
      ))}
    </Panel>
  );
}

interface MapProps extends StepProps {
  size: number;
  row: Row | undefined;  // the chosen query's, exact
}

const exactOf = (values: number[] | undefined) => values && { row: selection.query.value, values };

function Scores({ head, steps, names, size, row }: MapProps) {
  return (
    <Panel title={<><b class="step-number">2</b>Scores</>} class="step" about={formula(steps?.scores)}>
      <Waiting of={head.scores}>
        {(matrix) => <Heatmap name="Scores" matrix={matrix} palette="signed" rows={names.rows} columns={names.columns} rowTitle="query" columnTitle="key"
                              valueTitle="score" exact={exactOf(row?.scores)} row={selection.query.value} column={selection.key.value} onChoose={chooseCell} height={size} />}
      </Waiting>
      {steps && <Stats of={steps.scores} />}
    </Panel>
  );
}

function Weights({ head, steps, names, size, row }: MapProps) {
  return (
    <Panel title={<><b class="step-number">3</b>Softmax</>} class="step" about={formula(steps?.weights)}>
      <Waiting of={head.weights}>
        {(matrix) => <Heatmap name="Weights" matrix={matrix} palette="weights" rows={names.rows} columns={names.columns} rowTitle="query" columnTitle="key"
                              valueTitle="weight" ranked={!head.pooled} exact={exactOf(row?.weights)} row={selection.query.value} column={selection.key.value} onChoose={chooseCell} height={size} />}
      </Waiting>
      {head.pooled && <p class="about">The report holds this head pooled: a cell shows the largest of its neighbours.</p>}
      {steps && <Stats of={steps.weights} />}
    </Panel>
  );
}

function Context({ head, steps, names }: StepProps) {
  return (
    <Panel title={<><b class="step-number">4</b>Weighted sum</>} class="step" about={formula(steps?.context)}>
      <Waiting of={head.context}>
        {(matrix) => <Heatmap name="Context of the head" matrix={matrix} palette="signed" rowTitle="query" columnTitle="column" valueTitle="context"
                              note={(r) => names.rows[r] ?? ''} row={selection.query.value} onChoose={(query) => selection.go({ query })} height={300} stretch most={22} />}
      </Waiting>
      {steps && (
        <>
          <Stats of={steps.context} />
          <p class="check">Recomputed here and captured in the model differ by at most <b>{exact(steps.difference)}</b>.</p>
        </>
      )}
    </Panel>
  );
}

function OneHead({ trace, info }: { trace: Trace; info: AttentionInfo }) {
  const { stack, layer, head: index, query, key } = selection;
  const base = `traces/${trace.id}/attention/${stack.value}/${layer.value}/${index.value}`;
  const steps = useJson<Steps>(`${base}/steps`);
  const head = useHead(trace, info, stack.value, layer.value, index.value);
  const row = useRow(trace, info, head, layer.value, index.value, query.value);
  const exact = row.loading ? undefined : row.value;
  const names = useMemo(
    () => ({ rows: rowTokens(trace, info.kind).map((t) => piece(t.piece)), columns: columnTokens(trace, info.kind).map((t) => piece(t.piece)) }),
    [trace, info.kind],
  );
  const long = Math.max(info.rows, info.columns) > 40;
  const size = Math.max(240, Math.min(560, Math.max(info.rows, info.columns) * 30 + 80));
  return (
    <>
      <div class="sentences">
        <div class="sentence"><span class="label">queries</span>
          <Tokens label="Query tokens" tokens={rowTokens(trace, info.kind)} chosen={query.value} onChoose={(i) => selection.go({ query: i })} /></div>
        <div class="sentence"><span class="label">keys</span>
          <Tokens label="Key tokens" tokens={columnTokens(trace, info.kind)} chosen={key.value} onChoose={(i) => selection.go({ key: i })} /></div>
      </div>
      <p class="about">
        {kindNames[info.kind]}, layer {layer.value}, head {index.value}: softmax(Q·Kᵀ × {show(info.scale)}{info.causal ? ' + causal mask' : ''})·V
      </p>
      {steps.error && <Message text={steps.error.message} retry={steps.retry} />}
      <div class={long ? 'steps long' : 'steps'}>
        <Projected head={head} steps={steps.value} names={names} />
        <Scores head={head} steps={steps.value} names={names} size={size} row={exact} />
        <Weights head={head} steps={steps.value} names={names} size={size} row={exact} />
        <Context head={head} steps={steps.value} names={names} />
        <div class="detail">
          <Worked trace={trace} info={info} head={head} names={names} />
          <RowTerms trace={trace} info={info} head={head} names={names} />
        </div>
      </div>
      <Interventions trace={trace} info={info} names={names} />
    </>
  );
}

export function Attention({ trace }: { trace: Trace }) {
  const info = attentionOf(trace, selection.stack.value);
  if (!info) return <Message kind="hint" text="This model has no attention of that kind; choose another above." />;
  if (selection.layer.value >= info.layers || selection.head.value >= info.heads) return null;  // about to be brought inside
  return <OneHead key={`${trace.id}/${info.kind}`} trace={trace} info={info} />;
}
