// What every test of the page needs: the browser, a server with the tiny model, and pages that are watched.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, packagesOf } from './browser.mjs';
import { Program } from './program.mjs';

export const source = 'b c a';
export const screens = ['translate', 'heads', 'attention', 'inputs', 'flow', 'training', 'diagnosis', 'model', 'tensors'];
export const kinds = ['encoder', 'decoder', 'cross'];

export class Lab {
  constructor(build) {
    this.build = build;
    this.contexts = new Map();
  }

  async open(path) {
    this.browser = await launch(this.build);
    this.axe = packagesOf(this.build)('axe-core').source;
    this.folder = await mkdtemp(join(tmpdir(), 'glassformer-page-'));
    this.program = new Program(path, this.folder);
    this.run = await this.program.train();
    this.model = join(this.run, 'model.safetensors');
    this.url = (await this.program.serve('--model', this.model, '--run', this.run, '--source', source)).url;
  }

  async close() {
    await this.browser?.close();
    this.program?.end();
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }

  // An answer of the shared server, as the program gives it.
  ask = async (question, body) => {
    const response = await fetch(`${this.url}api/v1/${question}`, body && { method: 'POST', body: JSON.stringify(body) });
    return response.headers.get('content-type').startsWith('application/json') ? response.json() : response.arrayBuffer();
  };

  // Pages of a kind share a context, and by one that stays open the process that draws them.
  async #context(settings) {
    const key = JSON.stringify(settings);
    if (!this.contexts.has(key)) {
      const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...settings });
      context.setDefaultTimeout(30000);
      if (!settings.offline) await (await context.newPage()).goto(`${this.url}api/v1/meta`);
      this.contexts.set(key, context);
    }
    return this.contexts.get(key);
  }

  // Runs `use` on a page of its own and then looks at what the browser saw: no request may leave the address the page
  // came from, nothing may be thrown, and the console may hold no error, but that of an answer which a test has spoilt.
  async page({ url = this.url, at = '', theme = 'light', offline = false, spoilt = false, prepare }, use) {
    const page = await (await this.#context({ colorScheme: theme, offline })).newPage(), errors = [], elsewhere = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !(spoilt && /Failed to load resource|ERR_/.test(message.text()))) errors.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) elsewhere.push(request.url());
    });
    try {
      await prepare?.(page);
      await page.goto(url + at);
      await use(page);
      assert.deepEqual(errors, [], 'errors in the console');
      assert.deepEqual(elsewhere, [], 'requests that leave the page\'s own address');
    } finally {
      await page.close();
    }
  }
}

// Another selection on the page that is open.
export async function goTo(page, at) {
  await page.evaluate((hash) => { location.hash = hash; }, at);
  await page.locator(`main[data-screen=${at.slice(1).split('?')[0]}]`).waitFor();
}

export const address = (screen, selection = {}) => `#${screen}?${new URLSearchParams({ trace: '1', ...selection })}`;

// Until nothing on the screen is awaited any more.
export const settled = (page) =>
  page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main :is(.waiting, .stale, [aria-busy=true])'));

// The panel with this heading.
export const panel = (page, title) => page.locator('.panel').filter({ has: page.locator('h2', { hasText: title }) });

// Until an element's text is of this kind; the text.
export async function textOf(locator, like = /\S/) {
  await locator.filter({ hasText: like }).first().waitFor();
  return (await locator.first().innerText()).trim();
}

// The value beside a name in a list of numbers.
export const numberOf = (locator, name) =>
  locator.locator('.numbers > div').filter({ has: locator.page().locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd');

// Whether a printed number is this one to its last digit. What is worked out in another order differs in the last bits
// of a float32, hence the millionth.
export function agrees(text, value, about, digits = 2) {
  const printed = text.replaceAll(',', '').replace('≈', '').trim();
  const [mantissa, exponent = '0'] = printed.toLowerCase().split('e');
  const decimals = (mantissa.split('.')[1] ?? '').length;
  const unit = 10 ** (Number(exponent) - decimals);
  assert.ok(/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(printed), `${about}: "${text}" is no number`);
  const allowed = 0.5 * unit + 1e-6 * Math.max(1e-3, Math.abs(value));
  assert.ok(Math.abs(Number(printed) - value) <= allowed, `${about}: the page says ${text}, the program ${value}`);
  const shown = mantissa.replace(/^-?0*\.?0*/, '').replace('.', '').length;
  assert.ok(shown >= digits || Number.isInteger(value) || Math.abs(value) < 1e-12 || /0$/.test(value.toPrecision(digits)), `${about}: ${text} has few digits for ${value}`);
}
