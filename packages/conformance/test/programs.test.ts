import { createHash } from 'node:crypto';
import { type ComputeBackend, toBf16Array, toF16Array } from '@concord/backend-core';
import { kernelFromJson } from '@concord/backend-core/kernel';
import { CpuBackend } from '@concord/backend-cpu';
import { describe, expect, it } from 'vitest';
import { findCase, runCase, runFuzz } from '../src/index.ts';
import { drawProgram } from '../src/programs/draw-program.ts';
import { programText, shrinkProgram } from '../src/programs/program-cases.ts';
import { runProgram, stepsMade } from '../src/programs/run-program.ts';
import { noCounts, type Place } from '../src/programs/step.ts';
import { MUTANTS } from './mutants/index.ts';
import { inFront, type Mutant } from './mutants/mutant.ts';

const bugs: Readonly<Record<string, Mutant['wrap']>> = {
  ...Object.fromEntries(
    MUTANTS.filter(({ name }) =>
      /overtakes|reference to the source|reads later|a plan forgets (m|n|k)$/.test(name),
    ).map(({ name, wrap }) => [name, wrap] as const),
  ),
  'the last bytes of a copy of odd length are left': inFront((backend) => ({
    copyDtod: (to, from, bytes) => backend.copyDtod(to, from, bytes > 4 ? bytes - (bytes % 4) : bytes),
  })),
  'a fill begins at a multiple of 4': inFront((backend) => ({
    fill: (to, value, bytes) => backend.fill((to - (to % 4)) as typeof to, value, bytes),
  })),
  'a replay is left out': inFront((backend) => ({
    record: (work) => ({ ...backend.record(work), replay: () => undefined, dispose: () => undefined }),
  })),
  'a slot has the recorded memory in a replay': inFront((backend) => ({
    record: (...given) => {
      const recording = backend.record(...given);
      return { replay: () => recording.replay(), dispose: () => recording.dispose() };
    },
  })),
};

async function opened(wrap: Mutant['wrap'] = (backend) => backend): Promise<ComputeBackend> {
  const backend = wrap(new CpuBackend());
  await backend.init();
  return backend;
}

/** The first of some programs that a backend gets wrong. */
async function firstFailing(wrap: Mutant['wrap'], programs: number): Promise<number | undefined> {
  const backend = await opened(wrap);
  for (let seed = 1; seed <= programs; seed++) {
    if ((await runProgram(backend, drawProgram(seed))) !== undefined) return seed;
  }
  return undefined;
}

describe('programs', () => {
  it.each(Object.entries(bugs))('find that %s, and are made small', async (_, wrap) => {
    const seed = await firstFailing(wrap, 40);
    expect(seed).toBeDefined();
    // Each program that fails takes a backend with it: a few steps are enough, however slow the machine is.
    const enough = new AbortController();
    let backends = 0;
    const create = (): ComputeBackend => {
      if (++backends === 5) enough.abort();
      return wrap(new CpuBackend());
    };
    const limits = { milliseconds: Infinity, repeats: 1, signal: enough.signal };
    const shrunk = await shrinkProgram(create, drawProgram(seed as number), limits);
    expect(shrunk?.failure.detail).toMatch(/wrong|threw|INVALID_ARGUMENT|unknown handle/);
    expect(shrunk?.program.length).toBeLessThan(drawProgram(seed as number).length);
  });

  it('are the same for a seed, and differ from seed to seed', () => {
    expect(drawProgram(3)).toEqual(drawProgram(3));
    expect(drawProgram(3)).not.toEqual(drawProgram(4));
  });

  it('judge most calls, pass over few steps, and reach every kind', async () => {
    const backend = await opened();
    const counts = noCounts();
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const program = drawProgram(seed);
      for (const step of program) kinds.add(step.do === 'call' ? step.kind : step.do);
      expect(await runProgram(backend, program, counts), `seed ${seed}`).toBeUndefined();
    }
    expect(counts.judged / counts.calls).toBeGreaterThan(0.6);
    expect(counts.skipped).toBeLessThan(counts.calls / 10);
    expect(kinds.size).toBeGreaterThan(15);
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('are programs whatever is left out', async () => {
    const backend = await opened();
    const program = drawProgram(2);
    for (let keep = 2; keep < 6; keep++) {
      const some = program.filter((_, index) => index % keep !== 0);
      expect(await runProgram(backend, some), `all but each ${keep}th`).toBeUndefined();
    }
  });

  it('do not judge what the sign of a zero decides, where that is open', async () => {
    const [input, n] = [{ id: 1, at: 0 }, 21];
    const write = { do: 'write', to: input, bytes: 4 * n, dtype: 'f32', data: 'small', seed: 3, shift: 0 } as const;
    const call = (fn: string, places: readonly Place[]) =>
      ({
        do: 'call',
        kind: 'binary',
        params: { fn, n, inPlace: 'none', offset: 0, together: false, seed: 0 },
        places,
      }) as const;
    const zeros = { id: 2, at: 0 };
    const counts = noCounts();
    const alloc = [1, 2, 3].map((id) => ({ do: 'alloc', id, bytes: 256 }) as const);
    const fill = { do: 'fill', to: zeros, bytes: 4 * n, value: 0 } as const;
    const out = { id: 3, at: 0 };
    const program = [...alloc, write, fill, call('mul', [input, zeros, out]), call('div', [input, out, zeros])];
    expect(await runProgram(await opened(), program, counts)).toBeUndefined();
    expect(counts).toMatchObject({ calls: 2, judged: 1 });
  });

  it('are printed as JavaScript that does the same', async () => {
    for (const seed of [1, 2, 3, 4]) {
      const program = drawProgram(seed);
      const made: string[] = [];
      await runProgram(await opened(telling(made)), program);
      const printed: string[] = [];
      const backend = await opened(telling(printed));
      await runText(backend, programText(stepsMade(backend, program)));
      expect(printed.length).toBeGreaterThan(1);
      // The run reads what the text does, and more: results that are judged, and all memory at its end.
      let at = 0;
      for (const each of made) if (each === printed[at]) at++;
      expect(printed.slice(at), `seed ${seed}`).toEqual([]);
    }
  });

  it('are fuzzed, and replayed by the id that a fuzz run prints', async () => {
    const create = (): ComputeBackend => (bugs['a fill begins at a multiple of 4'] as Mutant['wrap'])(new CpuBackend());
    const report = await runFuzz(create, { count: 12, seed: 1, programs: true });
    expect(report.programs?.calls).toBeGreaterThan(10);
    const [failure] = report.failures;
    expect(failure?.id).toMatch(/^program\/seed=\d+$/);
    expect(failure?.detail).toContain('backend.fill(');
    const testCase = findCase(failure?.id as string);
    const backend = await opened();
    expect(await runCase(testCase as NonNullable<typeof testCase>, backend, create)).toMatchObject({
      status: 'passed',
    });
  });
});

/** Memory that is given out holds zeros, and each read is told. */
const telling = (told: string[]): Mutant['wrap'] =>
  inFront((backend) => ({
    alloc: (bytes, options) => {
      const ptr = backend.alloc(bytes, options);
      backend.fill(ptr, 0, bytes);
      return ptr;
    },
    copyDtoh: async (dst, src, options) => {
      const place = told.push('') - 1;
      await backend.copyDtoh(dst, src, options);
      const bytes = new Uint8Array(dst.buffer, dst.byteOffset, dst.byteLength);
      told[place] = `${bytes.length} bytes: ${createHash('sha256').update(bytes).digest('hex')}`;
    },
  }));

/** Runs the text of a program as an async function. */
async function runText(backend: ComputeBackend, text: string): Promise<void> {
  const given = { backend, kernelFromJson, toF16Array, toBf16Array };
  const body = `return (async () => {\n${text.replaceAll(/^import .*$/gm, '')}\n})();`;
  // oxlint-disable-next-line no-implied-eval -- the text is what is tested
  const make = Function(...Object.keys(given), body) as (...values: unknown[]) => Promise<void>;
  await make(...Object.values(given));
}
