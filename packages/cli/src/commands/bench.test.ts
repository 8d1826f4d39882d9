import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackendError, type BinaryCall, type ReduceCall } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { IdleBackend, missing, run, working } from '../../test/fakes.ts';
import type { BenchJson } from '../bench/bench-json.ts';

// What the runner of these tests is told is not for the commands in them.
beforeEach(() => vi.stubEnv('CONCORD_BACKEND', ''));
afterEach(() => vi.unstubAllEnvs());

const quick = ['bench', '--size', 'small', '--seconds', '0.001'];
const two = [working('fast'), missing('webgpu'), working('cpu')];

test('measures every backend that is there, and sets them side by side', async () => {
  const { code, stdout, stderr } = await run([...quick, '--op', 'binary,reduce'], two);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^3 cases: fast on fast device, cpu on cpu device$/m);
  expect(stdout).toMatch(/^binary\/elements\/add-65536 on cpu: [\d.,]+ GB\/s \(6\/6, about 1 s left\)$/m);
  expect(stdout).toMatch(/^binary +GB\/s +10-90 % +to fast +first call$/m);
  expect(stdout).toMatch(/^add +fast +[\d.,]+ +[\d.,]+ - [\d.,]+ +[\d.,]+ m?s\n {5,}cpu .* [\d.]+x +[\d.,]+ m?s$/m);
  expect(stdout).toMatch(/^All results are right \(3 cases, .+\)$/m);
  expect(stderr).toContain('not run: webgpu: no adapter was found');
});

test('has a narrower table for one backend', async () => {
  const { stdout } = await run([...quick, '--op', 'unary', '--backend', 'cpu'], two);
  expect(stdout).toMatch(/^unary +GB\/s +10-90 % +first call\nrelu +[\d.,]+ +[\d.,]+ - [\d.,]+ +[\d.,]+ m?s$/m);
});

test('marks a wrong result, and fails', async () => {
  const { code, stdout } = await run([...quick, '--op', 'reduce'], [working('idle', {}, IdleBackend), working('cpu')]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^sum of all +idle +WRONG\n {5,}cpu +[\d.,]+ /m);
  expect(stdout).toMatch(/^sum of all on idle WRONG: entry 0 is NaN, want [\d.]+$/m);
  expect(stdout).toMatch(/^A result is wrong or an op failed/m);
});

test('goes on after an error, but not on an object that is broken', async () => {
  class Lost extends CpuBackend {
    override reduce(_: ReduceCall): void {
      throw new BackendError('DEVICE_LOST', 'it fell off');
    }
  }
  const { code, stdout } = await run([...quick, '--op', 'reduce,binary'], [working('lost', {}, Lost), working('cpu')]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^sum of all on lost failed: .*it fell off/m);
  expect(stdout).toMatch(/^maximum of rows on lost skipped: after ".*it fell off"$/m);
  expect(stdout).toMatch(/^add on lost skipped: after/m);
  expect(stdout).toMatch(/^add +lost +skipped\n {5,}cpu +[\d.,]+/m);
});

test('does not begin what would take too long', async () => {
  const args = ['bench', '--seconds', '0.0001', '--op', 'reduce', '--backend', 'cpu'];
  const { code, stdout } = await run(args, two);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^sum of 16M on cpu skipped: one call would take .+ at [\d.]+ GB\/s; --seconds \d+ would allow it$/m,
  );
});

describe('backends that are not there', () => {
  test.each([
    ['named beside another', ['--backend', 'cpu,webgpu'], 3],
    ['named alone', ['--backend', 'webgpu'], 3],
  ])('%s', async (_, args, want) => {
    const { code, stderr } = await run([...quick, '--op', 'binary', ...args], two);
    expect(code).toBe(want);
    expect(stderr.match(/not run: webgpu/g)).toHaveLength(1);
  });

  test('none at all, or one that is required', async () => {
    expect((await run(quick, [missing('webgpu')])).code).toBe(3);
    vi.stubEnv('CONCORD_REQUIRE', 'webgpu');
    const { code, stderr } = await run([...quick, '--op', 'binary'], two);
    expect(code).toBe(1);
    expect(stderr).toContain('CONCORD_REQUIRE asks for it');
  });

  test('one that breaks is a failure, and the others are measured', async () => {
    class Broken extends CpuBackend {
      override init(): Promise<void> {
        return Promise.reject(new Error('a segment is missing'));
      }
    }
    const { code, stdout, stderr } = await run([...quick, '--op', 'binary'], [working('broken', {}, Broken), ...two]);
    expect(code).toBe(1);
    expect(stderr).toContain('broken: a segment is missing');
    expect(stdout).toContain('All results are right');
  });

  test('CONCORD_BACKEND restricts what is measured', async () => {
    vi.stubEnv('CONCORD_BACKEND', 'cpu');
    const { code, stdout, stderr } = await run([...quick, '--op', 'binary'], two);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^1 case: cpu on cpu device$/m);
  });
});

test('Ctrl-C ends it, and what was measured is printed and written', async () => {
  const controller = new AbortController();
  class Interrupted extends CpuBackend {
    override binary(call: BinaryCall): void {
      super.binary(call);
      controller.abort();
    }
  }
  const args = [...quick, '--op', 'reduce,binary', '--json', '-'];
  const { code, stdout, stderr } = await run(args, [working('cpu', {}, Interrupted)], controller);
  expect(code).toBe(130);
  expect(stderr).toMatch(/^sum of all .*^Interrupted: only a part was measured \(2 cases, /ms);
  const written = JSON.parse(stdout) as BenchJson;
  expect(written.interrupted).toBe(true);
  expect(written.cases.map(({ op }) => op)).toEqual(['reduce', 'reduce']);
});

test('draws a bar with the time that is left on a terminal', async () => {
  let drawn = '';
  const write = (text: string): number => (drawn += text).length;
  const { runProgram } = await import('../program.ts');
  const terminal = {
    write,
    isTTY: true,
    columns: 100,
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
  };
  await runProgram([...quick, '--op', 'binary'], {
    ...{
      loadProviders: () => Promise.resolve([working('cpu')]),
      stdout: { write: () => undefined },
      stderr: Object.assign(terminal, { on: () => terminal }),
    },
    signal: new AbortController().signal,
  });
  expect(drawn).toMatch(/binary on cpu, about \d+ s left/);
});

describe('writes', () => {
  test('JSON with all rounds', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'concord-bench-'));
    const json = join(folder, 'bench.json');
    await run([...quick, '--op', 'gemm', '--json', json], two);
    const written = JSON.parse(await readFile(json, 'utf8')) as BenchJson;
    await rm(folder, { recursive: true });
    expect(written).toMatchObject({ interrupted: false, size: 'small', op: 'gemm', method: { seconds: 0.001 } });
    expect(written.backends.map(({ backend, device }) => [backend, device === null])).toEqual([
      ['fast', false],
      ['webgpu', true],
      ['cpu', false],
    ]);
    const [first, second] = written.cases[0]?.results ?? [];
    expect(first).not.toHaveProperty('ratio');
    const { flops } = written.cases[0] ?? { flops: 0 };
    expect(first?.speed?.median).toBeCloseTo(flops / 1e9 / (first?.seconds?.median ?? 0), 6);
    expect(second?.ratio).toBeCloseTo((second?.speed?.median ?? 0) / (first?.speed?.median ?? 0), 6);
  });

  test('only where it can', async () => {
    expect((await run([...quick, '--json', '/nowhere/at/all.json'], two)).code).toBe(2);
  });
});

test.each([
  ['--op', 'gemv', /There are: gemm, .*memory/],
  ['--size', 'huge', /small, real/],
  ['--seconds', '0', /above 0/],
  ['--backend', 'gpu', /no backend "gpu"/],
])('%s %s is a wrong argument', async (option, value, message) => {
  const { code, stderr } = await run(['bench', option, value], two);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
