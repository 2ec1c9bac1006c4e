#!/usr/bin/env node
// How many times as fast the program is as its own plain path (generic instructions, float32), measured in turn:
//   node scripts/speed_ratios.mjs --build build-test [--record]
// Fails where a ratio is below a third of the recorded one of this kind of processor (bench/speed_ratios.json); --record writes those.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    build: { type: 'string', default: 'build-test' },
    program: { type: 'string' },  // that of the build
    pairs: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
});

const program = options.program ?? join(options.build, 'glassformer');
const records = fileURLToPath(new URL('../bench/speed_ratios.json', import.meta.url));

// Short ones, one of each kind of work, and how often each is run for a measurement.
const cases = { 'train/tiny': 5, 'train/small': 3, 'attention/causal/512': 5, 'decode/greedy/1': 3, 'decode/beam4/1': 1 };

function bench(name, plain) {
  const args = ['bench', '--case', name, '--repeat', cases[name], '--json', ...(plain ? ['--precision', 'f32'] : [])];
  const env = plain ? { ...process.env, GLASSFORMER_ISA: 'generic' } : process.env;
  return JSON.parse(execFileSync(program, args.map(String), { env, encoding: 'utf8' }));
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

let kind = '';

function ratioOf(name) {
  const ratios = Array.from({ length: Number(options.pairs) }, () => {
    const fast = bench(name, false), plain = bench(name, true);
    kind = `${fast.isa}${fast.bf16_products ? ' with bf16' : ''}, ${fast.threads} threads`;
    return plain.cases[0].median_seconds / fast.cases[0].median_seconds;
  });
  return median(ratios);
}

const ratios = Object.fromEntries(Object.keys(cases).map((name) => [name, Number(ratioOf(name).toPrecision(3))]));
const recorded = JSON.parse(readFileSync(records, 'utf8'));
const known = recorded[kind] ?? {};

console.log(`${kind}, against generic instructions and float32, median of ${options.pairs} pairs:`);
for (const [name, ratio] of Object.entries(ratios)) {
  console.log(`  ${name.padEnd(22)} ${ratio.toFixed(2).padStart(6)}${known[name] ? `   recorded ${known[name].toFixed(2)}` : '   nothing recorded'}`);
}
if (options.record) {
  writeFileSync(records, `${JSON.stringify({ ...recorded, [kind]: ratios }, null, 2)}\n`);
} else {
  const slow = Object.keys(ratios).filter((name) => known[name] && ratios[name] < known[name] / 3);
  for (const name of slow) console.error(`${name}: less than a third of the recorded ratio; something slows it down that did not before`);
  process.exitCode = slow.length > 0 ? 1 : 0;
}
