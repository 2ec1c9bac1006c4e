// One head large, beside the grid: its map and what it looks at.
import { useMemo } from 'preact/hooks';
import { measuresQuestion, overviewQuestion } from './ahead';
import { useJson, useMatrix } from './cache';
import { show, piece } from './format';
import { Heatmap } from './heatmap';
import { Numbers, Panel, Waiting } from './parts';
import { measures, type HeadPlace, type Measure } from './screens/heads';
import * as selection from './selection';
import { attentionOf, columnTokens, kindNames, rowTokens } from './session';
import type { HeadMeasures, Trace } from './types';

export function HeadPreview({ trace, place }: { trace: Trace; place: HeadPlace }) {
  const info = attentionOf(trace, place.kind)!;
  const overview = useMatrix(overviewQuestion(trace, info));
  const answer = useJson<{ heads: HeadMeasures[] }>(measuresQuestion(trace, info));
  const rows = useMemo(() => rowTokens(trace, place.kind).map((t) => piece(t.piece)), [trace, place.kind]);
  const columns = useMemo(() => columnTokens(trace, place.kind).map((t) => piece(t.piece)), [trace, place.kind]);
  const plane = useMemo(() => overview.value?.plane(place.layer, place.head), [overview.value, place.layer, place.head]);
  const measure = answer.value?.heads.find((m) => m.layer === place.layer && m.head === place.head);
  const pooled = plane !== undefined && (plane.rows < info.rows || plane.columns < info.columns);
  return (
    <aside class="head-preview" aria-label="Preview">
      <Panel title={`Layer ${place.layer}, head ${place.head}`} about={kindNames[place.kind]}
             tools={<button type="button" class="primary" onClick={() => selection.go({ screen: 'attention', stack: place.kind, layer: place.layer, head: place.head })}>Open</button>}>
        <Waiting of={overview}>
          {() => (
            <Heatmap name={`${kindNames[place.kind]}, layer ${place.layer}, head ${place.head}`} matrix={plane!} palette="weights"
                     rows={pooled ? undefined : rows} columns={pooled ? undefined : columns} rowTitle={pooled ? 'rows' : 'query'}
                     columnTitle={pooled ? 'columns' : 'key'} ranked={!pooled} valueTitle={pooled ? 'largest weight' : 'weight'} height={440}
                     row={pooled ? undefined : selection.query.value} column={pooled ? undefined : selection.key.value}
                     onChoose={pooled ? undefined : (query, key) => selection.go({ query, key })} />
          )}
        </Waiting>
        {measure && (
          <Numbers of={(Object.keys(measures) as Measure[]).map((m) => [measures[m].name, <span title={measures[m].about}>{show(measure[m], 3)}</span>])} />
        )}
        {pooled && <p class="about">Pooled by the largest cell; open the head for every cell.</p>}
      </Panel>
    </aside>
  );
}
