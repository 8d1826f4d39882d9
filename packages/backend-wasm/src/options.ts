import { BackendError } from '@concord/backend-core';
import { type BaseBackendOptions, checkFields, describe } from '@concord/backend-core/implement';
import { LAYOUT } from './pool/layout.ts';
import type { WasmMode } from './pool/machine.ts';

const MODES: readonly WasmMode[] = ['threads', 'worker', 'inline'];

/** Options of a {@link WasmBackend}. */
export interface WasmOptions {
  /**
   * `threads`: workers that share the memory. `worker`: one with its own memory, for pages that are not cross-origin
   * isolated. `inline`: none, each op runs in the call. Default: the first of these that there is.
   */
  readonly mode?: WasmMode | undefined;
  /** The number of threads that compute, 1 to 64. Default: the number of cores, 16 at most. */
  readonly threads?: number | undefined;
  /**
   * Relaxed SIMD, whose multiply-add rounds once. `false`: not used. `true`: required; in Node 20 it is switched on, for the whole
   * process. Default: used if the engine has it.
   */
  readonly relaxedSimd?: boolean | undefined;
  /**
   * The URL of the worker's file, `@concord/backend-wasm/worker`, for pages whose Content Security Policy forbids `blob:`.
   * Default: the worker is part of the package. A string or a `URL`.
   */
  readonly workerUrl?: string | { readonly href: string } | undefined;
}

/** Options of a {@link WasmBackend}. */
export interface WasmBackendOptions extends WasmOptions, BaseBackendOptions {}

/** @throws {BackendError} INVALID_ARGUMENT */
export function checkOptions(options: WasmBackendOptions): void {
  checkFields('options', options, ['memoryLimitBytes', 'mode', 'threads', 'relaxedSimd', 'workerUrl']);
  const { mode, threads, relaxedSimd, workerUrl } = options;
  if (mode !== undefined && !MODES.includes(mode)) throw invalid(`mode must be one of ${MODES.join(', ')}`, mode);
  if (threads !== undefined) {
    const isCount = Number.isInteger(threads) && threads >= 1 && threads <= LAYOUT.maxThreads;
    if (!isCount) throw invalid(`threads must be an integer from 1 to ${LAYOUT.maxThreads}`, threads);
    if (threads > 1 && mode !== undefined && mode !== 'threads') {
      throw invalid(`threads must be 1 in mode ${mode}`, threads);
    }
  }
  if (relaxedSimd !== undefined && typeof relaxedSimd !== 'boolean') {
    throw invalid('relaxedSimd must be a boolean', relaxedSimd);
  }
  if (workerUrl !== undefined && typeof workerUrl !== 'string' && !(workerUrl instanceof URL)) {
    throw invalid('workerUrl must be a string or a URL', workerUrl);
  }
}

function invalid(rule: string, got: unknown): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${rule}, got ${describe(got)}`);
}
