// What goes wrong is said in words, in its own place, and the rest of the page goes on.
import assert from 'node:assert/strict';
import { address, panel, screens, settled, source, textOf } from './lab.mjs';

// An answer of which only a part arrives.
async function cut(page, pattern, keep) {
  await page.route(pattern, async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    await route.fulfill({ status: 200, headers: { 'content-type': response.headers()['content-type'] }, body: body.subarray(0, keep(body.length)) });
  });
}

const spoilt = (pattern, keep) => ({ spoilt: true, prepare: (page) => cut(page, pattern, keep) });
const half = (length) => Math.floor(length / 2);

const notBlank = async (page, about) => assert.ok((await page.locator('main').innerText()).trim().length > 30, `${about}: a blank screen`);

export default {
  'a matrix cut short': async (lab) => {
    for (const keep of [() => 10, (length) => length - 1]) {
      await lab.page({ at: address('attention'), ...spoilt('**/weights', keep) }, async (page) => {
        assert.match(await textOf(panel(page, 'Softmax').getByRole('alert')), /cut short|no matrix file/);
        await settled(page);
        assert.equal(await page.getByRole('alert').count(), 1, 'the other panels go on');
        await page.unroute('**/weights');
        await panel(page, 'Softmax').getByRole('button', { name: 'Ask again' }).click();
        await panel(page, 'Softmax').locator('.heatmap canvas').first().waitFor();
        assert.equal(await page.getByRole('alert').count(), 0);
      });
    }
  },

  'a trace cut short': async (lab) => {
    for (const screen of ['translate', 'heads']) {
      await lab.page({ at: address(screen), ...spoilt('**/traces/1', half) }, async (page) => {
        assert.match(await textOf(page.getByRole('alert')), /"traces\/1" is cut short or damaged/);
        await page.unroute('**/traces/1');
        await page.getByRole('button', { name: 'Ask again' }).first().click();
        await page.getByRole('alert').first().waitFor({ state: 'detached' });
        await settled(page);
        await notBlank(page, screen);
      });
    }
  },

  'a first answer that makes no sense': (lab) =>
    lab.page({ ...spoilt('**/meta', half) }, async (page) => {
      assert.match(await textOf(page.getByRole('alert')), /cut short or damaged/);
    }),

  'a server that is gone': async (lab) => {
    const server = await lab.program.serve('--model', lab.model, '--run', lab.run, '--source', source);
    await lab.page({ url: server.url, at: address('heads'), spoilt: true }, async (page) => {
      await settled(page);
      await server.stop();
      for (const screen of screens.filter((name) => !['translate', 'heads', 'flow', 'training'].includes(name))) {  // which ask nothing more
        await page.keyboard.press(String(1 + screens.indexOf(screen)));
        await page.locator(`main[data-screen=${screen}]`).waitFor();
        assert.match(await textOf(page.getByRole('alert').first()), /does not answer.*start it again/);
      }
      await page.keyboard.press('1');
      await page.getByLabel('Source', { exact: true }).fill('c b');
      await page.locator('.sentence-form button[type=submit]').click();
      assert.match(await textOf(page.getByRole('alert')), /does not answer/);
    });
  },

  'a run without a model': async (lab) => {
    const server = await lab.program.serve('--run', lab.run);
    await lab.page({ url: server.url }, async (page) => {
      for (const [i, screen] of screens.entries()) {
        await page.keyboard.press(String(i + 1));
        await page.locator(`main[data-screen=${screen}]`).waitFor();
        await settled(page);
        await notBlank(page, screen);
        assert.equal(await page.getByRole('alert').count(), 0, screen);
        if (!['training', 'diagnosis'].includes(screen)) assert.match(await page.locator('main').innerText(), /No model is loaded.*--model FILE/);
      }
    });
    await server.stop();
  },

  'a model without a sentence or a run': async (lab) => {
    const server = await lab.program.serve('--model', lab.model);
    await lab.page({ url: server.url }, async (page) => {
      for (const [i, screen] of screens.entries()) {
        await page.keyboard.press(String(i + 1));
        await page.locator(`main[data-screen=${screen}]`).waitFor();
        await settled(page);
        await notBlank(page, screen);
        assert.equal(await page.getByRole('alert').count(), 0, screen);
      }
    });
    await server.stop();
  },

  'a question the server refuses': (lab) =>
    lab.page({ at: address('translate'), spoilt: true }, async (page) => {
      await settled(page);
      await page.getByLabel('Source', { exact: true }).fill('a'.repeat(1_100_000));
      await page.locator('.sentence-form button[type=submit]').click();
      assert.match(await textOf(page.getByRole('alert')), /1 MB|too large|at most/);
      await notBlank(page, 'translate');
    }),
};
