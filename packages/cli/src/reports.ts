/**
 * Running and reporting as the `concord` command does, without Node: for pages. No module of it imports from `node:`.
 *
 * @packageDocumentation
 */
export * from './bench/index.ts';
export type { BackendRun, ConformanceRun } from './conformance/backend-run.ts';
export { type ConformanceJson, toConformanceJson } from './conformance/conformance-json.ts';
export { type OpSummary, summarize } from './conformance/op-summary.ts';
export { type Reports, reportsPage } from './html/reports-page.ts';
export { type KernelFacts, kernelFacts } from './kernel/kernel-facts.ts';
export { constantText, nodeText } from './kernel/node-text.ts';
export { nearFilters } from './near-filters.ts';
export { toJsonText } from './output/json-text.ts';
export type { ReportEnvironment } from './report-environment.ts';
export type { NotRun } from './try-backend.ts';
