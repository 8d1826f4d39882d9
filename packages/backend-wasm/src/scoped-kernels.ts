import type { BackendKernels, OpKernel } from '@concord/backend-core/implement';
import type { WasmBuffer } from './wasm-buffer.ts';

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
