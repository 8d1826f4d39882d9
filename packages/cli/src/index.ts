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
export type { ConformanceJson, VariantFailure } from './conformance/backend-run.ts';
export type { FuzzJson } from './commands/fuzz.ts';
export type { ProfileJson } from './commands/profile.ts';
export type { KernelJson } from './commands/kernel.ts';
export type { KernelExplanation } from './kernel/explain-kernel.ts';
export type { KernelFacts } from './kernel/kernel-facts.ts';
export type { LoadedKernel } from './kernel/load-kernels.ts';
export type { Finish, Output, ProgramContext } from './context.ts';
export { EXIT } from './command-error.ts';
export type { BackendReport, DevicesReport, VariantTrial } from './inspect-devices.ts';
export type { TuneClassJson, TuneJson } from './commands/tune.ts';
export { buildProgram, runProgram } from './program.ts';
export { knownProviders } from './providers.ts';
