/**
 * Reports as the `concord` command writes them as JSON, without Node: for pages. `@concord/cli/bench` measures.
 *
 * @packageDocumentation
 */
export {
  type BackendRun,
  type ConformanceJson,
  type ConformanceRun,
  toConformanceJson,
} from './conformance/backend-run.ts';
export { constantText, type KernelFacts, kernelFacts, nodeText } from './kernel/kernel-facts.ts';
export { nearFilters } from './near-ids.ts';
export { toJsonText } from './output/json-text.ts';
export type { ReportEnvironment } from './report-environment.ts';
export type { NotRun } from './choose-backend.ts';
