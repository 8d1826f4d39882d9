import type { ComputeBackend } from '@concord/backend-core';
import type { BackendFactory } from '../run-case.ts';
import { planOf, PROGRAM_CALLS } from './program-calls.ts';
import { type ProgramFailure, runProgram } from './run-program.ts';
import type { Program, RecordableStep, Step } from './step.ts';

/** A smaller program that still fails, and how. */
export interface ShrunkProgram {
  readonly program: Program;
  readonly failure: ProgramFailure;
}

/** The limits of shrinking. */
export interface ShrinkLimits {
  readonly milliseconds: number;
  /** Times that a program is run before it counts as right: what depends on timing does not fail each time. */
  readonly repeats: number;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_LIMITS: ShrinkLimits = { milliseconds: 15_000, repeats: 4 };

/**
 * Leaves out what a failing program does not need, then makes its calls and lengths smaller, on backend objects of its own.
 *
 * @param create - makes a backend object; it is not initialized yet
 * @returns the smallest program that failed; undefined where the program itself did not fail again
 */
export async function shrinkProgram(
  create: BackendFactory,
  program: Program,
  limits: ShrinkLimits = DEFAULT_LIMITS,
): Promise<ShrunkProgram | undefined> {
  const end = performance.now() + limits.milliseconds;
  let backend: ComputeBackend | undefined;
  const failureOf = async (candidate: Program): Promise<ProgramFailure | undefined> => {
    for (let turn = 0; turn < limits.repeats; turn++) {
      if (performance.now() > end || limits.signal?.aborted === true) return undefined;
      if (backend === undefined) {
        backend = await create();
        await backend.init();
      }
      const failure = await runProgram(backend, candidate);
      if (failure === undefined) continue;
      // What failed may have left more behind than wrong bytes.
      await backend.dispose().catch(() => undefined);
      backend = undefined;
      return failure;
    }
    return undefined;
  };
  try {
    const failure = await failureOf(program);
    if (failure === undefined) return undefined;
    let best: ShrunkProgram = { program, failure };
    const adopt = async (candidate: Program): Promise<boolean> => {
      const found = await failureOf(candidate);
      if (found !== undefined) best = { program: candidate, failure: found };
      return found !== undefined;
    };
    // Nothing after the step that is wrong is needed, but its wait may be.
    await adopt(program.slice(0, failure.step + 1));
    await leaveOut(() => best.program, adopt);
    await makeSmaller(() => best.program, adopt);
    await leaveOut(() => best.program, adopt);
    return best;
  } finally {
    await backend?.dispose().catch(() => undefined);
  }
}

/** Leaves out halves, quarters, and so on, then single steps. */
async function leaveOut(current: () => Program, adopt: (candidate: Program) => Promise<boolean>): Promise<void> {
  for (let size = Math.ceil(current().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = current().length - size; at > -size; at -= size) {
      const first = Math.max(0, at);
      await adopt([...current().slice(0, first), ...current().slice(first + size)]);
    }
  }
}

async function makeSmaller(current: () => Program, adopt: (candidate: Program) => Promise<boolean>): Promise<void> {
  for (let at = 0; at < current().length; at++) {
    for (let isSmaller = true; isSmaller;) {
      isSmaller = false;
      for (const step of smallerSteps(current()[at] as Step)) {
        const candidate = current().map((own, index) => (index === at ? step : own));
        if (!(await adopt(candidate))) continue;
        isSmaller = true;
        break;
      }
    }
  }
}

/** Steps that do less in place of one. */
function smallerSteps(step: Step): readonly Step[] {
  switch (step.do) {
    case 'record':
      return step.body.map((_, left): Step => ({ ...step, body: step.body.filter((_other, at) => at !== left) }));
    case 'call':
      return PROGRAM_CALLS[step.kind].smaller(step.params).flatMap((params): RecordableStep[] => {
        const smaller = { ...step, params };
        const regions = planOf(smaller)?.regions.length ?? 0;
        return regions === 0 ? [] : [{ ...smaller, places: step.places.slice(0, regions) }];
      });
    case 'write':
    case 'fill':
    case 'copy':
    case 'read':
      return step.bytes > 1
        ? [
            { ...step, bytes: Math.ceil(step.bytes / 2) },
            { ...step, bytes: step.bytes - 1 },
          ]
        : [];
    default:
      return [];
  }
}
