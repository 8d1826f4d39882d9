/**
 * Running and reporting as the `concord` command does, without Node: for pages. No module of it imports from `node:`.
 *
 * @packageDocumentation
 */
export type { BenchCase, BenchInput, BenchOp, BenchUnit, BenchWork, ExpectedEntry } from './bench/bench-case.ts';
export { BENCH_OPS, BENCH_SIZES, type BenchSize } from './bench/bench-ops.ts';
export { type BenchJson, toBenchJson } from './bench/bench-json.ts';
export type { BenchBackend, BenchRow, BenchRun } from './bench/bench-run.ts';
export { formatSpeed } from './bench/format-speed.ts';
export type { BenchSchedule } from './bench/measure-case.ts';
export type { OpenedBackend } from './bench/open-backends.ts';
export { type BenchOutcome, speedOf } from './bench/outcome.ts';
export { type BenchListener, runCases } from './bench/run-cases.ts';
export { selectBenchCases } from './bench/select-cases.ts';
export type { Spread } from './bench/statistics.ts';
export type { BackendRun, ConformanceRun } from './conformance/backend-run.ts';
export { type ConformanceJson, toConformanceJson } from './conformance/conformance-json.ts';
export { type OpSummary, summarize } from './conformance/op-summary.ts';
export { type Reports, reportsPage } from './html/reports-page.ts';
export { type KernelFacts, kernelFacts } from './kernel/kernel-facts.ts';
export { nodeText } from './kernel/node-text.ts';
export { nearFilters } from './near-filters.ts';
export { toJsonText } from './output/json-text.ts';
export type { ReportEnvironment } from './report-environment.ts';
export type { NotRun } from './try-backend.ts';
