import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, describe, expect, it } from 'vitest';
import { allCases, type ConformanceCase, runCase } from '../src/index.ts';
import { type Mutant, MUTANTS } from './mutants/index.ts';

/** A case that is still running after this has hung: on a real backend the whole run would. */
const HANGS_AFTER_MS = 20_000;

/** For a mutant that survives many cases, or all of them. */
const TIMEOUT_MS = 600_000;

const COSTLY = new Set(['m', 'n', 'k', 'batch', 'heads', 'seqQ', 'seqKv', 'headDim', 'input', 'filter', 'shape']);

/** About as many steps as a case takes: what is cheap is tried first. */
function cost({ id, params }: ConformanceCase): number {
  if (/\/sequence\/|^memory\/in flight/.test(id)) return 20_000;
  return Object.entries(params)
    .filter(([name]) => COSTLY.has(name))
    .flatMap(([, value]) => value)
    .reduce<number>((product, size) => product * (typeof size === 'number' && size > 0 ? size : 1), 1);
}

/** The cases outside `fixed/`, the cheap ones first. A mutant that only a fixed case kills counts as alive. */
const CASES: readonly ConformanceCase[] = allCases()
  .filter(({ id }) => !id.startsWith('fixed/'))
  .sort((x, y) => cost(x) - cost(y));

/** All of them, or each eighth: CI tries others each day. */
const turn = process.env['CONCORD_TEST_TURN'];
const TRIED = MUTANTS.filter((_, i) => !turn || i % 8 === Number(turn) - 1);

interface Kill {
  readonly id: string;
  readonly detail: string;
}

/** The first case that fails, or undefined when the mutant survives. */
async function findKiller({ ops, within = /./, wrap }: Mutant): Promise<Kill | undefined> {
  const create = (): ReturnType<typeof wrap> => wrap(new CpuBackend());
  const inner = new CpuBackend();
  const backend = wrap(inner);
  await backend.init();
  try {
    for (const testCase of CASES) {
      if (!ops.includes(testCase.op) || !within.test(testCase.id)) continue;
      const result = await orHang(runCase(testCase, backend, create), testCase.id);
      if (result.status !== 'passed') return { id: result.id, detail: result.detail ?? result.status };
    }
    return undefined;
  } finally {
    await inner.dispose();
  }
}

async function orHang<T>(work: Promise<T>, id: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${id} hangs`)), HANGS_AFTER_MS);
  });
  try {
    return await Promise.race([work, hang]);
  } finally {
    clearTimeout(timer);
  }
}

describe('mutants', () => {
  const killed = new Map<string, Kill>();
  // Prints which case killed each mutant, and what it said.
  const isVerbose = process.env['MUTANTS_VERBOSE'] === '1';

  it.each(TRIED.map((mutant) => [mutant.name, mutant] as const))(
    '%s',
    async (name, mutant) => {
      const killer = await findKiller(mutant);
      if (killer === undefined) expect.fail(`the mutant "${name}" survives every case of ${mutant.ops.join(', ')}`);
      killed.set(name, killer);
    },
    TIMEOUT_MS,
  );

  it('have distinct names, and there are enough of them', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.length).toBeGreaterThanOrEqual(200);
    expect(MUTANTS.filter(({ ops }) => ops.includes('run')).length).toBeGreaterThanOrEqual(100);
  });

  // The control. The backend's own tests run all cases on it.
  it(
    'are killed by cases that leave the unwrapped backend alive',
    async () => {
      const ids = new Set([...killed.values()].map(({ id }) => id));
      const backend = new CpuBackend();
      await backend.init();
      for (const testCase of CASES.filter(({ id }) => ids.has(id))) {
        const { id, status, detail } = await runCase(testCase, backend, () => new CpuBackend());
        expect({ id, status, detail }).toEqual({ id, status: 'passed', detail: undefined });
      }
      await backend.dispose();
    },
    TIMEOUT_MS,
  );

  afterAll(() => {
    const lines = [...killed].map(([name, { id, detail }]) => `${name}\n    by ${id}\n    ${detail.split('\n')[0]}`);
    if (isVerbose) console.log(lines.join('\n'));
    console.log(`mutants: ${killed.size} of ${TRIED.length} killed`);
  });
});
