// The program under test: trains a tiny model, serves the inspector, answers in JSON.
import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const pairs = 'a b c\tx y z\nb a\ty x\na a b\tx x y\nc b\tz y\nb c a\ty z x\n'.repeat(20);
const recipe = {
  'data.pairs': 'pairs.tsv', 'data.valid_pairs': 'pairs.tsv', 'data.vocab_model': 'word', 'model.d_model': 16, 'model.heads': 2, 'model.layers': 2,
  'train.batch_sentences': 16, 'train.lr': 0.01, 'train.warmup_steps': 10, 'train.validate_every': 100, 'train.log_every': 10, 'train.steps': 300,
  'train.seed': 1,
};

export class Program {
  #servers = new Set();

  constructor(path, folder) {
    this.path = path;
    this.folder = folder;
  }

  // What it writes to its output; throws with what it said where it fails.
  async output(...args) {
    try {
      return (await run(this.path, args.map(String), { cwd: this.folder, maxBuffer: 1 << 28 })).stdout;
    } catch (e) {
      throw new Error(`glassformer ${args.join(' ')}: ${e.stderr || e.message}`);
    }
  }

  async json(...args) {
    return JSON.parse(await this.output(...args, '--json'));
  }

  // A model of two layers, unless changed, that reads a, b, c and writes x, y, z; the same numbers each time. The folder
  // of its run.
  async train(changes = {}) {
    await writeFile(join(this.folder, 'pairs.tsv'), pairs);
    const settings = Object.entries({ ...recipe, ...changes }).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    await this.output('train', '--out', 'run', '--doctor', 'off', ...settings);
    return join(this.folder, 'run');
  }

  // A server; its address is `url`, `stop()` ends it without a word, as a crash would.
  async serve(...args) {
    const child = spawn(this.path, ['inspect', '--port', '0', ...args], { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#servers.add(child);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = await firstLine(child);
    const stop = async () => {
      child.kill('SIGKILL');
      await ended;
      this.#servers.delete(child);
    };
    return { url, stop };
  }

  end() {
    for (const child of this.#servers) child.kill('SIGKILL');
  }
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    let out = '', said = '';
    child.stderr.on('data', (data) => (said += data));
    child.stdout.on('data', (data) => {
      out += data;
      if (out.includes('\n')) resolve(out.split('\n')[0]);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
}
