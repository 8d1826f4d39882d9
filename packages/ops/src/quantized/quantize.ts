import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { checkOptions, checkTensor, OUT, shown } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { domainOfBlocks, placeInBlocks } from './blocks.ts';
import { asI32, SCALED, type ScaledCall, scaledCall, type ScaleOptions } from './scaled-call.ts';

type Float = Value<'f32'>;

/** Options of {@link quantize}. */
export interface QuantizeOptions extends OutOption, ScaleOptions {
  /** The dtype of the result. Default: that of a zero point of i8 or u8, else `'u8'`. */
  readonly dtype?: 'i8' | 'u8';
}

/**
 * `round(x / scale) + zeroPoint` in i8 or u8, ties to the even integer, saturated; NaN is `0`. {@link dequantize} is the way back. One
 * launch. The quotient is rounded to float32 first, as ONNX does: on each device to the same number, but where the exact one lies within
 * 2^-10 of the distance between two float32 from their middle.
 *
 * `scale` is one number, `[n]` for an axis of n, or with `blockSize` as many axes as `x`, n / blockSize along the axis.
 *
 * ONNX QuantizeLinear-21.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, a scale or zero point that does not fit, an axis that is not whole blocks,
 *   another `dtype`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [-0.5, 0.25, 0.75, 300]);
 * await quantize(x, 0.5, { zeroPoint: 128 }).toArray(); // [127, 128, 130, 255]
 * ```
 */
export function quantize(x: Tensor, scale: TensorLike, options: QuantizeOptions = {}): Tensor {
  const op = 'quantize';
  checkTensor(op, 'x', x);
  checkOptions(op, options, { ...OUT, ...SCALED, dtype: 'any' });
  if (ELEMENT_TYPES[x.dtype].value !== 'f32') {
    throw refuse(op, `takes f32, f16 and bf16, got ${x.dtype}${shapeText(x.shape)}`);
  }
  const { quantized, tensors, inputs, params, declared } = scaledCall(op, x, scale, options);
  const { zeroPoint, dtype = zeroPoint instanceof Tensor && zeroPoint.dtype === 'i8' ? 'i8' : 'u8' } = options;
  if (dtype !== 'i8' && dtype !== 'u8') throw refuse(op, `dtype must be i8 or u8, got ${shown(dtype)}`);
  return produce(op, x.backend, x.shape, dtype, options, (result) => {
    const call = {
      shape: domainOfBlocks(quantized),
      inputs: { x: placeInBlocks(x, x.shape, 'numbers', quantized), ...inputs },
      params,
      outputs: { y: placeInBlocks(result, x.shape, 'numbers', quantized) },
    };
    launch(op, tensors, () => launchKernel(x.backend, kernelOf(dtype, declared), call));
  });
}

const kernels = new Kernels();

function kernelOf(dtype: 'i8' | 'u8', { inputs, params }: ScaledCall['declared']): Kernel {
  return kernels.of(JSON.stringify([dtype, inputs, params]), () => {
    return defineKernel('quantize', { inputs: { x: 'f32', ...inputs }, params }, (symbols, k) => {
      const zeroPoint = k.toF32(asI32(k, inputs['zeroPoint'], symbols['zeroPoint']));
      const y = k.add(k.round(quotient(k, symbols['x'], symbols['scale'] as Float)), zeroPoint);
      return { y: dtype === 'i8' ? k.toI32(y) : k.toU32(y) };
    }) as Kernel;
  });
}

/** `x / scale` to the nearest float32: the division of devices may be 3 units off, and a half becomes another integer then. */
function quotient(k: KernelBuilder, x: Float, scale: Float): Float {
  const near = k.div(x, scale);
  // Halves of 12 bits, whose products are exact.
  const upper = (value: Float): Float => k.bitcast('f32', k.and(k.bitcast('u32', value), 0xfffff000));
  const [a, b] = [upper(near), upper(scale)];
  const [c, d] = [k.sub(near, a), k.sub(scale, b)];
  const rest = [k.mul(a, b), k.mul(a, d), k.mul(c, b), k.mul(c, d)].reduce((left, each) => k.sub(left, each), x);
  const nearest = k.add(near, k.div(rest, scale));
  return k.select(k.isFinite(nearest), nearest, near);
}
