// page.mjs PROGRAM BUILD: the tests of the inspector's page in a real browser, on a tiny model with a fixed seed. One browser and
// one server serve them all.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Lab } from './lab.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [program, build, only = ''] = process.argv.slice(2);
if (!program || !build) throw new Error('usage: node page.mjs PROGRAM BUILD [part of a file\'s name]');

const files = (await readdir(here)).filter((name) => name.endsWith('.test.mjs') && name.includes(only)).sort();

test('page', async (t) => {
  const lab = new Lab(build);
  try {
    await lab.open(program);
    for (const file of files) {
      const { default: tests } = await import(join(here, file));
      for (const [name, body] of Object.entries(tests)) await t.test(`${file.replace('.test.mjs', '')}: ${name}`, { timeout: 120000 }, () => body(lab));
    }
  } finally {
    await lab.close();
  }
});
