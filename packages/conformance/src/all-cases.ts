import { attentionSuite } from './cases/attention/suite.ts';
import { batchedGemmSuite } from './cases/batched-gemm.ts';
import { binarySuite } from './cases/binary.ts';
import { conv2dSuite } from './cases/conv2d.ts';
import { beforeInitCases } from './cases/fixed/before-init.ts';
import { fixedErrorCases } from './cases/fixed/errors.ts';
import { noOpCases } from './cases/fixed/no-ops.ts';
import { fixedNumberCases } from './cases/fixed/numbers.ts';
import { epilogueRefusalCases } from './cases/epilogue-refusals.ts';
import { gemmF16Suite } from './cases/gemm-f16.ts';
import { gemmSuite } from './cases/gemm.ts';
import { hugeSizeCases } from './cases/huge-sizes.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { lifetimeCases } from './cases/lifetimes.ts';
import { memoryCases } from './cases/memory.ts';
import { orderOfChecksCases } from './cases/order-of-checks.ts';
import { plannedCallCases } from './cases/planned-calls.ts';
import { recordingSlotCases } from './cases/recording-slots.ts';
import { profileCases } from './cases/profiles.ts';
import { recordingCases } from './cases/recordings.ts';
import { reduceSuite } from './cases/reduce.ts';
import { largeAngleCases } from './cases/run/large-angles.ts';
import { runRefusalCases } from './cases/run/refusals.ts';
import { runSequenceCases } from './cases/run/sequences.ts';
import { runSuite } from './cases/run/suite.ts';
import { refusalCases } from './cases/refusals.ts';
import { topKSuite } from './cases/top-k.ts';
import { unarySuite } from './cases/unary.ts';
import { uncheckedOperandsCases } from './cases/unchecked-operands.ts';
import { zeroSizeCases } from './cases/zero-sizes.ts';
import type { ConformanceCase } from './harness/case.ts';
import { programCaseOf, programCases } from './programs/program-cases.ts';
import { callSequenceCases } from './sequences/call-sequences.ts';
import type { Suite } from './harness/suite.ts';

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
