// The search: its tree, the numbers of one node, the best hypotheses.
import { useMemo, useState } from 'preact/hooks';
import { isReport } from './answers';
import { prefixOf, textOf } from './beam_layout';
import { BeamTree } from './beam_tree';
import { piece, show } from './format';
import { Numbers, Panel } from './parts';
import * as selection from './selection';
import type { Beam, BeamNode, Hypothesis } from './types';

const states: Record<BeamNode['state'], string> = { live: 'kept', finished: 'finished', pruned: 'given up' };

function NodeNumbers({ beam, node }: { beam: Beam; node: BeamNode }) {
  return (
    <div class="node-numbers">
      <h3><q>{piece(node.piece)}</q>, step {node.step}, {states[node.state]}</h3>
      <p class="about" lang="und">{textOf(beam, node.id)}</p>
      <Numbers of={[['log p of the token', show(node.log_p)], ['total', show(node.total)], ['length divisor', show(node.divisor)], ['score = total ÷ divisor', show(node.score)]]} />
    </div>
  );
}

function Best({ best, chosen, onChoose }: { best: Hypothesis[]; chosen: number; onChoose: (i: number) => void }) {
  return (
    <table class="plain wide">
      <thead>
        <tr><th scope="col">#</th><th scope="col" class="text">hypothesis</th><th scope="col">log p</th><th scope="col">divisor</th><th scope="col">score</th><th scope="col">ended</th></tr>
      </thead>
      <tbody>
        {best.map((h, i) => (
          <tr key={i} class={i === chosen ? 'chosen' : ''}>
            <td>{i + 1}</td>
            <th scope="row" class="text"><button type="button" class="link" aria-pressed={i === chosen} lang="und" onClick={() => onChoose(i)}>{h.text || '(empty)'}</button></th>
            <td>{show(h.log_probability)}</td>
            <td>{show(h.divisor)}</td>
            <td>{show(h.score)}</td>
            <td>{h.complete ? 'yes' : 'cut'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Key = () => (
  <p class="beam-key" aria-hidden="true">
    <span><i class="live" />kept</span><span><i class="finished" />finished</span><span><i class="pruned" />given up</span><span><i class="best" />chosen hypothesis</span>
  </p>
);

export function BeamPanel({ beam, onForce }: { beam: Beam; onForce: (prefix: number[]) => void }) {
  const [pruned, setPruned] = useState(true);
  const [focused, setFocused] = useState<number | null>(null);
  const chosen = Math.min(selection.hypothesis.value, beam.best.length - 1);
  const best = useMemo(() => new Set(beam.best[chosen]?.nodes ?? []), [beam, chosen]);
  const last = beam.best[chosen]?.nodes.at(-1);
  const node = beam.nodes.find((n) => n.id === (focused ?? last));
  const about = isReport() ? 'The search, a column a step.' : 'The search, a column a step. Click a node, or press Enter on it, to force its prefix and search on from there.';
  return (
    <div class="stack">
      <Panel title={`Beam of ${beam.beam}`} about={`${about} Score: total log p divided by a length term (${beam.length_norm}, alpha ${show(beam.alpha)}).`}
             tools={<label class="check-box"><input type="checkbox" checked={pruned} onChange={(e) => setPruned(e.currentTarget.checked)} /> what was given up</label>}>
        <BeamTree beam={beam} pruned={pruned} best={best} focused={focused ?? last ?? null} onFocus={setFocused}
                  onForce={(id) => { if (!isReport()) onForce(prefixOf(beam, id)); }} />
        <Key />
        {node && <NodeNumbers beam={beam} node={node} />}
      </Panel>
      <Panel title="Best hypotheses"><Best best={beam.best} chosen={chosen} onChoose={(i) => (selection.hypothesis.value = i)} /></Panel>
    </div>
  );
}
