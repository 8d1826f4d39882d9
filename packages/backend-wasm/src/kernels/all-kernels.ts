import type { BackendKernels, OpKernel } from '@concord/backend-core/implement';
import type { Launcher, WasmBuffer } from './kernel.ts';
import { attentionKernel } from './attention/attention.ts';
import { conv2dKernel } from './conv2d/conv2d.ts';
import { gemmKernel } from './gemm/gemm.ts';
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

/** The same kernels, each with a call of `end` after its run, also if it fails: the op's temporary memory is freed then. */
export function scopedKernels(kernels: BackendKernels<WasmBuffer>, end: () => void): BackendKernels<WasmBuffer> {
  const scoped = <Kernel extends OpKernel<never, never>>(kernel: Kernel): Kernel => ({
    ...kernel,
    run: (call) => {
      try {
        kernel.run(call);
      } finally {
        end();
      }
    },
  });
  return Object.fromEntries(
    Object.entries(kernels).map(([name, kernel]) => [name, scoped(kernel as OpKernel<never, never>)]),
  );
}
