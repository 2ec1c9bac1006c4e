#!/usr/bin/env node
// Times the inspector's page on sentences of 512 tokens and a model of 6 + 6 layers of 8 heads, and prints a table of what is
// aimed at and what was measured. On a quiet machine only:
//   node scripts/page_timings.mjs --build build-test
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from '../tests/page/browser.mjs';
import { Program } from '../tests/page/program.mjs';

const { values: options } = parseArgs({
  options: {
    build: { type: 'string', default: 'build-test' },  // a build with tests, which has fetched the browser's driver
    program: { type: 'string' },                       // that of the build
    tokens: { type: 'string', default: '512' },
  },
});
const build = resolve(options.build);

// One word is a token of the made-up vocabulary; the last is the end of the sentence.
const sentence = (first) => Array.from({ length: Number(options.tokens) - 1 }, (_, i) => `w${String((first + 7 * i) % 7000).padStart(4, '0')}`).join(' ');

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

// In the page: `act` is done, and the time taken until `done` holds and styles and layout are worked out, that is until the
// browser can draw. Looks again after every task that changed the document, so that neither a frame's length nor the looking
// is part of it.
function helpers() {
  let changed = false;
  new MutationObserver(() => (changed = true)).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const changedAndDone = (done) => {
    const look = changed;
    changed = false;
    return look && done();
  };
  globalThis.fresh = () => !document.querySelector('main :is(.waiting, .stale, [aria-busy=true])');
  globalThis.press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const task = () => new Promise((next) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => next(channel.port1.close());
    channel.port2.postMessage(0);
  });
  globalThis.timed = async (act, done) => {
    await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    const begin = performance.now();
    changed = true;  // what is done without a change is done too
    act();
    do await task(); while (!changedAndDone(done));
    document.body.getBoundingClientRect();
    return performance.now() - begin;
  };
}

// Also the time for which the page's main thread had a processor: on a busy machine, what a quiet one would take.
async function processor(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async (act) => {
    const spent = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
    const before = await spent(), wall = await act();
    return { wall, own: (await spent()) - before };
  };
}

// Cold is a page that was never open: each time in a context of its own, without anything kept.
async function firstPaint(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } }), page = await context.newPage();
  await page.goto(url);
  const paint = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  const time = await paint.jsonValue();
  await context.close();
  return time;
}

const overview = (page) => page.evaluate(() => {
  const tiles = () => document.querySelectorAll('.head-tile canvas').length;
  return globalThis.timed(() => globalThis.press('2'), () => tiles() === 144 && globalThis.fresh());
});

const switchTo = (page, key, head) => page.evaluate(([pressed, to]) => globalThis.timed(
  () => globalThis.press(pressed), () => document.querySelector('main > .about').textContent.includes(`head ${to}: softmax`) && globalThis.fresh()), [key, head]);

// Head by head to the last, never seen before, and back, all seen.
async function switches(page, measured) {
  await page.evaluate(() => globalThis.timed(() => globalThis.press('3'), () => document.querySelector('.worked') && globalThis.fresh()));
  const cold = [], cached = [];
  for (let head = 1; head < 8; ++head) cold.push(await measured(() => switchTo(page, 'PageDown', head)));
  for (let head = 6; head >= 0; --head) cached.push(await measured(() => switchTo(page, 'PageUp', head)));
  return { cold, cached };
}

const hover = (page) => page.evaluate(async () => {
  const field = [...document.querySelectorAll('.heatmap-field')].find((e) => e.getAttribute('aria-label').startsWith('Weights'));
  const box = field.querySelector('canvas').getBoundingClientRect(), times = [];
  for (let i = 0; i < 60; ++i) {
    const at = { clientX: box.left + (0.1 + 0.013 * i) * box.width, clientY: box.top + (0.9 - 0.013 * i) * box.height };
    times.push(await globalThis.timed(() => field.dispatchEvent(new PointerEvent('pointermove', { ...at, bubbles: true })), () => true));
  }
  return times;
});

// With what typed arrays hold, after all screens and every head of one attention.
async function heap(page) {
  for (const key of '123456789') {
    await page.keyboard.press(key);
    await page.waitForFunction(() => globalThis.fresh(), null, { timeout: 300000 });
  }
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
  return usedSize + backingStorageSize;
}

const bundle = async () => {
  const sizes = await Promise.all(['index.html', 'app.js', 'app.css'].map(async (name) => (await stat(join(build, 'page', `${name}.gz`))).size));
  return sizes.reduce((a, b) => a + b);
};

const ms = (time) => `${time < 10 ? time.toFixed(1) : time.toFixed(0)} ms`;
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const spread = (times) => `${ms(median(times))} (${ms(Math.min(...times))} to ${ms(Math.max(...times))})`;
const summary = (times) => (times.length === 1 ? ms(times[0]) : spread(times));
const columns = (times) => [summary(times.map(({ wall }) => wall)), ms(median(times.map(({ own }) => own)))];

// The first look at a new trace, by a reader who looks at the sentence for so long first.
async function firstLook(page, url, measured, reading) {
  const id = await page.evaluate(async ([source, target]) => {
    const response = await fetch('api/v1/traces', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ source, target }) });
    return (await response.json()).id;
  }, [sentence(0), sentence(3)]);
  await open(page, url, id);
  await page.waitForTimeout(reading);
  return measured(() => overview(page));
}

// A page loaded again keeps nothing.
async function open(page, url, trace) {
  await page.goto('about:blank');
  await page.goto(`${url}#translate?trace=${trace}&stack=cross&layer=5&head=0&query=100&key=200`);
  await page.waitForFunction(() => document.querySelector('.translation') && globalThis.fresh());
}

const repeated = async (times, act) => {
  const all = [];
  for (let i = 0; i < times; ++i) all.push(await act());
  return all;
};

async function measure(browser, url) {
  const paints = await repeated(5, () => firstPaint(browser, url));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(300000);
  await page.addInitScript(helpers);
  const measured = await processor(page);
  await open(page, url, 1);
  const atOnce = await repeated(3, () => firstLook(page, url, measured, 0)), later = await repeated(3, () => firstLook(page, url, measured, 1000));
  await open(page, url, 1);
  const { cold, cached } = await switches(page, measured);
  return [
    ['first paint', '1 s', spread(paints), ''],
    ['overview of the 144 heads, first look, a second after the sentence', '200 ms', ...columns(later)],
    ['the same, in the moment when the sentence is there', '', ...columns(atOnce)],
    ['head switch, cold', '100 ms', ...columns(cold)],
    ['head switch, cached', '16 ms', ...columns(cached)],
    ['hover', '16 ms', spread(await hover(page)), ''],
    ['heap after all screens', '150 MB', mb(await heap(page)), ''],
  ];
}

async function report(program, folder, args) {
  const file = join(folder, 'report.html');
  await program.output('inspect', ...args, '--report', file);
  return (await stat(file)).size;
}

const folder = await mkdtemp(join(tmpdir(), 'glassformer-timings-'));
const program = new Program(resolve(options.program ?? join(build, 'glassformer')), folder);
const browser = await launch(build);
try {
  await program.output('bench', '--write-model', 'model.safetensors');
  const args = ['--model', 'model.safetensors', '--source', sentence(0), '--target', sentence(3)];
  const { url, stop } = await program.serve(...args);
  const rows = await measure(browser, url);
  await stop();
  rows.push(['page, compressed', '60 KB', `${((await bundle()) / 1e3).toFixed(1)} KB`, ''], ['report', '10 MB', mb(await report(program, folder, args)), '']);
  console.log(`| ${options.tokens} tokens, 6 + 6 layers of 8 heads | aimed at | measured | the page's own processor time |\n| --- | --- | --- | --- |`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
} finally {
  await browser.close();
  program.end();
  await rm(folder, { recursive: true, force: true });
}
