/**
 * Reports as the `concord` command writes them, JSON and HTML, without Node: for pages. `@concord/cli/bench` measures.
 *
 * @packageDocumentation
 */
export { formatSpeed } from './bench/format-speed.ts';
export { speedOf } from './bench/outcome.ts';
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
