import type { Place } from '../compute/copy.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { checkAxis } from '../compute/rows.ts';
import { shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { broadcastStrides, reshapedStrides, sameShape } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import type { ScaleOptions } from './scaled-call.ts';

/** The stored numbers and their layout, checked. */
export interface Quantized {
  /** The shape of the numbers, two for each byte of the last axis with 4 bits. */
  readonly shape: readonly number[];
  /** The shape of the scale, with as many axes as the numbers: 1 along those that it has no numbers for. */
  readonly scaleShape: readonly number[];
  readonly bits: 8 | 4;
  /** The axis that is parted into blocks. */
  readonly axis: number;
  /** Elements of a block; undefined if no axis has blocks. */
  readonly blockSize: number | undefined;
}

/**
 * The options about the stored numbers.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a scale or zero point that does not fit, an axis that is not whole blocks
 */
export function quantizedShape(
  op: string,
  x: Tensor,
  scale: TensorLike,
  zeroPoint: TensorLike,
  { bits = 8, axis = 1, blockSize }: ScaleOptions & { readonly bits?: 8 | 4 },
): Quantized {
  if (bits !== 8 && bits !== 4) throw refuse(op, `bits must be 8 or 4, got ${shown(bits)}`);
  if (bits === 4 && x.rank === 0) throw refuse(op, 'a number of 4 bits needs an axis to be packed along, got []');
  const shape = x.shape.map((length, place) => (bits === 4 && place === x.rank - 1 ? 2 * length : length));
  const scaleShape = scaleShapeOf(op, shape, scale, axis, blockSize);
  if (zeroPoint instanceof Tensor && !sameShape(zeroPoint.shape, scale instanceof Tensor ? scale.shape : [])) {
    const shown = scale instanceof Tensor ? shapeText(scale.shape) : 'a number';
    throw refuse(op, `zeroPoint ${shapeText(zeroPoint.shape)} is not of the shape of scale, ${shown}`);
  }
  const own = blockSize === undefined ? 0 : checkAxis(op, shape, axis);
  if (bits === 4 && blockSize !== undefined && own === shape.length - 1 && blockSize % 2 !== 0) {
    throw refuse(op, `blocks of ${blockSize} along axis ${own} of ${shapeText(shape)} part the bytes of 4-bit numbers`);
  }
  return { shape, scaleShape, bits, axis: own, blockSize };
}

function scaleShapeOf(
  op: string,
  shape: readonly number[],
  scale: TensorLike,
  axis: number,
  blockSize: number | undefined,
): readonly number[] {
  const ones = shape.map(() => 1);
  if (blockSize === undefined) {
    if (!(scale instanceof Tensor) || scale.rank === 0 || (scale.rank === 1 && scale.size === 1)) return ones;
    const own = checkAxis(op, shape, axis);
    if (scale.rank === 1 && scale.size === shape[own]) return ones.map((_, place) => (place === own ? scale.size : 1));
    throw refuse(op, `scale ${shapeText(scale.shape)} does not fit axis ${own} of ${shapeText(shape)}`);
  }
  const own = checkAxis(op, shape, axis);
  const blocks = (shape[own] as number) / blockSize;
  if (!Number.isInteger(blockSize) || blockSize < 1 || !Number.isInteger(blocks)) {
    throw refuse(op, `axis ${own} of ${shapeText(shape)} is not whole blocks of ${String(blockSize)}`);
  }
  const wanted = shape.map((length, place) => (place === own ? blocks : length));
  if (scale instanceof Tensor && sameShape(scale.shape, wanted)) return wanted;
  const shown = scale instanceof Tensor ? shapeText(scale.shape) : String(scale);
  throw refuse(op, `scale ${shown} is not ${shapeText(wanted)}, one for ${blockSize} of ${shapeText(shape)}`);
}

/** The domain: an axis of blocks becomes blocks and what is in them, and with 4 bits the last one bytes and nibbles. */
export function domainOfBlocks(quantized: Quantized): readonly number[] {
  return parted(quantized.shape, 'numbers', quantized);
}

/** The values of a tensor for the points of the domain. */
type Part = 'numbers' | 'bytes' | 'scale';

/** A shape with as many axes as the numbers, its axes parted as those of {@link domainOfBlocks}. */
function parted(as: readonly number[], part: Part, { shape, axis, blockSize, bits }: Quantized): readonly number[] {
  const isOfBytes = part === 'bytes' && bits === 4 && axis === shape.length - 1;
  const parts = as.flatMap((length, place) => {
    if (blockSize === undefined || place !== axis) return [length];
    const inBlock = part === 'scale' ? 1 : isOfBytes ? blockSize / 2 : blockSize;
    return [length / inBlock, inBlock];
  });
  if (bits === 8) return parts;
  const last = parts.at(-1) as number;
  const nibbles = part === 'bytes' || last === 1 ? 1 : 2;
  return [...parts.slice(0, -1), last / nibbles, nibbles];
}

/**
 * Returns the place of a tensor over {@link domainOfBlocks}.
 *
 * @param as - its shape with as many axes as the numbers
 */
export function placeInBlocks(tensor: Tensor, as: readonly number[], part: Part, quantized: Quantized): Place {
  const own = parted(as, part, quantized);
  // Axes are only parted or added, which strides always allow.
  const strides = reshapedStrides(tensor.shape, tensor.strides, own) as number[];
  const { ptr, dtype } = tensor;
  return { ptr, dtype, strides: broadcastStrides(own, strides, domainOfBlocks(quantized)) };
}
