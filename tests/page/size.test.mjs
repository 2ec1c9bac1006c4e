// What the page weighs: 60 KB compressed, at most, with all its parts.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export default {
  'the page is at most 60 KB compressed': async (lab) => {
    const names = ['index.html', 'app.js', 'app.css'];
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(lab.build, 'page', `${name}.gz`))).size));
    const total = sizes.reduce((a, b) => a + b);
    console.log(`# ${names.map((name, i) => `${name} ${sizes[i]}`).join(', ')}: ${total} bytes compressed`);
    assert.ok(sizes.every((size) => size > 0), 'the page could not be built: node and npm, and what npm fetches, must be there when the program is built');
    assert.ok(total <= 60_000, `${total} bytes`);
  },
};
