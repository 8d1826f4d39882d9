import { BYTES_OF, type DType } from '@concord/backend-core';
import { viewOf } from '../tensor/allocate.ts';
import { checkTensor } from '../tensor/arguments.ts';
import { checkDType } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * A view of the same bytes as another element type of the same size: f32, i32 and u32; f16 and bf16; i8 and u8.
 *
 * PyTorch's `x.view(dtype)`; ONNX BitCast.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an element type of another size, and what is none
 * @example
 * ```ts
 * using x = tensor(backend, [1, -2]);
 * await viewAs(x, 'u32').toArray(); // [0x3f800000, 0xc0000000]
 * ```
 */
export function viewAs(x: Tensor, dtype: DType): Tensor {
  checkTensor('viewAs', 'x', x);
  if (BYTES_OF[checkDType('viewAs', dtype)] === BYTES_OF[x.dtype]) return viewOf(x, { dtype });
  const sizes = `${BYTES_OF[x.dtype]} and ${BYTES_OF[dtype]} bytes`;
  throw refuse('viewAs', `${x.dtype}${shapeText(x.shape)} as ${dtype}: elements of ${sizes}`);
}
