// Builds the page: `node build.mjs --out DIR [--watch]` writes DIR/app.js, DIR/app.css and DIR/index.html.
// The script is one classic file without imports, so that a report can carry it inside its own page.
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' }, watch: { type: 'boolean' } } });
const out = resolve(values.out);

const options = {
  absWorkingDir: here,
  entryPoints: { app: 'src/main.tsx' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
};

await mkdir(out, { recursive: true });
await copyFile(join(here, 'src/index.html'), join(out, 'index.html'));
if (values.watch) {
  await (await esbuild.context(options)).watch();
} else {
  await esbuild.build(options);
}
