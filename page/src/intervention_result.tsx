// Before and after an intervention.
import { number, percent, piece, show } from './format';
import { Bar, Numbers } from './parts';
import type { Intervention } from './types';

export function InterventionResult({ what, of }: { what: string; of: Intervention }) {
  const same = of.text.before === of.text.after;
  return (
    <div class="result">
      <h3>{what}</h3>
      <dl class="before-after">
        <div><dt>before</dt><dd lang="und">{of.text.before}</dd></div>
        <div><dt>after</dt><dd lang="und" class={same ? '' : 'changed'}>{of.text.after}{same && <em> (the same)</em>}</dd></div>
      </dl>
      <Numbers of={[['loss before', show(of.loss.before)], ['loss after', show(of.loss.after)], ['KL of the next token', `${show(of.divergence)} nats`]]} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Probability of each target token">
        <table class="plain">
          <thead><tr><th scope="col">token</th><th scope="col">before</th><td class="bar-cell" /><th scope="col">after</th><td class="bar-cell" /></tr></thead>
          <tbody>
            {of.tokens.map((token, i) => (
              <tr key={i}>
                <th scope="row">{piece(token.piece)}</th>
                <td>{percent(token.before)}</td>
                <td class="bar-cell"><Bar share={number(token.before)} /></td>
                <td>{percent(token.after)}</td>
                <td class="bar-cell"><Bar share={number(token.after)} tone="second" /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
