import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Explanation } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel, type Kernel, kernelFromJson, type RunShape } from '@concord/backend-core/kernel';
import { afterAll, describe, expect, test } from 'vitest';
import { missing, run, working } from '../../test/fakes.ts';
import type { KernelJson } from './kernel.ts';

const FIXTURES = join(import.meta.dirname, '../../test/fixtures');
const [SEVERAL, ONE] = [join(FIXTURES, 'kernels.fixture.ts'), join(FIXTURES, 'one-kernel.fixture.ts')];

const CLIP = defineKernel('clip', { inputs: { input: 'f32' } }, ({ input }, k) => ({ output: k.max(input, 0) }));

const folder = mkdtempSync(join(tmpdir(), 'concord-kernel-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Says how it would compute anything. */
class ExplainingBackend extends CpuBackend {
  explain({ name }: Kernel, { shape }: Omit<RunShape, 'kernel'>): Explanation {
    const pass = { variant: 'run/map', summary: `${name} over ${shape.join(' x ')}`, language: 'wgsl' };
    return {
      passes: [
        { ...pass, code: 'fn main() {}\n' },
        { ...pass, variant: 'run/rows', code: 'fn rows() {}' },
      ],
    };
  }
}

const cpu = working('cpu');
const all = [missing('level-zero'), working('explaining', {}, ExplainingBackend), cpu];
const kernel = (...args: readonly string[]) => run(['kernel', ...args], all);

describe('the graph of a kernel', () => {
  test('as a table, with what it declares and folds', async () => {
    const { code, stdout, stderr } = await kernel(SEVERAL, '--export', 'softmax');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatchInlineSnapshot(`
      "softmax
      inputs   x: f32 of each element
      outputs  y: f32 of each element, node 5
      folds    2 folds in 2 stages; a call says which axes: folded

      node  op        type  level    operands  label
         0  input x   f32   element
         1  fold max  f32   row      0
         2  sub       f32   element  0 1
         3  exp       f32   element  2         shifted
         4  fold sum  f32   row      3
         5  div       f32   element  3 4
      "
    `);
  });

  test('with parameters, gathers and constants', async () => {
    const { stdout } = await kernel(SEVERAL, '--export', 'lookup');
    expect(stdout).toMatch(
      /^rows of a table {2}\(export lookup\)\ninputs {3}places: u32 of each element, table: f32, gathered from 2 axes\n/,
    );
    expect(stdout).toMatch(/^params {3}scale: f32$/m);
    expect(stdout).toMatch(/^folds {4}none$/m);
    for (const op of ['constant -0', 'index -1', 'gather table', 'parameter scale']) expect(stdout).toContain(op);
  });

  test('is that of the default export, or of all exports that are kernels', async () => {
    expect((await kernel(ONE)).stdout).toMatch(/^clip {2}\(export default\)\n/);
    writeFileSync(join(folder, 'two.mjs'), `export const a = ${JSON.stringify(CLIP)}; export const b = a, c = 5;`);
    const { stdout } = await kernel(join(folder, 'two.mjs'));
    expect(stdout.match(/^clip {2}\(export [ab]\)$/gm)).toHaveLength(2);
  });

  test('is read from JSON', async () => {
    const file = join(folder, 'clip.json');
    writeFileSync(file, JSON.stringify(CLIP));
    expect((await kernel(file)).stdout).toMatch(/^clip\ninputs {3}input: f32 of each element$/m);
    const { kernels } = JSON.parse((await kernel(file, '--json')).stdout) as KernelJson;
    expect(kernels).toMatchObject([{ export: null, folds: 0, stages: 0 }]);
    expect(kernelFromJson(kernels[0]?.kernel)).toEqual(CLIP);
    expect(kernels[0]).not.toHaveProperty('explanations');
  });
});

describe('a call', () => {
  test('is explained by every backend, or there is said why not', async () => {
    const { code, stdout } = await kernel(ONE, '--shape', '8,12');
    expect(code).toBe(0);
    expect(stdout).toContain('level-zero  not here: no adapter was found\n  hint: install a driver\n');
    expect(stdout).toContain(
      'explaining on explaining device  runs it in 2 passes\n\n1. run/map: clip over 8 x 12\nwgsl\nfn main() {}\n\n2. run/rows',
    );
    expect(stdout).toContain('cpu on cpu device  runs it; this backend does not explain how\n');
  });

  test('of those that --backend names', async () => {
    const { stdout } = await kernel(ONE, '--shape', '8', '--backend', 'cpu', '--json');
    const { kernels } = JSON.parse(stdout) as KernelJson;
    expect(kernels[0]?.explanations).toEqual([
      { backend: 'cpu', device: 'cpu device', status: 'supported', passes: null },
    ]);
  });

  test('that a backend does not run comes with its reason', async () => {
    const { code, stdout } = await kernel(SEVERAL, '--export', 'softmax', '--shape', '8', '--backend', 'cpu');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'cpu on cpu device  does not run it: kernel softmax has values of rows: folded must say how',
    );
    const folded = await kernel(
      SEVERAL,
      '--export',
      'softmax',
      '--shape',
      '4,8',
      '--folded',
      '1',
      '--backend',
      'explaining',
      '--json',
    );
    const [explanation] = (JSON.parse(folded.stdout) as KernelJson).kernels[0]?.explanations ?? [];
    expect(JSON.stringify(explanation)).not.toContain('folded must');
  });

  test('has the shapes of gather inputs', async () => {
    const args = ['--export', 'lookup', '--shape', '4,64', '--backend', 'cpu', '--json'];
    const reasonOf = async (...more: readonly string[]): Promise<string> =>
      JSON.stringify(
        (JSON.parse((await kernel(SEVERAL, ...args, ...more)).stdout) as KernelJson).kernels[0]?.explanations,
      );
    expect(await reasonOf()).toContain('the shape of input table must be an array of integers');
    expect(await reasonOf('--gather', 'table=50')).toContain('the shape of input table must have 2 axes');
    expect(await reasonOf('--gather', 'table=50,64')).not.toContain('the shape of input');
  });

  test('of one point has an empty shape', async () => {
    const { stdout } = await kernel(ONE, '--shape', '', '--backend', 'explaining');
    expect(stdout).toContain('clip over ');
  });

  test('that no backend here could run ends with 3', async () => {
    const { code } = await run(['kernel', ONE, '--shape', '8'], [missing('webgpu')]);
    expect(code).toBe(3);
  });
});

test.each<[string, (json: { nodes: unknown[] }, deep: unknown) => unknown, string]>([
  ['a list of lists', (_, deep) => deep, 'a kernel must hold a list, got undefined'],
  ['lists in a node', (json, deep) => ({ ...json, nodes: [{ kind: deep }] }), 'must be a text or a number'],
  ['a million nodes', (json) => ({ ...json, nodes: Array(1e6).fill(json.nodes[0]) }), 'exceed the limit of 256'],
])('JSON that is deep or long is a wrong argument: %s', async (_, change, message) => {
  const file = join(folder, 'hostile.json');
  const depth = 100_000;
  const text = JSON.stringify(change(JSON.parse(JSON.stringify(CLIP)) as { nodes: unknown[] }, 'deep'));
  writeFileSync(file, text.replace('"deep"', '['.repeat(depth) + ']'.repeat(depth)));
  const { code, stderr } = await kernel(file);
  expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 2 });
  expect(stderr).toContain(message);
});

test.each<[string, readonly string[], string]>([
  ['no file', [join(folder, 'none.js')], 'CANNOT_LOAD'],
  ['no JSON', [join(folder, 'none.json')], 'CANNOT_LOAD'],
  ['an export that is no kernel', [SEVERAL, '--export', 'number'], 'INVALID_ARGUMENT'],
  ['an export that is a broken one', [SEVERAL, '--export', 'broken'], 'INVALID_ARGUMENT'],
  ['an export that is not there', [SEVERAL, '--export', 'sofmax'], 'INVALID_ARGUMENT'],
  ['a module without kernels', [join(FIXTURES, 'backends.fixture.ts')], 'INVALID_ARGUMENT'],
  ['an export of JSON', [join(folder, 'clip.json'), '--export', 'x'], 'INVALID_ARGUMENT'],
  ['a backend without a shape', [ONE, '--backend', 'cpu'], 'INVALID_ARGUMENT'],
  ['a backend that is not there', [ONE, '--shape', '8', '--backend', 'gpu'], 'INVALID_ARGUMENT'],
  ['a shape that is none', [ONE, '--shape', '8,x'], 'USAGE'],
  ['a gather without a shape', [ONE, '--shape', '8', '--gather', 'table'], 'USAGE'],
  ['nothing', [], 'USAGE'],
])('%s is a wrong argument', async (_, args, code) => {
  const ended = await kernel(...args);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(`(${code})`);
});
