#!/usr/bin/env node
// Pictures of the inspector's nine screens, light and dark, at 1440 x 900, as docs/inspect.md shows them:
//   node scripts/screenshots.mjs --build build-test --model runs/demo/model.safetensors --run runs/demo
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from '../tests/page/browser.mjs';
import { Program } from '../tests/page/program.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    build: { type: 'string', default: 'build-test' },  // a build with tests, which has fetched the browser's driver
    program: { type: 'string' },  // that of the build
    model: { type: 'string' },
    run: { type: 'string' },
    source: { type: 'string', default: 'The cat that the dog chased ran away.' },
    select: { type: 'string', default: 'stack=cross&layer=1&head=0&query=0&key=1' },
    out: { type: 'string', default: join(here, '../docs/screens') },
  },
});
if (!options.model || !options.run) throw new Error('name a model and its run: --model FILE --run FOLDER');

const screens = ['translate', 'heads', 'attention', 'inputs', 'flow', 'training', 'diagnosis', 'model', 'tensors'];
const extra = { tensors: '&tensor=decoder.layers.1.cross_attn.weights' };

// The diagnosis takes as long as it takes; all else is there in moments, and then nothing is asked any more.
async function settled(page) {
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main :is(.waiting, .stale, [aria-busy=true])'), null, { timeout: 300000 });
  await page.waitForLoadState('networkidle');
}

async function picture(page, url, screen, file) {
  await page.goto(`${url}#${screen}?trace=1&${options.select}${extra[screen] ?? ''}`);
  await page.locator(`main[data-screen=${screen}]`).waitFor();
  await settled(page);
  await page.screenshot({ path: file, scale: 'device', animations: 'disabled' });
  return (await stat(file)).size;
}

// A run of which there is something to say: far too high a rate on far too few sentences.
const unwell = { 'model.d_model': 64, 'model.heads': 4, 'model.layers': 3, 'train.lr': 0.2, 'train.schedule': 'constant', 'train.clip_norm': 0,
                 'train.validate_every': 50, 'train.log_every': 5, 'train.steps': 200 };

async function pictures(browser, urls) {
  let total = 0;
  for (const theme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1, colorScheme: theme, reducedMotion: 'reduce' });
    for (const screen of screens) total += await picture(page, urls[screen] ?? urls.others, screen, join(options.out, `${screen}-${theme}.png`));
    await page.close();
  }
  return total;
}

const folder = await mkdtemp(join(tmpdir(), 'glassformer-screens-'));
const program = new Program(resolve(options.program ?? join(options.build, 'glassformer')), folder);
const browser = await launch(resolve(options.build));
try {
  await mkdir(options.out, { recursive: true });
  const shown = await program.serve('--model', resolve(options.model), '--run', resolve(options.run), '--source', options.source);
  const diagnosed = await program.serve('--run', await program.train(unwell));
  const total = await pictures(browser, { diagnosis: diagnosed.url, others: shown.url });
  console.log(`${2 * screens.length} pictures in ${options.out}, ${(total / 1e6).toFixed(2)} MB`);
} finally {
  await browser.close();
  program.end();
  await rm(folder, { recursive: true, force: true });
}
