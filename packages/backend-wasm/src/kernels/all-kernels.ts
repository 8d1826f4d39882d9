import type { BackendKernels } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../wasm-buffer.ts';
import type { Launcher } from './kernel.ts';

/** The kernels of this backend, which hand their commands to a launcher. */
export function allKernels(_launcher: Launcher): BackendKernels<WasmBuffer> {
  return {};
}
