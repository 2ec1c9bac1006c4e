// What if: the page shows what the program answers, before and after.
import assert from 'node:assert/strict';
import { address, agrees, numberOf, panel, settled, textOf } from './lab.mjs';

const at = address('attention', { stack: 'cross', layer: 0, head: 1, query: 1, key: 2 });

async function compare(page, answer, like) {
  const result = panel(page, 'What if').locator('.result');
  await textOf(result.locator('h3'), like);
  const [before, after] = await result.locator('.before-after dd').allInnerTexts();
  assert.equal(before, answer.text.before);
  assert.equal(after.replace(/ \(the same\)$/, ''), answer.text.after);
  agrees(await textOf(numberOf(result, 'loss before')), answer.loss.before, 'loss before');
  agrees(await textOf(numberOf(result, 'loss after')), answer.loss.after, 'loss after');
  assert.deepEqual(await result.locator('tbody th').allInnerTexts(), answer.tokens.map(({ piece }) => piece));
  return answer;
}

export default {
  'a head dropped': (lab) => lab.page({ at }, async (page) => {
    const answer = await lab.ask('traces/1/intervene', { change: 'drop_head', kind: 'cross', layer: 0, head: 1 });
    await settled(page);
    await page.getByRole('button', { name: 'Drop it' }).click();
    await compare(page, answer, /^head 1 of layer 0 dropped$/);
    assert.notEqual(answer.loss.before, answer.loss.after, 'a head of a trained model does something');
    assert.equal(answer.text.before, 'y z x');
  }),

  'positions shuffled': (lab) => lab.page({ at }, async (page) => {
    const answer = await lab.ask('traces/1/intervene', { change: 'shuffle_positions', side: 'source', seed: 5 });
    await settled(page);
    await page.getByLabel('seed').fill('5');
    await page.getByRole('button', { name: 'Shuffle' }).click();
    await compare(page, answer, /^source positions shuffled, seed 5$/);
  }),

  'a row moved to one key': (lab) => lab.page({ at }, async (page) => {
    const answer = await lab.ask('traces/1/intervene', { change: 'edit_row', kind: 'cross', layer: 0, head: 1, query: 1, weights: [0, 0, 1, 0] });
    await settled(page);
    await page.getByRole('button', { name: 'All on key 2' }).click();
    await compare(page, answer, /^row of query 1 edited$/);
  }),
};
