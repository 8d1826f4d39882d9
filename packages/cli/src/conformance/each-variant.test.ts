import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, expect, test, vi } from 'vitest';
import { run, working } from '../../test/fakes.ts';
import { roundsOf, whileForced } from './each-variant.ts';

afterEach(() => vi.unstubAllEnvs());

test('every candidate is in one round, and none with another of its kind', () => {
  const candidates = [
    'gemm/tiled-64x64',
    'gemm/tiled-32x32',
    'gemm/matvec-8x32',
    'reduce/rows-lane',
    'unary/vec4',
    'unary/vec4x2',
  ];
  expect(roundsOf({ candidates })).toEqual([
    ['gemm/tiled-64x64', 'gemm/matvec-8x32', 'reduce/rows-lane', 'unary/vec4'],
    ['gemm/tiled-32x32', 'unary/vec4x2'],
  ]);
  expect(roundsOf({ candidates: [] })).toEqual([]);
});

test('the environment is as before, also after an error', async () => {
  vi.stubEnv('CONCORD_VARIANT', 'mine');
  await whileForced(['a/b', 'c/d'], async () => expect(process.env['CONCORD_VARIANT']).toBe('a/b,c/d'));
  await expect(whileForced(['a/b'], () => Promise.reject(new Error('stop')))).rejects.toThrow('stop');
  expect(process.env['CONCORD_VARIANT']).toBe('mine');
});

/** Two ways to reduce, and one that hides behind them; the second may be wrong. */
class VariantBackend extends CpuBackend {
  static isWrong = false;
  readonly #runs: Record<string, number> = {};

  override reduce(call: Parameters<CpuBackend['reduce']>[0]): void {
    const forced = this.variants().forced;
    const id =
      ['reduce/rows-a', 'reduce/rows-b', 'reduce/columns'].find((each) => forced.includes(each)) ?? 'reduce/rows-a';
    this.#runs[id] = (this.#runs[id] ?? 0) + 1;
    if (id !== 'reduce/rows-b' || !VariantBackend.isWrong) super.reduce(call);
  }

  variants() {
    const forced = (process.env['CONCORD_VARIANT'] ?? '').split(',').filter((id) => id !== '');
    return { runs: this.#runs, candidates: ['reduce/rows-a', 'reduce/rows-b', 'reduce/columns'], forced };
  }
}

const each = (...args: readonly string[]) =>
  run(
    ['conformance', '--backend', 'some', '--filter', 'reduce/**', '--sample', '0.05', '--each-variant', ...args],
    [working('some', {}, VariantBackend)],
  );

test('--each-variant runs each by itself where it has to', async () => {
  VariantBackend.isWrong = false;
  const { code, stdout } = await each();
  expect(code).toBe(0);
  expect(stdout).toContain('round 1 of 2: reduce/rows-a, reduce/columns');
  expect(stdout).toContain('round 2 of 2: reduce/rows-b');
  // The first of round 1 left nothing for the other.
  expect(stdout).toContain('round 1 of 1: reduce/columns');
  expect(stdout).toContain('3 variants: passed, each forced');
});

test('--each-variant fails with the variant that is wrong, and the report names it', async () => {
  VariantBackend.isWrong = true;
  const { code, stdout } = await each('--json', '-');
  expect(code).toBe(1);
  const report = JSON.parse(stdout) as {
    cases: { status: string; detail?: string }[];
    variants: { neverRan: string[] };
  };
  const failed = report.cases.filter(({ status }) => status === 'failed');
  expect(failed.length).toBeGreaterThan(0);
  for (const { detail } of failed) expect(detail).toMatch(/^with reduce\/rows-b: /);
  expect(report.variants.neverRan).toEqual([]);
});

test('--each-variant is one run for a backend without variants', async () => {
  const args = [
    'conformance',
    '--backend',
    'plain',
    '--filter',
    'reduce/exact/**',
    '--sample',
    '0.1',
    '--each-variant',
  ];
  const { code, stdout } = await run(args, [working('plain')]);
  expect(code).toBe(0);
  expect(stdout).not.toContain('round');
});
