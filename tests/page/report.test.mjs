// A report opens from a file, with the network off, and shows what the server's page shows.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { address, agrees, kinds, numberOf, panel, screens, settled, source, textOf } from './lab.mjs';

async function report(lab) {
  const file = join(lab.folder, 'report.html');
  if (!lab.reported) await lab.program.output('inspect', '--model', lab.model, '--run', lab.run, '--source', source, '--source', 'a a b', '--report', file);
  lab.reported = true;
  return { file, open: { url: pathToFileURL(file).href, offline: true } };
}

export default {
  'every screen, without the network': async (lab) => {
    const { file, open } = await report(lab);
    assert.ok((await stat(file)).size <= 10_000_000, 'a report is at most 10 MB');
    await lab.page(open, async (page) => {
      for (const [i, screen] of screens.entries()) {
        await page.keyboard.press(String(i + 1));
        await page.locator(`main[data-screen=${screen}]`).waitFor();
        await settled(page);
        assert.equal(await page.locator('.message').count(), 0, `${screen}: ${await page.locator('.message').allInnerTexts()}`);
        assert.ok((await page.locator('main').innerText()).length > 60, `${screen} is empty`);
      }
    });
  },

  'the same numbers as the program': async (lab) => {
    const { open } = await report(lab);
    for (const kind of kinds) {
      const cell = await lab.ask(`traces/1/attention/${kind}/1/0/cell?query=3&key=1`);
      await lab.page({ ...open, at: address('attention', { stack: kind, layer: 1, head: 0, query: 3, key: 1 }) }, async (page) => {
        await settled(page);
        const worked = panel(page, 'The chosen cell, worked out');
        agrees(await textOf(numberOf(worked, 'weight in the model')), cell.weight, `${kind} weight`, 6);
        agrees(await textOf(worked.locator('.work-line').filter({ hasText: 'scale' }).locator('.work-result b')), cell.score, `${kind} score`, 6);
        assert.equal(await textOf(numberOf(worked, 'rank in the row')), String(cell.rank));
      });
    }
  },

  'both sentences': async (lab) => {
    const { open } = await report(lab);
    await lab.page(open, async (page) => {
      await settled(page);
      await page.getByLabel('trace').selectOption('1');
      await textOf(page.locator('.translation'), /^y z x$/);
      await page.getByLabel('trace').selectOption('2');
      await textOf(page.locator('.translation'), /^x x y$/);
      assert.equal(await page.getByLabel('Source', { exact: true }).count(), 0, 'no form, since nobody would answer');
    });
  },
};
