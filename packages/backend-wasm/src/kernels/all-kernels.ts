import type { BackendKernels } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../wasm-buffer.ts';
import { gemmKernel } from './gemm/gemm.ts';
import type { Launcher } from './kernel.ts';
import { runKernel } from './run/run.ts';

/** The kernels of this backend, which hand their commands to a launcher. */
export function allKernels(launcher: Launcher): BackendKernels<WasmBuffer> {
  return {
    gemm: gemmKernel(launcher),
    run: runKernel(launcher),
  };
}
