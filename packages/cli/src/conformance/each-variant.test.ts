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

/** Two ways to reduce, and one that hides behind them; the second may be wrong, or excluded. */
class VariantBackend extends CpuBackend {
  static isWrong = false;
  static isExcluded = false;
  readonly #runs: Record<string, number> = {};

  override reduce(call: Parameters<CpuBackend['reduce']>[0]): void {
    const forced = this.variants().forced;
    const id =
      ['reduce/rows-a', 'reduce/rows-b', 'reduce/columns'].find((each) => forced.includes(each) && this.#works(each)) ??
      'reduce/rows-a';
    this.#runs[id] = (this.#runs[id] ?? 0) + 1;
    if (id !== 'reduce/rows-b' || !VariantBackend.isWrong) super.reduce(call);
  }

  variants() {
    const forced = (process.env['CONCORD_VARIANT'] ?? '').split(',').filter((id) => id !== '');
    const why = { reason: 'kernel reduce/rows-b f32 does not build', log: 'error: line 1' };
    const excluded =
      VariantBackend.isExcluded && forced.includes('reduce/rows-b') ? [{ id: 'reduce/rows-b', ...why }] : [];
    return { runs: this.#runs, candidates: ['reduce/rows-a', 'reduce/rows-b', 'reduce/columns'], forced, excluded };
  }

  #works(id: string): boolean {
    return id !== 'reduce/rows-b' || !VariantBackend.isExcluded;
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
  expect(stdout).toContain('forced, round 1 of 2: reduce/rows-a, reduce/columns');
  expect(stdout).toContain('forced, round 2 of 2: reduce/rows-b');
  // The first of round 1 left nothing for the other.
  expect(stdout).toMatch(/passed; others were taken before reduce\/columns: some/);
  expect(stdout).not.toContain('never ran');
  expect(stdout).toContain('forced by itself, 1 of 1: reduce/columns');
  expect(stdout).toContain('3 variants: passed, each forced');
});

test('--each-variant fails with the variant that is wrong, and the report names it', async () => {
  VariantBackend.isWrong = true;
  const { code, stdout, stderr } = await each('--json', '-');
  expect(code).toBe(1);
  const report = JSON.parse(stdout) as {
    cases: { id: string; status: string }[];
    variantFailures: { id: string; forced: string[] }[];
    variants: { neverRan: string[] };
  };
  expect(new Set(report.cases.map(({ id }) => id)).size).toBe(report.cases.length);
  expect(report.cases.every(({ status }) => status === 'passed')).toBe(true);
  expect(report.variantFailures.length).toBeGreaterThan(0);
  for (const { forced } of report.variantFailures) expect(forced).toEqual(['reduce/rows-b']);
  expect(report.variants.neverRan).toEqual([]);
  const again = `CONCORD_VARIANT='reduce/rows-b' npx concord conformance --backend some --filter '`;
  expect(stderr).toContain(again);
});

test('--each-variant keeps what fails without any forced', async () => {
  class WrongBackend extends VariantBackend {
    override reduce(): void {
      this.variants();
    }

    override variants() {
      return { ...super.variants(), runs: { 'reduce/rows-a': 1, 'reduce/rows-b': 1, 'reduce/columns': 1 } };
    }
  }
  const args = ['conformance', '--backend', 'some', '--filter', 'reduce/**', '--sample', '0.05', '--each-variant'];
  const { code, stdout } = await run([...args, '--json', '-'], [working('some', {}, WrongBackend)]);
  expect(code).toBe(1);
  const { cases, variantFailures } = JSON.parse(stdout) as { cases: { status: string }[]; variantFailures: unknown[] };
  const failed = cases.filter(({ status }) => status === 'failed').length;
  expect(failed).toBeGreaterThan(0);
  expect(variantFailures.length).toBe(2 * failed);
});

test('several backends: the table shows what the variants add', async () => {
  VariantBackend.isWrong = true;
  const { stdout } = await run(
    ['conformance', '--backend', 'some,plain', '--filter', 'reduce/**', '--sample', '0.05', '--each-variant'],
    [working('some', {}, VariantBackend), working('plain')],
  );
  expect(stdout).toMatch(/\d+ failed with variants forced/);
  expect(stdout).toContain('plain: no kernel variants to force');
});

test('CONCORD_VARIANT is checked before anything runs', async () => {
  vi.stubEnv('CONCORD_VARIANT', 'gemm/tiled-9x9');
  const { code, stderr } = await run(['conformance', '--backend', 'plain'], [working('plain')]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/no kernel variant is called "gemm\/tiled-9x9"/);
  expect(stderr).toMatch(/hint: there are gemm\//);
});

test('a backend without variants says that nothing is forced', async () => {
  vi.stubEnv('CONCORD_VARIANT', 'gemm/*');
  const { stdout } = await run(
    ['conformance', '--backend', 'plain', '--filter', 'reduce/exact/**', '--sample', '0.1'],
    [working('plain')],
  );
  expect(stdout).toContain('plain has no kernel variants to force');
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

test('a variant that does not build on the device never ran, and the report says why', async () => {
  Object.assign(VariantBackend, { isWrong: false, isExcluded: true });
  const { code, stdout, stderr } = await each('--json', '-');
  expect(code).toBe(1);
  expect(stderr).toContain(
    'Excluded on this device:\n  reduce/rows-b: kernel reduce/rows-b f32 does not build\n    error: line 1',
  );
  expect(stderr).toContain('forced, but never ran: reduce/rows-b (excluded: kernel reduce/rows-b f32 does not build)');
  expect(JSON.parse(stdout)).toMatchObject({
    variants: { neverRan: ['reduce/rows-b'], excluded: [{ id: 'reduce/rows-b', log: 'error: line 1' }] },
  });
  VariantBackend.isExcluded = false;
});
