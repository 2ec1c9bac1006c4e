// Numbers on the page are those of `glassformer explain --json` and `glassformer inspect --list --json`.
import assert from 'node:assert/strict';
import { address, agrees, kinds, numberOf, panel, settled, source, textOf } from './lab.mjs';

const place = { layer: 1, head: 1, query: 2, key: 1 };

const explain = async (lab, kind) => {
  const { steps } = await lab.program.json('explain', source, '--model', lab.model, '--attention', kind, '--layer', place.layer, '--head', place.head);
  return Object.fromEntries(steps.map((step) => [step.name, step.values]));
};

const masked = (kind, query, key) => kind === 'decoder' && key > query;

// The rows of a table as texts, its names left out.
const cells = (table) => table.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent.trim())));

async function asTable(heatmap) {
  await heatmap.getByRole('button', { name: 'show as table' }).click();
  return cells(heatmap.locator('.matrix-table table'));
}

function sameMatrix(shown, values, about) {
  assert.equal(shown.length, values.length, `${about}: rows`);
  values.forEach((row, r) => {
    assert.equal(shown[r].length, row.length, `${about}: columns`);
    row.forEach((value, c) => agrees(shown[r][c], value, `${about}[${r},${c}]`));
  });
}

// Each within what a byte can tell, half a step of the range or of the square root, and then the four digits that are shown.
function nearMatrix(shown, kind, values, allowed, about) {
  values.forEach((row, r) => row.forEach((value, c) => {
    if (masked(kind, r, c)) assert.equal(shown[r][c], 'masked', `${about}[${r},${c}]`);
    else assert.ok(Math.abs(Number(shown[r][c]) - value) <= allowed + 5e-4 * Math.max(1, Math.abs(value)), `${about}[${r},${c}]: ${shown[r][c]} for ${value}`);
  }));
}

async function fourSteps(page, kind, steps) {
  const maps = await panel(page, 'Project').locator('.heatmap').all();
  for (const [i, name] of ['query', 'key', 'value'].entries()) sameMatrix(await asTable(maps[i]), steps[name], `${kind} ${name}`);
  sameMatrix(await asTable(panel(page, 'Weighted sum').locator('.heatmap')), steps.context, `${kind} context`);
  const scores = steps.scores.flatMap((row, r) => row.filter((_, c) => !masked(kind, r, c)));
  const step = (Math.max(...scores) - Math.min(...scores)) / 254 / 2;
  nearMatrix(await asTable(panel(page, 'Scores').locator('.heatmap')), kind, steps.scores, step, `${kind} scores`);
  nearMatrix(await asTable(panel(page, 'Softmax').locator('.heatmap')), kind, steps.weights, 0.004, `${kind} weights`);
}

async function chosenRow(page, kind, steps) {
  const row = panel(page, 'The row it stands in');
  await row.getByRole('button', { name: 'in order' }).click();
  const lines = await cells(row);
  steps.weights[place.query].forEach((weight, key) => {
    const [score, , shown] = lines[key], about = `${kind}, key ${key} of the row`;
    if (masked(kind, place.query, key)) return assert.deepEqual([score, shown], ['masked', '0'], about);
    agrees(score, steps.scores[place.query][key], about);
    return agrees(shown, weight, about);
  });
}

async function chosenCell(page, kind, steps) {
  const worked = panel(page, 'The chosen cell, worked out');
  agrees(await textOf(numberOf(worked, 'weight in the model')), steps.weights[place.query][place.key], `${kind} weight`, 6);
  const line = (name) => worked.locator('.work-line').filter({ hasText: name }).locator('.work-result b').innerText();
  agrees(await line('divide'), steps.weights[place.query][place.key], `${kind} weight, worked out`, 6);
  agrees(await line('scale'), steps.scores[place.query][place.key], `${kind} score, worked out`, 6);
  assert.equal(await worked.locator('.terms').first().locator('li').count(), steps.query[0].length, 'a term for each column');
}

async function tensorRows(page) {
  const list = page.locator('.tensor-list'), rows = new Map();
  for (let top = 0; ; top += 300) {
    const height = await list.evaluate((box, to) => { box.scrollTop = to; return box.scrollHeight - box.clientHeight; }, top);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seen = await list.locator('tbody tr:not([aria-hidden])').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
    for (const [path, ...rest] of seen) rows.set(path, rest);
    if (top >= height) return rows;
  }
}

export default {
  'the maps of all heads are asked for before their screen is': (lab) =>
    lab.page({ at: address('translate') }, (page) =>
      page.waitForFunction(() =>
        ['encoder', 'decoder', 'cross'].every((kind) =>
          ['overview', 'measures'].every((what) => performance.getEntriesByType('resource').some(({ name }) => name.includes(`${kind}/${what}`)))))),

  'the four steps of a head': async (lab) => {
    for (const kind of kinds) {
      const steps = await explain(lab, kind);
      await lab.page({ at: address('attention', { stack: kind, ...place }) }, async (page) => {
        await textOf(page.locator('.worked'));
        await settled(page);
        await chosenCell(page, kind, steps);
        await chosenRow(page, kind, steps);
        await fourSteps(page, kind, steps);
      });
    }
  },

  'every tensor\'s statistics': async (lab) => {
    const { tensors } = await lab.program.json('inspect', '--model', lab.model, '--source', source, '--list');
    await lab.page({ at: address('tensors') }, async (page) => {
      await settled(page);
      assert.equal(await panel(page, 'tensors').locator('h2').first().innerText(), `${tensors.length} tensors`);
      const rows = await tensorRows(page);
      for (const tensor of tensors) {
        const [type, shape, min, max, mean, deviation, nonFinite] = rows.get(tensor.path) ?? assert.fail(`${tensor.path} is not on the page`);
        assert.deepEqual([type, shape], [tensor.type, tensor.shape.length ? `[${tensor.shape.join(' × ')}]` : 'a number'], tensor.path);
        agrees(min, tensor.min, `${tensor.path} min`);
        agrees(max, tensor.max, `${tensor.path} max`);
        agrees(mean, tensor.mean, `${tensor.path} mean`);
        agrees(deviation, tensor.deviation, `${tensor.path} deviation`);
        assert.equal(nonFinite, String(tensor.non_finite));
      }
    });
  },

  'tokens, loss and translation': async (lab) => {
    const listed = await lab.program.json('inspect', '--model', lab.model, '--source', source, '--list');
    await lab.page({ at: address('translate') }, async (page) => {
      await settled(page);
      const pieces = (label) => page.getByRole('list', { name: label }).locator('button').evaluateAll((all) => all.map((b) => b.firstChild.textContent));
      await page.getByRole('list', { name: 'Target tokens' }).locator('button').first().waitFor();
      assert.deepEqual(await pieces('Source tokens'), listed.source);
      assert.deepEqual(await pieces('Target tokens'), listed.target);
      agrees(await textOf(numberOf(panel(page, 'Next token'), 'loss of the sentence')), listed.loss, 'loss');
    });
  },
};
