/**
 * Reports as the `concord` command writes them, JSON and HTML, without Node: for pages. `@concord/cli/bench` measures.
 *
 * @packageDocumentation
 */
export { formatSpeed } from './output/format.ts';
export { speedOf } from './bench/bench-run.ts';
export {
  type BackendRun,
  type ConformanceJson,
  type ConformanceRun,
  type OpSummary,
  summarize,
  toConformanceJson,
} from './conformance/backend-run.ts';
export { type Reports, reportsPage } from './html/reports-page.ts';
export { constantText, type KernelFacts, kernelFacts, nodeText } from './kernel/kernel-facts.ts';
export { nearFilters } from './near-ids.ts';
export { toJsonText } from './output/json-text.ts';
export type { ReportEnvironment } from './report-environment.ts';
export type { NotRun } from './choose-backend.ts';
