import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { checkOptions, checkTensor, OUT, shown } from '../tensor/arguments.ts';
import { launch, refuse } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { domainOfBlocks, placeInBlocks, type Quantized } from './blocks.ts';
import { asI32, SCALED, type ScaleOptions, type ScaledCall, scaledCall } from './scaled-call.ts';

/** Options of {@link dequantize}. */
export interface DequantizeOptions extends OutOption, ScaleOptions {
  /** 4: two numbers in each byte of the last axis, the low nibble first. Default 8. */
  readonly bits?: 8 | 4;
}

const OPTIONS = { ...OUT, ...SCALED, bits: 'any' } as const;

/**
 * `(x - zeroPoint) scale`. i8 and u8 hold numbers of 8 bits or twice as many of 4, with a sign in i8; the result has the
 * element type of `scale`, f32 where that is a number. One launch.
 *
 * `scale` is one number, `[n]` for an axis of n, or with `blockSize` as many axes as `x`, n / blockSize along the axis.
 *
 * ONNX DequantizeLinear-21.
 *
 * @throws {BackendError} INVALID_ARGUMENT for other element types, a scale or zero point that does not fit, an axis that is
 *   not whole blocks
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, new Uint8Array([127, 129]));
 * await dequantize(x, 0.5, { zeroPoint: 128 }).toArray(); // [-0.5, 0.5]
 * await dequantize(x, 0.5, { bits: 4 }).toArray(); // [7.5, 3.5, 0.5, 4]
 * ```
 */
export function dequantize(x: Tensor, scale: TensorLike, options: DequantizeOptions = {}): Tensor {
  const op = 'dequantize';
  checkTensor(op, 'x', x);
  checkOptions(op, options, OPTIONS);
  if (x.dtype !== 'i8' && x.dtype !== 'u8') throw refuse(op, `takes i8 and u8, got ${shown(x)}`);
  const { quantized, tensors, inputs, params, declared } = scaledCall(op, x, scale, options);
  const domain = domainOfBlocks(quantized);
  const dtype = scale instanceof Tensor ? scale.dtype : 'f32';
  return produce(op, x.backend, quantized.shape, dtype, options, (result) => {
    const call = {
      shape: domain,
      inputs: { x: placeInBlocks(x, x.shape, 'bytes', quantized), ...inputs },
      params,
      outputs: { y: placeInBlocks(result, quantized.shape, 'numbers', quantized) },
    };
    launch(op, tensors, () => launchKernel(x.backend, kernelOf(x, quantized, declared), call));
  });
}

const kernels = new Kernels();

function kernelOf(x: Tensor, { bits }: Quantized, declared: ScaledCall['declared']): Kernel {
  const inputs = { x: ELEMENT_TYPES[x.dtype].value, ...declared.inputs };
  const { params } = declared;
  return kernels.of(
    JSON.stringify([inputs, params, bits]),
    () =>
      defineKernel('dequantize', { inputs, params }, (symbols, k) => {
        let value = asI32(k, inputs.x, symbols['x']);
        if (bits === 4) {
          const nibble = k.and(k.shr(value, k.toI32(k.mul(k.index(-1), 4))), 15);
          value = x.dtype === 'u8' ? nibble : k.sub(k.xor(nibble, 8), 8);
        }
        const difference = k.sub(value, asI32(k, declared.inputs['zeroPoint'], symbols['zeroPoint']));
        return { y: k.mul(k.toF32(difference), symbols['scale'] as Value<'f32'>) };
      }) as Kernel,
  );
}
