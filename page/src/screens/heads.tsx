// Every head of every layer at a glance, three attentions; one previewed large, a click locks it.
import { useState } from 'preact/hooks';
import { measuresQuestion, overviewQuestion } from '../ahead';
import { HeadGrid } from '../head_grid';
import { HeadPreview } from '../head_preview';
import { Choice, Waiting, Panel } from '../parts';
import { useJson, useMatrix } from '../cache';
import * as selection from '../selection';
import { kindNames } from '../session';
import type { AttentionInfo, HeadMeasures, Kind, Trace } from '../types';

export type Measure = 'entropy' | 'diagonality' | 'first' | 'largest';

export const measures: Record<Measure, { name: string; about: string }> = {
  entropy: { name: 'entropy', about: 'mean entropy of a row over ln(keys allowed): 0 is one key, 1 is all alike' },
  diagonality: { name: 'diagonality', about: 'share of the weight within one token of the diagonal' },
  first: { name: 'first key', about: 'share of the weight on the first key' },
  largest: { name: 'largest weight', about: 'mean over rows of the largest weight' },
};

export interface HeadPlace {
  kind: Kind;
  layer: number;
  head: number;
}

const orders = [['place', 'by place'], ['entropy', 'entropy'], ['diagonality', 'diagonality'], ['first', 'first key'], ['largest', 'largest weight']] as const;
type Order = (typeof orders)[number][0];

interface KindProps {
  trace: Trace;
  info: AttentionInfo;
  order: Order;
  preview: HeadPlace;
  onPreview: (place: HeadPlace) => void;
}

function KindPanel({ trace, info, order, preview, onPreview }: KindProps) {
  const overview = useMatrix(overviewQuestion(trace, info));
  const answer = useJson<{ heads: HeadMeasures[] }>(measuresQuestion(trace, info));
  return (
    <Panel title={kindNames[info.kind]} about={`${info.layers} × ${info.heads} heads, ${info.rows} queries × ${info.columns} keys`} class="kind-panel">
      <Waiting of={overview}>
        {(matrix) => (
          <HeadGrid info={info} overview={matrix} measures={answer.value?.heads} order={order === 'place' ? null : order}
                    preview={preview} onPreview={onPreview}
                    onLock={(place) => selection.go({ screen: 'attention', stack: place.kind, layer: place.layer, head: place.head })} />
        )}
      </Waiting>
      {answer.error && <p class="warn">{answer.error.message}</p>}
    </Panel>
  );
}

export function Heads({ trace }: { trace: Trace }) {
  const [order, setOrder] = useState<Order>('place');
  const [preview, setPreview] = useState<HeadPlace | null>(null);
  const shown = preview ?? { kind: selection.stack.value, layer: selection.layer.value, head: selection.head.value };
  return (
    <div class="heads">
      <div class="heads-main">
        <div class="row">
          <span class="label">Sort heads</span>
          <Choice label="Sort heads" value={order} options={orders} onChange={setOrder} />
          {order !== 'place' && <span class="about">{measures[order].about}</span>}
        </div>
        <div class="kind-panels">
          {trace.attentions.map((info) => (
            <KindPanel key={`${trace.id}/${info.kind}`} trace={trace} info={info} order={order} preview={shown} onPreview={setPreview} />
          ))}
        </div>
      </div>
      <HeadPreview key={`${trace.id}/${shown.kind}`} trace={trace} place={shown} />
    </div>
  );
}
