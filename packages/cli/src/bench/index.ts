/**
 * The benchmark as a library: its cases, their measurement, and the JSON of `concord bench --json`. Needs nothing of
 * Node: it runs in a page too.
 *
 * @packageDocumentation
 */
export type { BenchCase, BenchOp, BenchUnit, BenchWork, ExpectedEntry } from './bench-case.ts';
export { BENCH_OPS, BENCH_SIZES, type BenchSize } from './bench-ops.ts';
export {
  type BenchBackend,
  type BenchOutcome,
  type BenchRow,
  type BenchRun,
  median,
  speedOf,
  type Spread,
  spreadOf,
} from './bench-run.ts';
export { type BenchJson, toBenchJson } from './bench-json.ts';
export {
  attentionCase,
  type AttentionSizes,
  batchedGemmCase,
  binaryCase,
  conv2dCase,
  type Conv2dLayer,
  copyCase,
  type CopyDirection,
  gemmCase,
  type GemmOptions,
  type GemmSize,
  reduceCase,
  topKCase,
  unaryCase,
} from './cases/op-cases.ts';
export {
  type RunArray,
  runCase,
  type RunCaseOptions,
  type RunEntry,
  softmaxCase,
  type VisitRow,
} from './cases/run-case.ts';
export {
  type BenchSchedule,
  checkEntries,
  findCallsPerRound,
  measureCase,
  type ReadEntries,
  type RoundOptions,
  type TimeCalls,
} from './measure-case.ts';
export { formatSpeed } from '../output/format.ts';
export { materialize, noise, type Operand, type OperandType, type PlacedWork, placeWork } from './operand.ts';
export type { OpenedBackend } from './open-backends.ts';
export { type BenchListener, runCases } from './run-cases.ts';
export { selectBenchCases } from './cases/case-lists.ts';
