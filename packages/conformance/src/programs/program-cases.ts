import { CaseFailure, type CaseContext, type ConformanceCase } from '../harness/case.ts';
import { behaviour } from '../harness/case-text.ts';
import { formatParams, parseParams } from '../harness/case-id.ts';
import { drawProgram } from './draw-program.ts';
import { noCounts, type ProgramCounts, runProgram, stepsMade } from './run-program.ts';
import { programText } from './program-text.ts';
import { shrinkProgram } from './shrink-program.ts';

/** Parameters of a case: the number of a program, and of its steps. */
export type ProgramParams = { readonly seed: number; readonly steps: number };

const DEFAULTS: ProgramParams = { seed: 0, steps: 40 };

/** The listed programs: their numbers are 1 to so many. */
const LISTED = 30;

/** The case of a program. */
export function programCase(params: ProgramParams, onCounts?: (counts: ProgramCounts) => void): ConformanceCase {
  return {
    id: `program/${formatParams(params, DEFAULTS)}`,
    op: 'program',
    params,
    about: behaviour(
      `Makes ${params.steps} drawn steps on one object: allocations, copies, fills, calls of all ops, recordings, reads left open.`,
      'Each byte that the steps decide is as if each step had ended before the next, and each other result within its bound.',
    ),
    run: (context) => checkProgram(context, params, onCounts),
  };
}

/** The case that an id names; undefined where it names none. */
export function programCaseOf(id: string): ConformanceCase | undefined {
  const [subject, text = '', ...rest] = id.split('/');
  if (subject !== 'program' || rest.length > 0) return undefined;
  const params = parseParams(text, DEFAULTS);
  return params === undefined ? undefined : programCase(params);
}

/** Programs with the first numbers. */
export const programCases: readonly ConformanceCase[] = Array.from({ length: LISTED }, (_, index) =>
  programCase({ ...DEFAULTS, seed: index + 1 }),
);

async function checkProgram(
  { backend, create }: CaseContext,
  { seed, steps }: ProgramParams,
  onCounts: (counts: ProgramCounts) => void = () => undefined,
): Promise<void> {
  const program = drawProgram(seed, steps);
  const counts = noCounts();
  const failure = await runProgram(backend, program, counts);
  onCounts(counts);
  if (failure === undefined) return;
  const shrunk = await shrinkProgram(create, program);
  const [found, how] =
    shrunk === undefined
      ? [{ program, failure }, 'It did not fail again; the whole program:']
      : [shrunk, `Reduced from ${program.length} to ${shrunk.program.length} steps:`];
  throw new CaseFailure(
    `step ${found.failure.step + 1} of ${found.program.length}: ${found.failure.detail}\n${how}\n\n${programText(stepsMade(backend, found.program))}`,
  );
}
