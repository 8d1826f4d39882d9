import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { KernelBuilder, NumberType, Value } from '@concord/backend-core/kernel';
import type { Place } from '../compute/copy.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { checkSameBackend } from '../compute/produce.ts';
import { checkOperand, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';
import { placeInBlocks, type Quantized, quantizedShape } from './blocks.ts';

/** Says what `scale` belongs to. */
export interface ScaleOptions {
  /** The zero point: a number, or integers of the shape of `scale`, one an element also with 4 bits. Default 0. */
  readonly zeroPoint?: TensorLike | undefined;
  /** The axis that `scale` has numbers for, unless it is one number. Default 1, as in ONNX. */
  readonly axis?: number;
  /** Elements along the axis that share a scale. Default: none do. */
  readonly blockSize?: number | undefined;
}

/** The kinds of {@link ScaleOptions}. */
export const SCALED = { zeroPoint: 'operand', axis: 'any', blockSize: 'number' } as const;

/** The fields of a call beside the numbers that it scales; scale and zero point are parameters if they are numbers. */
export interface ScaledCall {
  readonly quantized: Quantized;
  readonly tensors: readonly Tensor[];
  readonly inputs: Readonly<Record<string, Place>>;
  readonly params: Readonly<Record<string, number>>;
  readonly declared: {
    readonly inputs: Readonly<Record<string, NumberType>>;
    readonly params: Readonly<Record<string, NumberType>>;
  };
}

/** @throws {BackendError} INVALID_ARGUMENT for a scale or zero point that does not fit, an axis that is not whole blocks */
export function scaledCall(
  op: string,
  x: Tensor,
  scale: TensorLike,
  options: ScaleOptions & { readonly bits?: 8 | 4 },
): ScaledCall {
  checkOperand(op, 'scale', scale);
  const { zeroPoint = 0 } = options;
  const tensors = [x, scale, zeroPoint].filter((each) => each instanceof Tensor);
  checkSameBackend(op, x.backend, tensors);
  if (scale instanceof Tensor && ELEMENT_TYPES[scale.dtype].value !== 'f32') {
    throw refuse(op, `takes floats as scale, got ${shown(scale)}`);
  }
  if (zeroPoint instanceof Tensor && ELEMENT_TYPES[zeroPoint.dtype].value === 'f32') {
    throw refuse(op, `takes integers as zeroPoint, got ${shown(zeroPoint)}`);
  }
  const quantized = quantizedShape(op, x, scale, zeroPoint, options);
  const inputs: Record<string, Place> = {};
  const params: Record<string, number> = {};
  const declared = { inputs: {} as Record<string, NumberType>, params: {} as Record<string, NumberType> };
  for (const [name, each, type] of [
    ['scale', scale, 'f32'],
    ['zeroPoint', zeroPoint, 'i32'],
  ] as const) {
    if (each instanceof Tensor) {
      inputs[name] = placeInBlocks(each, quantized.scaleShape, 'scale', quantized);
      declared.inputs[name] = ELEMENT_TYPES[each.dtype].value;
    } else {
      params[name] = each;
      declared.params[name] = type;
    }
  }
  return { quantized, tensors, inputs, params, declared };
}

/** An integer of a type as i32, by its bits. */
export function asI32(k: KernelBuilder, type: NumberType | undefined, value: unknown): Value<'i32'> {
  return type === 'u32' ? k.toI32(value as Value<'u32'>) : (value as Value<'i32'>);
}
