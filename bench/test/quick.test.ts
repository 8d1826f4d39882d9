import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { readyDriver } from '../../software-devices/level-zero-cpu/lib/cache.mjs';
import { type Device, readyDevice } from '../../software-devices/vulkan/lib/cache.mjs';
import { loadResults, type Results } from '../src/results.ts';

const MAIN = join(import.meta.dirname, '../dist/main.js');
const DEVICE = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';

async function bench(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 100_000 });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** A folder for results, removed at the end. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'concord-bench-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The results of a run, and who of those that are there has no case at all. */
function outcomeOf(path: string, arena: string): { results: Results; idle: string[]; failed: string[] } {
  const results = loadResults(pathToFileURL(`${path}/${arena}/`));
  const entries = results.cases.flatMap((each) => each.entries);
  const present = results.contestants.filter(({ absent }) => absent === undefined).map(({ name }) => name);
  return {
    results,
    idle: present.filter((who) => !entries.some(({ name, ms }) => name === who && ms !== undefined)),
    failed: entries.flatMap(({ name, failed }) => (failed === undefined ? [] : [`${name}: ${failed}`])),
  };
}

it('cpu: every peer runs and is right', async () => {
  const out = folder();
  const { code, stdout } = await bench('cpu', '--quick', '--out', out);
  const { idle, failed } = outcomeOf(out, 'cpu');
  expect({ idle, failed, code }).toEqual({ idle: [], failed: [], code: 0 });
  expect(stdout).toContain('| attention | b2h2q5k6d4 |');
  expect(readdirSync(join(out, 'cpu')).sort()).toEqual(['results.json', 'table.md']);
  // Tables are made again from the results alone.
  rmSync(join(out, 'cpu/table.md'));
  expect(await bench('report', out)).toMatchObject({ code: 0 });
  expect(stdout).toContain(readFileSync(join(out, 'cpu/table.md'), 'utf8').trim());
});

it('wasm: every peer runs and is right, and what the caller keeps is measured', async () => {
  const out = folder();
  const only = ['--only', 'conv2d,copy,bias_gelu'];
  const { code, stdout } = await bench('wasm', '--quick', '--threads', '2', ...only, '--out', out);
  const { results, idle, failed } = outcomeOf(out, 'wasm-2');
  expect({ idle, failed, code }).toEqual({ idle: [], failed: [], code: 0 });
  expect(results.contestants.map(({ name }) => name)).toEqual([
    ...['concord', 'concord relaxed', 'onnxruntime web', 'onnxruntime web, fed', 'tfjs wasm', 'onnxruntime cpu'],
  ]);
  expect(results.overhead?.background?.productMs).toBeGreaterThan(0);
  expect(stdout).toContain('### What the caller keeps');
});

it('gpt: a tiny model on WebAssembly, right on ours and on the peers', async () => {
  const out = folder();
  const { code } = await bench('gpt', '--backend', 'wasm', '--size', 'tiny', '--threads', '1', '--out', out);
  const { contestants, cases } = loadResults(pathToFileURL(`${out}/wasm-1/`), 'gpt.json');
  const failed = cases.flatMap(({ entries }) => entries.filter((entry) => entry.failed !== undefined));
  expect({ failed, code }).toEqual({ failed: [], code: 0 });
  expect(contestants.map(({ name }) => name)).toEqual(['concord', 'onnxruntime web', 'onnxruntime cpu']);
  expect(contestants[0]).not.toHaveProperty('remark'); // compared with the reference
  // Only ours has a cache that grows.
  const lacking = cases.filter(({ entries }) => entries.some(({ lacks }) => lacks !== undefined));
  expect(lacking.map((each) => each.case)).toEqual(['f32 from 32 on']);
});

it('lm: a tiny model on WebAssembly, whose tokens one by one are those of the text at once', async () => {
  const { code, stdout } = await bench('lm', '--backend', 'wasm', '--model', 'tiny', '--threads', '1', '--json');
  const cases = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Results['cases'][number]);
  expect(cases.map((each) => each.case)).toEqual(['tiny i4 from 32 on', 'tiny i4 1x32']);
  expect(cases.flatMap(({ entries }) => entries.flatMap(({ failed }) => failed ?? []))).toEqual([]);
  expect(code).toBe(0);
});

it('explains itself, and refuses what it does not know', async () => {
  expect(await bench('--help')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: pnpm bench/) as string,
  });
  expect(await bench('gpu')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^there is no target gpu/) as string,
  });
  for (const args of [
    ['cpu', '--only', 'gem'],
    ['--only', 'gem'],
    ['--device', 'lavapipe,toaster'],
    ['webgpu', '--device', 'toaster'],
    ['gpt', '--size', 'huge'],
    ['gpt', '--dtype', 'f64'],
    ['gpt', '--backend', 'cpu'],
    ['gpt', '--backend', 'wasm', '--torch'],
    ['lm', '--model', 'huge'],
    ['lm', '--backend', 'wasm', '--torch'],
    ['wasm', '--threads', '0'],
    ['train', '--only', 'cnn'],
  ]) {
    expect(await bench(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('usage: pnpm bench') as string,
    });
  }
  expect(await bench('cpu', '--case', '4097')).toMatchObject({
    code: 3,
    stderr: 'no case here has that op and name\n',
  });
  expect(await bench('report', '/nowhere')).toMatchObject({ code: 3 });
  expect(await bench('webgpu', '--limit', '/nowhere.jsonl')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no such file or directory.*nowhere\.jsonl/) as string,
  });
});

it('README.md has what the committed results say', async () => {
  expect(await bench('report', '--check')).toMatchObject({ code: 0, stderr: '' });
});

// On a machine that has neither a software device nor a GPU there is nothing to run on.
const hasDevice = DEVICE === 'none' || readyDevice(DEVICE as Device) !== undefined;
const device = ['--device', DEVICE === 'none' ? 'system' : DEVICE];

it.skipIf(!hasDevice)('webgpu: every peer runs and is right', async () => {
  const out = folder();
  const { code, stdout } = await bench('webgpu', '--quick', '--out', out, ...device);
  const [arena = ''] = readdirSync(out);
  const { results, idle, failed } = outcomeOf(out, arena);
  expect({ idle, failed, code }).toEqual({ idle: [], failed: [], code: 0 });
  expect(stdout).toContain('### Cost of a tiny op');
  const peers = results.contestants.filter(({ role, absent }) => role === 'peer' && absent === undefined);
  expect(peers.map(({ name }) => name)).toEqual(['jax-js', 'tfjs webgpu', 'onnxruntime webgpu']);
});

// Built by `npm test`. Peers that a machine lacks are named and left out.
it.skipIf(readyDriver() === undefined)('level-zero: every case is right', async () => {
  const out = folder();
  const { code, stdout } = await bench('level-zero', '--quick', '--out', out);
  const { idle, failed } = outcomeOf(out, 'level-zero-cpu');
  expect({ idle, failed, code }).toEqual({ idle: [], failed: [], code: 0 });
  expect(stdout).toContain('### Cost of a tiny op');
});

it.skipIf(!hasDevice)('gpt: a tiny model, right on ours and on the peers', async () => {
  const out = folder();
  const { code, stdout } = await bench('gpt', '--size', 'tiny', '--out', out, ...device);
  const [arena = ''] = readdirSync(out);
  const { contestants, cases } = loadResults(pathToFileURL(`${out}/${arena}/`), 'gpt.json');
  const failed = cases.flatMap(({ entries }) => entries.filter((entry) => entry.failed !== undefined));
  expect({ failed, code }).toEqual({ failed: [], code: 0 });
  expect(contestants[0]).not.toHaveProperty('remark'); // compared with the reference
  expect(cases).toHaveLength(10);
  const peers = contestants.filter(({ role, absent }) => role === 'peer' && absent === undefined);
  expect(peers.map(({ name }) => name)).toEqual(['onnxruntime webgpu']);
  // A peer lacks what only ours can, and nothing else.
  for (const { case: name, entries } of cases) {
    const lacking = entries.filter(({ lacks }) => lacks !== undefined).map((entry) => entry.name);
    expect([name, lacking]).toEqual([name, name.includes(' from ') ? ['onnxruntime webgpu'] : []]);
  }
  expect(stdout).toContain(readFileSync(join(out, arena, 'gpt.md'), 'utf8').trim());
});

it.skipIf(!hasDevice)('train: steps of tiny networks lessen their losses', async () => {
  const { code, stdout } = await bench('train', '--size', 'tiny', '--only', 'mlp,gpt', '--json', ...device);
  expect(code).toBe(0);
  const cases = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Results['cases'][number]);
  const names = cases.map(({ op, case: name }) => `${op} ${name}\n`).join('');
  expect(names).toBe('train_mlp f32 8x12-16-16-10\ntrain_gpt f32 2x16\n');
  // Their losses are compared with ours.
  const timed = cases[0]?.entries.filter(({ ms }) => ms !== undefined).map(({ name }) => name);
  expect(timed).toEqual(['concord', 'jax-js', 'tfjs webgpu']);
  const script = join(import.meta.dirname, '../limits/torch_train.py');
  const { stdout: theirs, error } = spawnSync('python3', [script, '--size', 'tiny', '--only', 'mlp,gpt', '--list']);
  if (error === undefined) expect(theirs.toString()).toBe(names);
});
