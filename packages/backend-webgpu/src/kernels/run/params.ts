import type { ResolvedCall } from '@concord/backend-core/implement';
import type { KernelParameter } from '@concord/backend-core/kernel';
import type { StorageBuffer } from '../recorder.ts';
import type { PlannedDispatch } from '../launch-plan.ts';

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
export function paramWordsOf({ kernel, call }: ResolvedCall<StorageBuffer>): Uint32Array | undefined {
  if (kernel === 'run') return paramWords(call.geometry.kernel.params, call.params);
  if (kernel !== 'gemm' && kernel !== 'conv2dForward') return undefined;
  const { epilogue } = call;
  return epilogue === undefined ? undefined : paramWords(epilogue.kernel.params, epilogue.params);
}

/** The words of each dispatch with the parameters that it had last: calls of many layers follow each other with the same. */
const lastWords = new WeakMap<PlannedDispatch, Uint32Array>();

/** A dispatch of a plan with the parameters of a call in place of those that it was planned with. */
export function withParams(
  step: PlannedDispatch,
  params: Uint32Array,
): Pick<PlannedDispatch, 'words' | 'grid' | 'variant'> {
  const { paramsAt } = step.kernel;
  if (paramsAt === undefined) return step;
  let words = lastWords.get(step) ?? step.words;
  if (!isAt(words, paramsAt, params)) {
    // Not in place: the words of the calls before are told by their array until they are uploaded.
    words = step.words.slice();
    words.set(params, paramsAt);
    lastWords.set(step, words);
  }
  return { words, grid: step.grid, variant: step.variant };
}

function isAt(words: Uint32Array, at: number, params: Uint32Array): boolean {
  for (let index = 0; index < params.length; index++) if (words[at + index] !== params[index]) return false;
  return true;
}
