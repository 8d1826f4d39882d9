import { type BackendProvider, isBackendError, type ProbeResult } from '@concord/backend-core';
import { defaultThreads, sharingObstacle } from './engine/host.ts';
import { chooseFma } from './engine/simd.ts';
import { checkOptions, type WasmOptions } from './options.ts';
import { hasWorkers } from './pool/worker-handle.ts';
import { wasmDevice } from './wasm-device.ts';

/** The priority, above the CPU backend's: it computes the same many times as fast. */
const PRIORITY = 10;

/**
 * The provider of the WebAssembly backend. Available wherever the engine has SIMD. Its kernels are loaded when it is picked.
 *
 * @throws {BackendError} INVALID_ARGUMENT for unknown options, or out of range
 */
export function wasm(options: WasmOptions = {}): BackendProvider {
  checkOptions(options);
  return {
    name: 'wasm',
    priority: PRIORITY,
    contractVersion: 3,
    probe: () => Promise.resolve(probe(options)),
    create: async (createOptions) => {
      const { WasmBackend } = await import('./wasm-backend.ts');
      return new WasmBackend({ ...options, ...createOptions });
    },
  };
}

/** Describes the device without starting a worker. */
function probe(options: WasmOptions): ProbeResult {
  try {
    const hasFma = chooseFma(options.relaxedSimd);
    const obstacle = hasWorkers() ? sharingObstacle() : 'there are no workers here';
    const best = obstacle === undefined ? 'threads' : hasWorkers() ? 'worker' : 'inline';
    const mode = options.mode ?? best;
    const threads = mode === 'threads' ? (options.threads ?? defaultThreads()) : 1;
    const obstacles = mode === best && obstacle !== undefined ? [`no threads: ${obstacle}`] : [];
    const device = wasmDevice(mode, { hasFma, threads, isShared: mode === 'threads' }, obstacles);
    return { available: true, devices: [device] };
  } catch (error) {
    if (!isBackendError(error)) return { available: false, reason: 'failed', message: String(error) };
    return { available: false, reason: error.reason ?? 'failed', message: error.detail, hint: error.hint };
  }
}
