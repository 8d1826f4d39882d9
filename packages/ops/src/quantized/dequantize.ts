import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type Value } from '@concord/backend-core/kernel';
import type { Place } from '../compute/copy.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkOperand, checkOptions, checkTensor, OUT, shown } from '../tensor/arguments.ts';
import { launch, refuse } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { domainOfBlocks, placeInBlocks, quantizedShape, type Quantized } from './blocks.ts';

/** Options of {@link dequantize}. */
export interface DequantizeOptions extends OutOption {
  /** The zero point: a number, or integers of the shape of `scale`, one an element also with 4 bits. Default 0. */
  readonly zeroPoint?: TensorLike | undefined;
  /** The axis that `scale` has numbers for, unless it is one number. Default 1, as in ONNX. */
  readonly axis?: number;
  /** 4: two numbers in each byte of the last axis, the low nibble first. Default 8. */
  readonly bits?: 8 | 4;
  /** Elements along the axis that share a scale. Default: none do. */
  readonly blockSize?: number | undefined;
}

const OPTIONS = { ...OUT, zeroPoint: 'operand', axis: 'any', bits: 'any', blockSize: 'number' } as const;

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
  checkOperand(op, 'scale', scale);
  checkOptions(op, options, OPTIONS);
  const { zeroPoint = 0 } = options;
  if (x.dtype !== 'i8' && x.dtype !== 'u8') throw refuse(op, `takes i8 and u8, got ${shown(x)}`);
  const given = { scale, zeroPoint };
  const tensors = [x, ...Object.values(given).filter((each) => each instanceof Tensor)];
  checkSameBackend(op, x.backend, tensors);
  checkKinds(scale, zeroPoint);
  const quantized = quantizedShape(x, scale, zeroPoint, options);
  const domain = domainOfBlocks(quantized);
  const dtype = scale instanceof Tensor ? scale.dtype : 'f32';
  return produce(op, x.backend, quantized.shape, dtype, options, (result) => {
    const inputs: Record<string, Place> = { x: placeInBlocks(x, x.shape, 'bytes', quantized) };
    const params: Record<string, number> = {};
    for (const [name, each] of Object.entries(given)) {
      if (each instanceof Tensor) inputs[name] = placeInBlocks(each, quantized.scaleShape, 'scale', quantized);
      else params[name] = each;
    }
    const outputs = { y: placeInBlocks(result, quantized.shape, 'numbers', quantized) };
    launch(op, tensors, () => x.backend.run(kernelOf(x, quantized, given), { shape: domain, inputs, params, outputs }));
  });
}

function checkKinds(scale: TensorLike, zeroPoint: TensorLike): void {
  if (scale instanceof Tensor && ELEMENT_TYPES[scale.dtype].value !== 'f32') {
    throw refuse('dequantize', `takes floats as scale, got ${shown(scale)}`);
  }
  if (zeroPoint instanceof Tensor && ELEMENT_TYPES[zeroPoint.dtype].value === 'f32') {
    throw refuse('dequantize', `takes integers as zeroPoint, got ${shown(zeroPoint)}`);
  }
}

const kernels = new Kernels();

function kernelOf(x: Tensor, { bits }: Quantized, given: Readonly<Record<'scale' | 'zeroPoint', TensorLike>>): Kernel {
  const inputs: Record<string, NumberType> = { x: ELEMENT_TYPES[x.dtype].value };
  const params: Record<string, NumberType> = {};
  if (given.scale instanceof Tensor) inputs['scale'] = 'f32';
  else params['scale'] = 'f32';
  if (given.zeroPoint instanceof Tensor) inputs['zeroPoint'] = ELEMENT_TYPES[given.zeroPoint.dtype].value;
  else params['zeroPoint'] = 'i32';
  return kernels.of(
    JSON.stringify([inputs, params, bits]),
    () =>
      defineKernel('dequantize', { inputs, params }, (symbols, k) => {
        const integer = (name: string, isUnsigned: boolean): Value<'i32'> =>
          isUnsigned ? k.toI32(symbols[name] as Value<'u32'>) : (symbols[name] as Value<'i32'>);
        let value = integer('x', x.dtype === 'u8');
        if (bits === 4) {
          const nibble = k.and(k.shr(value, k.toI32(k.mul(k.index(-1), 4))), 15);
          value = x.dtype === 'u8' ? nibble : k.sub(k.xor(nibble, 8), 8);
        }
        const difference = k.sub(value, integer('zeroPoint', inputs['zeroPoint'] === 'u32'));
        return { y: k.mul(k.toF32(difference), symbols['scale'] as Value<'f32'>) };
      }) as Kernel,
  );
}
