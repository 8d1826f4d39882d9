import { CpuBackend } from '@concord/backend-cpu';
import { describe, expect, it } from 'vitest';
import { findCase, runConformance, runFuzz } from '../src/index.ts';
import { drawnPlan } from '../src/run/drawn.ts';
import type { RunParams } from '../src/run/plan.ts';
import { MUTANTS } from './mutants/index.ts';

const mutant = (name: string) => {
  const found = MUTANTS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no mutant "${name}"`);
  return () => found.wrap(new CpuBackend());
};

describe('runFuzz', () => {
  it('finds a bug, makes it small, and prints an id that replays to the same failure', async () => {
    const create = mutant('gemm: ldc ignored');
    const { failures, seed, tried } = await runFuzz(create, { count: 40, seed: 7, ops: ['gemm'] });
    expect({ seed, tried }).toEqual({ seed: 7, tried: 40 });
    expect(failures.length).toBeGreaterThan(0);
    for (const { id, detail, shrunkFrom } of failures) {
      expect(findCase(shrunkFrom)).toBeDefined();
      const params = findCase(id)?.params as { m: number; n: number; padC: number };
      // Two rows with a gap between them are the minimum that shows it.
      expect(params, id).toMatchObject({ m: 2, n: 1 });
      expect(params.padC).toBeGreaterThan(0);
      const replay = await runConformance(create, { filter: id });
      expect(replay.cases).toMatchObject([{ id, status: 'failed', detail }]);
      expect((await runConformance(() => new CpuBackend(), { filter: id })).ok).toBe(true);
    }
  });

  it('finds a bug of run, and makes its kernel and its domain small', async () => {
    const create = mutant('run: strides of inputs ignored');
    const { failures } = await runFuzz(create, { count: 40, seed: 5, ops: ['run'] });
    // Those of 4 bits are made smaller by rules of their own, of written kernels.
    const drawn = failures.filter(({ id }) => !id.startsWith('run/nibbles/'));
    expect(drawn.length).toBeGreaterThan(0);
    for (const { id, detail, shrunkFrom } of drawn) {
      const { params } = findCase(id) ?? {};
      expect(params, `${id} from ${shrunkFrom}`).toMatchObject({ dtype: 'own', offset: 0 });
      const { kernel, shape } = drawnPlan(params as RunParams);
      expect(kernel.nodes.length, id).toBeLessThanOrEqual(8);
      expect(
        shape.reduce((product, size) => product * size, 1),
        id,
      ).toBeLessThanOrEqual(16);
      expect(detail).toMatch(/^output y\d .* of kernel drawn over /);
      const replay = await runConformance(create, { filter: id });
      expect(replay.cases).toMatchObject([{ id, status: 'failed', detail }]);
      expect((await runConformance(() => new CpuBackend(), { filter: id })).ok).toBe(true);
    }
  });

  it('draws the same cases from the same seed', async () => {
    const create = mutant('reduce: mean divided twice');
    const options = { count: 60, seed: 3, ops: ['reduce'] } as const;
    const [first, second] = [await runFuzz(create, options), await runFuzz(create, options)];
    expect(first.failures.length).toBeGreaterThan(0);
    expect(second.failures).toEqual(first.failures);
    expect((await runFuzz(create, { ...options, seed: 4 })).failures).not.toEqual(first.failures);
  });

  it('finds nothing in the CPU backend, whichever the op', async () => {
    const { backend, failures, tried } = await runFuzz(() => new CpuBackend(), { count: 150, seed: 11 });
    expect(failures).toEqual([]);
    expect({ backend, tried }).toEqual({ backend: 'cpu', tried: 150 });
  });

  it('ends at a signal and after its seconds', async () => {
    const controller = new AbortController();
    const aborted = await runFuzz(() => new CpuBackend(), {
      count: 1000,
      seed: 1,
      ops: ['unary'],
      signal: controller.signal,
      onProgress: ({ tried }) => tried === 5 && controller.abort(),
    });
    expect(aborted).toMatchObject({ tried: 5, stopped: 'aborted' });
    const timed = await runFuzz(() => new CpuBackend(), { seconds: 0.2, seed: 1, ops: ['unary'] });
    expect(timed.stopped).toBe('time');
  });

  it('says why it ended', async () => {
    const counted = await runFuzz(() => new CpuBackend(), { count: 2, seed: 1, ops: ['unary'] });
    expect(counted).toMatchObject({ tried: 2, stopped: 'count' });
    expect(await runFuzz(() => new CpuBackend(), { ops: [] })).toMatchObject({ tried: 0, stopped: 'nothing-to-do' });
    const failing = await runFuzz(mutant('reduce: mean divided twice'), { count: 1000, seed: 3, ops: ['reduce'] });
    expect(failing).toMatchObject({ stopped: 'too-many-failures' });
    expect(failing.failures).toHaveLength(20);
  });
});
