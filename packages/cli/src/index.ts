/**
 * The `concord` command, for programs that embed it, and the types of what it writes as JSON.
 *
 * @packageDocumentation
 */
export type { BenchOp, BenchUnit } from './bench/bench-case.ts';
export type {
  BenchBackendJson,
  BenchCaseJson,
  BenchJson,
  BenchMethodJson,
  BenchResultJson,
} from './bench/bench-json.ts';
export type { Peaks } from './bench/bench-run.ts';
export type { VariantFailure } from './conformance/backend-run.ts';
export type { ConformanceJson } from './conformance/conformance-json.ts';
export type { FuzzJson } from './commands/fuzz.ts';
export type { InfoJson } from './commands/info.ts';
export type { KernelJson } from './commands/kernel.ts';
export type { KernelExplanation } from './kernel/explain-kernel.ts';
export type { KernelFacts } from './kernel/kernel-facts.ts';
export type { LoadedKernel } from './kernel/load-kernels.ts';
export type { Finish, Output, ProgramContext } from './context.ts';
export { EXIT } from './exit-codes.ts';
export type { BackendReport, DevicesReport } from './inspect-devices.ts';
export type { VariantTrial } from './try-variants.ts';
export type { TuneClassJson, TuneJson } from './tune/tune-json.ts';
export { buildProgram, runProgram } from './program.ts';
export { knownProviders } from './providers.ts';
