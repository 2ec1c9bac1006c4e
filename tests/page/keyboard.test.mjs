// Every task by the keyboard alone: no test here touches the pointer.
import assert from 'node:assert/strict';
import { address, agrees, numberOf, panel, screens, settled, textOf } from './lab.mjs';

// Tab until what has the focus is this one.
async function tabTo(page, locator, key = 'Tab') {
  for (let i = 0; i < 150; ++i) {
    if (await locator.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`Tab does not reach ${locator}`);
}

const heading = (page, name) => page.locator('h1', { hasText: new RegExp(`^${name}$`, 'i') }).waitFor();

const addressHas = (page, names) =>
  page.waitForFunction((wanted) => {
    const now = new URLSearchParams(location.hash.split('?')[1]);
    return Object.entries(wanted).every(([name, value]) => now.get(name) === String(value));
  }, names);

const spoken = (page, like) => page.locator('#live').filter({ hasText: like }).waitFor({ state: 'attached' });

export default {
  'the nine screens': (lab) => lab.page({}, async (page) => {
    await settled(page);
    for (const [i, name] of screens.entries()) {
      await page.keyboard.press(String(i + 1));
      await heading(page, name);
      await page.waitForFunction((wanted) => location.hash.slice(1).split('?')[0] === wanted, name);
    }
  }),

  'help': (lab) => lab.page({}, async (page) => {
    await settled(page);
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    assert.match(await dialog.innerText(), /Page Up\s+Page Down[\s\S]*arrows move/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    await dialog.waitFor();
    await tabTo(page, dialog.getByRole('button', { name: 'Close' }));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
  }),

  'a layer, a head, a cell': (lab) => lab.page({ at: address('attention', { stack: 'cross', layer: 0, head: 0, query: 0, key: 0 }) }, async (page) => {
    await settled(page);
    await page.keyboard.press(']');
    await spoken(page, /^layer 1$/);
    await page.keyboard.press('PageDown');
    await spoken(page, /^head 1$/);
    await page.keyboard.press(']');  // the last already
    await addressHas(page, { layer: 1, head: 1 });
    await page.keyboard.press('[');
    await page.keyboard.press('PageUp');
    await addressHas(page, { layer: 0, head: 0 });
    await tabTo(page, panel(page, 'Softmax').locator('.heatmap-field'));
    await settled(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await addressHas(page, { query: 1, key: 2 });
    const cell = await lab.ask('traces/1/attention/cross/0/0/cell?query=1&key=2');
    await spoken(page, new RegExp(`^query 1 y, key 2 a: weight .*, rank ${cell.rank} of 4`));
    const worked = panel(page, 'The chosen cell, worked out');
    await textOf(worked.locator('.about'), /query 1 y on key 2 a/);
    await settled(page);
    agrees(await textOf(numberOf(worked, 'weight in the model')), cell.weight, 'the weight moved to', 6);
    await page.keyboard.press('End');
    await addressHas(page, { query: 1, key: 3 });
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowDown');  // by ten, and not over the edge
    await addressHas(page, { query: 3, key: 0 });
  }),

  'a map read as a table': (lab) => lab.page({ at: address('attention', { stack: 'cross' }) }, async (page) => {
    await settled(page);
    const button = panel(page, 'Softmax').locator('.heatmap-foot button');
    await tabTo(page, button);
    await page.keyboard.press('Enter');
    await panel(page, 'Softmax').locator('.matrix-table td').first().waitFor();
    assert.equal(await button.innerText(), 'show as map');
    await tabTo(page, panel(page, 'Softmax').getByRole('region'), 'Shift+Tab');  // to scroll it
  }),

  'a head found by its measure, and locked': (lab) => lab.page({ at: address('heads', { stack: 'encoder' }) }, async (page) => {
    await settled(page);
    await tabTo(page, page.getByRole('group', { name: 'Sort heads' }).getByRole('button', { name: 'diagonality' }));
    await page.keyboard.press('Enter');
    const { heads } = await lab.ask('traces/1/attention/cross/measures');
    const [, second] = [...heads].sort((a, b) => b.diagonality - a.diagonality);
    const cross = panel(page, 'Cross-attention').locator('.head-grid');
    await textOf(cross.locator('.head-name').nth(1), new RegExp(`^${second.layer}\\.${second.head}`));
    await tabTo(page, cross.locator('button[tabindex="0"]'));
    await page.keyboard.press('ArrowRight');
    await textOf(page.locator('.head-preview h2'), new RegExp(`Layer ${second.layer}, head ${second.head}`));
    await page.keyboard.press('Enter');
    await heading(page, 'attention');
    await addressHas(page, { stack: 'cross', layer: second.layer, head: second.head });
  }),

  'a sentence translated, a beginning forced': (lab) => lab.page({}, async (page) => {
    await settled(page);
    await tabTo(page, page.getByLabel('Source', { exact: true }));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('a a b');
    await tabTo(page, page.getByRole('button', { name: 'Translate', exact: true }).and(page.locator('.primary')));
    await page.keyboard.press('Enter');
    await textOf(page.locator('.translation'), /^x x y$/);
    await settled(page);
    const id = await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('trace'));
    const { nodes } = await lab.ask(`traces/${id}/beam`);
    const first = page.locator('svg.beam .node[tabindex="0"]');
    await tabTo(page, first);
    for (let i = 0; i < 8; ++i) await page.keyboard.press('ArrowLeft');  // to the first column
    await page.keyboard.press('ArrowDown');
    const forced = Number(await page.evaluate(() => document.activeElement.dataset.node));
    const node = nodes.find((n) => n.id === forced);
    assert.equal(node.parent, -1, 'the first column');
    await page.keyboard.press('Enter');
    await textOf(page.locator('.translation'), new RegExp(`^${node.piece}( |$)`));
  }),

  'a head dropped': (lab) => lab.page({ at: address('attention', { stack: 'cross', layer: 1, head: 0 }) }, async (page) => {
    await settled(page);
    await tabTo(page, page.getByRole('button', { name: 'Drop it' }), 'Shift+Tab');  // from the end, which is nearer
    await page.keyboard.press('Enter');
    await textOf(page.locator('.what-if .before-after'));
    await spoken(page, /^head 0 of layer 1 dropped: loss/);
  }),

  'a tensor found': (lab) => lab.page({ at: address('tensors') }, async (page) => {
    await settled(page);
    await tabTo(page, page.getByRole('searchbox'));
    await page.keyboard.type('cross_attn weights 1');
    const path = 'decoder.layers.1.cross_attn.weights';
    await tabTo(page, page.getByRole('button', { name: path }));
    await page.keyboard.press('Enter');
    await addressHas(page, { tensor: path });
    await page.getByRole('application', { name: new RegExp(`^${path}, 4 by 4`) }).waitFor();
  }),

  'a box of the architecture, and the theme': (lab) => lab.page({ at: address('model') }, async (page) => {
    await settled(page);
    await tabTo(page, page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Dark' }));
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await tabTo(page, page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Auto' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
    await tabTo(page, page.locator('.plate.attention').last());
    await page.keyboard.press('Enter');
    await heading(page, 'attention');
  }),

  'a curve read step by step': (lab) => lab.page({ at: address('training') }, async (page) => {
    await settled(page);
    await tabTo(page, page.getByRole('application', { name: /^Loss/ }));
    await page.keyboard.press('ArrowLeft');
    await spoken(page, /^step \d+: loss [\d.]+, nll [\d.]+/);
  }),
};
