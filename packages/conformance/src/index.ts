/**
 * The conformance suite: every backend, ours and other people's, against the oracle.
 *
 * @packageDocumentation
 */
export { allCases, findCase } from './select-cases.ts';
export {
  CaseFailure,
  type CaseContext,
  type CaseSubject,
  type ConformanceCase,
  type Mismatch,
  type Needs,
  type Tally,
} from './harness/case.ts';
export type { Params, ParamValue } from './harness/case.ts';
export type { Random } from './harness/random.ts';
export { requiredBackends } from './run-conformance.ts';
export { type BackendFactory, type CaseResult, runCase } from './run-conformance.ts';
export { type ConformanceOptions, type ConformanceReport, runConformance } from './run-conformance.ts';
export { type FuzzFailure, type FuzzOptions, type FuzzReport, type FuzzStop, runFuzz } from './run-fuzz.ts';
export type { ProgramCounts } from './programs/step.ts';
export { type CaseSelection, selectCases } from './select-cases.ts';
export { neverRanText, type VariantRuns } from './run-conformance.ts';
