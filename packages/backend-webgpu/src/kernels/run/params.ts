import type { Launch } from '@concord/backend-core/implement';
import type { KernelParameter } from '@concord/backend-core/kernel';
import type { StorageBuffer } from '../recorder.ts';

/** The parameters of a call as the device reads them; undefined where the kernel has none. */
export function paramWords(params: readonly KernelParameter[], values: readonly number[]): Uint32Array | undefined {
  if (params.length === 0) return undefined;
  const words = new Uint32Array(params.length);
  const floats = new Float32Array(words.buffer);
  for (const [index, { type }] of params.entries()) {
    (type === 'f32' ? floats : words)[index] = values[index] as number;
  }
  return words;
}

/** The parameters of a call, or of its epilogue, as {@link paramWords}. */
export function paramWordsOf({ kernel, call, params }: Launch<StorageBuffer>): Uint32Array | undefined {
  if (kernel === 'run') return paramWords(call.kernel.params, params);
  if (kernel !== 'gemm' && kernel !== 'conv2dForward') return undefined;
  return call.epilogue === undefined ? undefined : paramWords(call.epilogue.kernel.params, params);
}
