// Every tap of the trace: what it is, its statistics, its values.
import { useMemo, useState } from 'preact/hooks';
import { plural, shape, show } from '../format';
import { range } from '../matrix_table';
import { Panel } from '../parts';
import * as selection from '../selection';
import { TensorView } from '../tensor_view';
import type { TensorInfo, Trace } from '../types';

const lineHeight = 28, roomHeight = 420;

// Every word of the search is in the path.
const matches = (tensor: TensorInfo, words: string[]): boolean => words.every((word) => tensor.path.toLowerCase().includes(word));

function List({ tensors, chosen, onChoose }: { tensors: TensorInfo[]; chosen: string; onChoose: (path: string) => void }) {
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / lineHeight) - 5), end = Math.min(tensors.length, first + Math.ceil(roomHeight / lineHeight) + 10);
  return (
    <div class="tensor-list" tabIndex={0} role="region" aria-label="Tensors" onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <table class="plain wide" aria-rowcount={tensors.length + 1}>
        <thead>
          <tr>
            <th scope="col" class="text">path</th><th scope="col">type</th><th scope="col">shape</th><th scope="col">min</th><th scope="col">max</th>
            <th scope="col">mean</th><th scope="col">deviation</th><th scope="col">non-finite</th>
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * lineHeight}px` }} />}
          {range(first, end).map((i) => {
            const t = tensors[i]!;
            return (
              <tr key={t.path} aria-rowindex={i + 2} class={t.path === chosen ? 'chosen' : ''}>
                <th scope="row"><button type="button" class="link mono" aria-pressed={t.path === chosen} onClick={() => onChoose(t.path)}>{t.path}</button></th>
                <td>{t.dtype}</td><td>{shape(t.shape)}</td><td>{show(t.min)}</td><td>{show(t.max)}</td><td>{show(t.mean)}</td><td>{show(t.deviation)}</td>
                <td class={t.non_finite > 0 ? 'warn' : ''}>{t.non_finite}</td>
              </tr>
            );
          })}
          {end < tensors.length && <tr aria-hidden="true" style={{ height: `${(tensors.length - end) * lineHeight}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

// A path that leads to a module, as a finding names it, shows all that is below.
function initialSearch(trace: Trace): string {
  const path = selection.tensor.peek();
  return path && !trace.tensors.some((t) => t.path === path) ? path : '';
}

export function Tensors({ trace }: { trace: Trace }) {
  const [search, setSearch] = useState(() => initialSearch(trace));
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = useMemo(() => trace.tensors.filter((t) => matches(t, words)), [trace, search]);
  const chosen = trace.tensors.find((t) => t.path === selection.tensor.value) ?? found[0];
  return (
    <div class="stack">
      <Panel title={plural(found.length, 'tensor')} tools={
        <label class="search">Search <input type="search" value={search} placeholder="cross_attn weights" onInput={(e) => setSearch(e.currentTarget.value)} /></label>}>
        {found.length === 0 ? <p class="about">No path has all of these words in it.</p>
          : <List tensors={found} chosen={chosen?.path ?? ''} onChoose={(path) => selection.go({ tensor: path })} />}
      </Panel>
      {chosen && <TensorView key={`${trace.id}/${chosen.path}`} trace={trace} tensor={chosen} />}
    </div>
  );
}
