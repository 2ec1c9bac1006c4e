// The selection is in the address: it survives a reload, and the way back leads to the screen before.
import assert from 'node:assert/strict';
import { address, numberOf, panel, settled, textOf } from './lab.mjs';

const weight = (page) => textOf(numberOf(panel(page, 'The chosen cell, worked out'), 'weight in the model'));

const stepper = (page, name) => page.getByRole('toolbar', { name: 'Selection' }).getByRole('combobox', { name });

async function clickCell(page, row, column) {
  const canvas = panel(page, 'Softmax').locator('.heatmap-field canvas');
  const at = await canvas.evaluate((c) => Object.fromEntries(Object.entries(c.dataset).map(([k, v]) => [k, Number(v)])));
  await canvas.click({ position: { x: at.left + (column + 0.5) * at.cellWidth, y: at.top + (row + 0.5) * at.cellHeight } });
}

export default {
  'a reload keeps screen, head and cell': (lab) => lab.page({ at: address('attention') }, async (page) => {
    await settled(page);
    await page.getByRole('group', { name: 'Attention' }).getByRole('button', { name: 'Decoder self' }).click();
    await stepper(page, 'layer').selectOption('1');
    await stepper(page, 'head').selectOption('1');
    await settled(page);
    await clickCell(page, 3, 2);
    await textOf(panel(page, 'The chosen cell, worked out').locator('.about'), /query 3 .* on key 2 /);
    await page.waitForFunction(() => /query=3.*key=2/.test(location.hash));
    await settled(page);
    const before = await weight(page), hash = await page.evaluate(() => location.hash);
    await page.reload();
    await settled(page);
    await textOf(panel(page, 'The chosen cell, worked out').locator('.about'), /query 3 .* on key 2 /);
    assert.equal(await weight(page), before);
    assert.deepEqual([await stepper(page, 'layer').inputValue(), await stepper(page, 'head').inputValue()], ['1', '1']);
    assert.equal(await page.evaluate(() => location.hash), hash);
  }),

  'back leads to the screen before, with its selection': (lab) => lab.page({ at: address('heads', { layer: 1 }) }, async (page) => {
    await settled(page);
    await page.locator('.kind-panel .head-tile').last().click();
    await page.locator('h1', { hasText: 'Attention' }).waitFor();
    await page.goBack();
    await page.locator('h1', { hasText: 'Heads' }).waitFor();
  }),

  'an address of what is not there leads to what is nearest': (lab) =>
    lab.page({ at: address('attention', { trace: '99', stack: 'encoder', layer: 7, head: 9, query: 50, key: 60 }) }, async (page) => {
      await settled(page);
      await textOf(panel(page, 'The chosen cell, worked out').locator('.about'), /query 3 .* on key 3 /);
      assert.deepEqual([await stepper(page, 'layer').inputValue(), await stepper(page, 'head').inputValue()], ['1', '1']);
    }),
};
