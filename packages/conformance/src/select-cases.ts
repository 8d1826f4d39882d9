import picomatch from 'picomatch';
import { attentionSuite } from './cases/attention/suite.ts';
import { batchedGemmSuite } from './cases/batched-gemm.ts';
import { binarySuite } from './cases/binary.ts';
import { conv2dSuite } from './cases/conv2d.ts';
import { beforeInitCases, fixedErrorCases, noOpCases } from './cases/fixed/no-ops.ts';
import { fixedNumberCases } from './cases/fixed/numbers.ts';
import { gemmF16Suite } from './cases/gemm-f16.ts';
import { gemmSuite } from './cases/gemm.ts';
import { hugeSizeCases, zeroSizeCases } from './cases/huge-sizes.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { lifetimeCases } from './cases/lifetimes.ts';
import { memoryCases } from './cases/memory.ts';
import { orderOfChecksCases } from './cases/order-of-checks.ts';
import { plannedCallCases } from './cases/planned-calls.ts';
import { profileCases } from './cases/profiles.ts';
import { recordingSlotCases } from './cases/recording-slots.ts';
import { recordingCases } from './cases/recordings.ts';
import { reduceSuite } from './cases/reduce.ts';
import { epilogueRefusalCases, refusalCases } from './cases/refusals.ts';
import { runRefusalCases } from './cases/run/refusals.ts';
import { runSequenceCases } from './cases/run/sequences.ts';
import { largeAngleCases, runSuite } from './cases/run/suite.ts';
import { topKSuite } from './cases/top-k.ts';
import { unarySuite } from './cases/unary.ts';
import { uncheckedOperandsCases } from './cases/unchecked-operands.ts';
import type { ConformanceCase, Suite } from './harness/case.ts';
import { Random } from './harness/random.ts';
import { programCaseOf, programCases } from './programs/program-cases.ts';
import { callSequenceCases } from './sequences/call-sequences.ts';

/** The suites of the ops. */
export const SUITES: readonly Suite[] = [
  gemmSuite,
  batchedGemmSuite,
  gemmF16Suite,
  conv2dSuite,
  attentionSuite,
  runSuite,
  topKSuite,
  reduceSuite,
  unarySuite,
  binarySuite,
];

/** Every case, in the order in which a report lists them. */
export function allCases(): ConformanceCase[] {
  return [...listed().values()];
}

/** The case of that id: one of the list, or one that a fuzz run printed. */
export function findCase(id: string): ConformanceCase | undefined {
  const found = listed().get(id);
  if (found !== undefined) return found;
  for (const suite of SUITES) {
    const replayed = suite.fromId(id);
    if (replayed !== undefined) return replayed;
  }
  return programCaseOf(id);
}

let known: ReadonlyMap<string, ConformanceCase> | undefined;

/** The list by id; made once, as there are thousands. */
function listed(): ReadonlyMap<string, ConformanceCase> {
  known ??= new Map(
    [
      ...beforeInitCases,
      ...noOpCases,
      ...fixedErrorCases,
      ...fixedNumberCases,
      ...lifecycleCases,
      ...memoryCases,
      ...lifetimeCases,
      ...recordingCases,
      ...profileCases,
      ...recordingSlotCases,
      ...refusalCases,
      ...epilogueRefusalCases,
      ...orderOfChecksCases,
      ...uncheckedOperandsCases,
      ...zeroSizeCases,
      ...hugeSizeCases,
      ...largeAngleCases,
      ...runRefusalCases,
      ...runSequenceCases,
      ...callSequenceCases,
      ...plannedCallCases,
      ...SUITES.flatMap((suite) => suite.cases()),
      ...programCases,
    ].map((testCase) => [testCase.id, testCase]),
  );
  return known;
}

/** The cases to take. */
export interface CaseSelection {
  /**
   * A glob for case ids (`gemm/**`, `fixed/**`; a bare folder such as `fixed` means everything below it), an op by its
   * name, its `fixed/` cases included, or one exact id, also one that a fuzz run printed. Default: all cases.
   */
  readonly filter?: string | undefined;
  /**
   * The fraction of them to take, above 0 and up to 1. Which ones follows from their ids alone: the same everywhere and
   * every time, whatever other cases there are, and a larger fraction holds all of a smaller one. `fixed/` cases and a
   * case that is named by its id are always taken. Default: 1.
   */
  readonly sample?: number | undefined;
  /** Leaves out the cases that a sample of this fraction takes, `fixed/` cases included. Default: 0, which leaves out none. */
  readonly after?: number | undefined;
}

/**
 * The cases of a selection, in the order of a report. A text is a filter.
 *
 * @throws {RangeError} for a `sample` or `after` that is no fraction
 */
export function selectCases(selection: string | CaseSelection = {}): ConformanceCase[] {
  const { filter = '', sample = 1, after = 0 } = typeof selection === 'string' ? { filter: selection } : selection;
  if (!(sample > 0 && sample <= 1)) throw new RangeError(`sample must be above 0 and up to 1, got ${sample}`);
  if (!(after >= 0 && after < 1)) throw new RangeError(`after must be 0 or more and below 1, got ${after}`);
  // First: ids hold commas and brackets that a glob would read in its own way. No id has a star or a question mark.
  const exact = filter === '' || /[*?]/.test(filter) ? undefined : findCase(filter);
  if (exact !== undefined) return [exact];
  return matching(filter).filter(({ id }) => isInSample(id, sample) && (after === 0 || !isInSample(id, after)));
}

function isInSample(id: string, fraction: number): boolean {
  return id.startsWith('fixed/') || placeOf(id) < fraction;
}

function matching(filter: string): ConformanceCase[] {
  if (filter === '') return allCases();
  const ofSubject = allCases().filter(({ op }) => op === filter);
  if (ofSubject.length > 0) return ofSubject;
  const matches = picomatch([filter, `${filter}/**`], { nobrace: true, noextglob: true });
  return allCases().filter(({ id }) => matches(id));
}

/** A case's own number in [0, 1). Not the first that the case itself draws: a sample must not favour some inputs. */
function placeOf(id: string): number {
  return new Random(`sample ${id}`).unit();
}
