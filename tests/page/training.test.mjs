// Curves of a run that goes on: lines that are written appear, and its end is said.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { address, agrees, numberOf, panel, textOf } from './lab.mjs';

async function unfinished(lab, lines) {
  const folder = join(lab.folder, 'live');
  await mkdir(folder);
  await copyFile(join(lab.run, 'recipe.toml'), join(folder, 'recipe.toml'));
  await writeFile(join(folder, 'metrics.jsonl'), lines.map((line) => `${line}\n`).join(''));
  await writeFile(join(folder, 'run.state'), 'unfinished\n');
  return folder;
}

// Holds the lock that a training holds of its run; the returned function lets it go.
async function locked(folder) {
  const holder = spawn('flock', [join(folder, 'run.state'), '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return () => holder.stdin.end();
}

export default {
  'a run that goes on': async (lab) => {
    const lines = (await readFile(join(lab.run, 'metrics.jsonl'), 'utf8')).trim().split('\n');
    const begun = lines.slice(0, Math.floor(lines.length / 2)), rest = lines.slice(begun.length);
    const lastOf = (some, name) => some.map((line) => JSON.parse(line)).filter((line) => name in line).at(-1)[name];
    const folder = await unfinished(lab, begun), unlock = await locked(folder);
    const server = await lab.program.serve('--run', folder);
    await lab.page({ url: server.url, at: address('training') }, async (page) => {
      const main = page.locator('main');
      const shows = (step) => textOf(numberOf(main, 'step'), new RegExp(`^${step}$`));
      await shows(lastOf(begun, 'step'));
      assert.match(await main.innerText(), /Run live, live/);
      agrees(await textOf(numberOf(main, 'loss, last')), lastOf(begun, 'loss'), 'loss of the first half');
      await appendFile(join(folder, 'metrics.jsonl'), rest.slice(0, 1).join('\n'));  // a line without its end is none
      await appendFile(join(folder, 'metrics.jsonl'), `\n${rest.slice(1).join('\n')}\n`);
      await shows(lastOf(lines, 'step'));
      agrees(await textOf(numberOf(main, 'loss, last')), lastOf(lines, 'loss'), 'last loss');
      await writeFile(join(folder, 'run.state'), 'finished\n');
      unlock();
      await page.getByText('the run has ended').first().waitFor();
    });
    await server.stop();
  },

  'every number of the metrics': async (lab) => {
    const lines = (await readFile(join(lab.run, 'metrics.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
    await lab.page({ at: address('training') }, async (page) => {
      const loss = panel(page, /^Loss$/);
      await loss.getByRole('button', { name: 'show as table' }).click();
      for (const name of ['loss', 'nll', 'valid_nll']) {
        const table = loss.locator('table').filter({ has: page.locator('caption', { hasText: new RegExp(`^${name}$`) }) });
        const rows = await table.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
        const written = lines.filter((line) => name in line);
        assert.deepEqual(rows.map(([step]) => Number(step)), written.map(({ step }) => step), name);
        rows.forEach(([, min, max, last], i) => [min, max, last].forEach((text) => agrees(text, written[i][name], `${name} of step ${written[i].step}`)));
      }
    });
  },
};
