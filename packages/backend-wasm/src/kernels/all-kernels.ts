import type { BackendKernels } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../wasm-buffer.ts';
import { attentionKernel } from './attention/attention.ts';
import { conv2dKernel } from './conv2d/conv2d.ts';
import { gemmKernel } from './gemm/gemm.ts';
import type { Launcher } from './kernel.ts';
import { runKernel } from './run/run.ts';
import { topKKernel } from './top-k/top-k.ts';

/** The kernels of this backend, which hand their commands to a launcher. */
export function allKernels(launcher: Launcher): BackendKernels<WasmBuffer> {
  const run = runKernel(launcher);
  return {
    gemm: gemmKernel(launcher, (call) => run.run(call)),
    conv2dForward: conv2dKernel(launcher),
    attention: attentionKernel(launcher, (call) => run.run(call)),
    topK: topKKernel(launcher),
    run,
  };
}
