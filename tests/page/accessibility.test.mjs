// No serious or critical violation of what axe-core checks, on any screen, light and dark.
import assert from 'node:assert/strict';
import { address, screens, settled } from './lab.mjs';

async function violations(lab, page) {
  await page.evaluate(lab.axe);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} (${node.failureSummary.replaceAll(/\s+/g, ' ')})`).join('; ')}`);
}

async function allScreens(lab, page, theme) {
  for (const screen of screens) {
    await page.goto(`${lab.url}${address(screen, { stack: 'decoder', layer: 1 })}`);
    await page.locator(`main[data-screen=${screen}]`).waitFor();
    await settled(page);
    assert.deepEqual(await violations(lab, page), [], `${screen}, ${theme}`);
  }
}

export default Object.fromEntries(['light', 'dark'].map((theme) => [theme, (lab) => lab.page({ theme }, (page) => allScreens(lab, page, theme))]));
