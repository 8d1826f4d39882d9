/**
 * The benchmark as a library: its cases, their measurement, the JSON of `concord bench --json`, and plots as SVG. Needs
 * nothing of Node: it runs in a page too.
 *
 * @packageDocumentation
 */
export type { BenchCase, BenchOp, BenchUnit, BenchWork, ExpectedEntry } from './bench-case.ts';
export { type BenchJson, toBenchJson } from './bench-json.ts';
export { BENCH_OPS, BENCH_SIZES, type BenchSize } from './bench-ops.ts';
export type { BenchBackend, BenchRow, BenchRun } from './bench-run.ts';
export { attentionCase, type AttentionSizes } from './cases/attention.ts';
export { conv2dCase, type Conv2dLayer } from './cases/conv2d.ts';
export { binaryCase, reduceCase, unaryCase } from './cases/elementwise.ts';
export { batchedGemmCase, gemmCase, type GemmOptions, type GemmSize } from './cases/gemm.ts';
export { softmaxCase, topKCase } from './cases/kernels.ts';
export { copyCase, type CopyDirection } from './cases/memory.ts';
export { type RunArray, runCase, type RunCaseOptions, type RunEntry, type VisitRow } from './cases/run-case.ts';
export { checkEntries, type ReadEntries } from './check-entries.ts';
export { type BenchSchedule, measureCase } from './measure-case.ts';
export { formatSpeed } from './format-speed.ts';
export { materialize, noise, type Operand, type OperandType } from './operand.ts';
export type { OpenedBackend } from './open-backends.ts';
export { type BenchOutcome, speedOf } from './outcome.ts';
export { type PlacedWork, placeWork } from './placed-work.ts';
export { type Axis, drawAxes, linearAxis, linePath, logAxis, type Pair, plotFile } from './plot/axes.ts';
export { findCallsPerRound, type RoundOptions, type TimeCalls } from './rounds.ts';
export { type BenchListener, runCases } from './run-cases.ts';
export { selectBenchCases } from './select-cases.ts';
export { median, type Spread, spreadOf } from './statistics.ts';
export { type Html, html, type HtmlPart } from '../html/html.ts';
