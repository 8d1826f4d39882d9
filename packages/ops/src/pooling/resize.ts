import { BackendError } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { launchKernel } from '../compute/launches.ts';
import { Kernels } from '../compute/kernels.ts';
import {
  defineKernel,
  type GatherInput,
  type GatherOperand,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { type OutOption, produce } from '../compute/produce.ts';
import { OUT, checkList, checkOptions, checkTensor, shown } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link resize}. */
export interface ResizeOptions extends OutOption {
  /** Default `'nearest'`. */
  readonly mode?: 'nearest' | 'bilinear';
  /** Aligns the corners of both images, not their edges, with `'bilinear'`. Default false. */
  readonly alignCorners?: boolean;
}

/**
 * Images of another size, as interpolate of PyTorch: `[n, c, h, w]` to `[n, c, ...size]`. Place i of a result of size m
 * takes that of n at `floor(i n / m)`, or between the two around `max(0, (i + 1/2) n / m - 1/2)`, with `alignCorners`
 * `i (n - 1) / (m - 1)`. Places are worked out in integers, so they are exact.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that are none, and integers with `'bilinear'`
 * @throws {BackendError} UNSUPPORTED for sizes whose product is 2^30 or more
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2], [3, 4]]]]);
 * await resize(x, [2, 4]).toArray(); // [1, 1, 2, 2, 3, 3, 4, 4]
 * await resize(x, [1, 4], { mode: 'bilinear' }).toArray(); // [2, 2.25, 2.75, 3]
 * await resize(x, [2, 3], { mode: 'bilinear', alignCorners: true }).toArray(); // [1, 1.5, 2, 3, 3.5, 4]
 * ```
 */
export function resize(x: Tensor, size: readonly [h: number, w: number], options: ResizeOptions = {}): Tensor {
  checkTensor('resize', 'x', x);
  checkList('resize', 'size', size);
  checkOptions('resize', options, { ...OUT, mode: 'any', alignCorners: 'boolean' });
  const { mode = 'nearest', alignCorners = false } = options;
  const [n = 0, c = 0, height = 0, width = 0] = x.shape;
  const [h, w] = size;
  const type = ELEMENT_TYPES[x.dtype].value;
  if (mode !== 'nearest' && mode !== 'bilinear')
    throw refuse('resize', `mode must be nearest or bilinear, got ${shown(mode)}`);
  if (mode === 'nearest' && alignCorners) throw refuse('resize', 'alignCorners is for mode bilinear');
  if (x.rank !== 4 || (mode === 'bilinear' && type !== 'f32')) {
    const what = mode === 'bilinear' ? 'f32, f16 or bf16 ' : '';
    throw refuse('resize', `takes ${what}[n, c, h, w], got ${x.dtype}${shapeText(x.shape)}`);
  }
  if (size.length !== 2 || ![height, width, h, w].every((each) => Number.isSafeInteger(each) && each > 0)) {
    throw refuse('resize', `cannot make ${shown(size)} of ${shapeText(x.shape)}`);
  }
  // Below it no product of two places leaves the range of i32.
  if (height * h >= 2 ** 30 || width * w >= 2 ** 30) {
    const detail = `resize: ${shapeText(x.shape)} to ${shapeText(size)}: sizes of an axis multiply to 2^30 or more`;
    throw new BackendError('UNSUPPORTED', detail, { op: 'resize' });
  }
  const place = mode === 'nearest' ? nearest : alignCorners ? alignedCorners : alignedEdges;
  return produce('resize', x.backend, [n, c, h, w], x.dtype, options, (result) => {
    const { ptr, dtype, shape, strides } = x;
    const inputs: Record<string, GatherOperand> = { x: { ptr, dtype, shape, strides } };
    const outputs = { y: { ptr: result.ptr, dtype: result.dtype, strides: result.strides } };
    const params = { ...named('row', place(height, h), mode), ...named('column', place(width, w), mode) };
    launch('resize', [x], () => {
      launchKernel(x.backend, kernelOf(mode, type), { shape: [n, c, h, w], inputs, params, outputs });
    });
  });
}

/** The place in `x` of index i of the result: `max(0, factor i + shift) / divisor`, up to `last`. */
interface Line {
  readonly factor: number;
  readonly shift: number;
  readonly divisor: number;
  readonly last: number;
}

function nearest(from: number, to: number): Line {
  return { factor: from, shift: 0, divisor: to, last: from - 1 };
}

function alignedCorners(from: number, to: number): Line {
  return { factor: from - 1, shift: 0, divisor: Math.max(1, to - 1), last: from - 1 };
}

function alignedEdges(from: number, to: number): Line {
  return { factor: 2 * from, shift: from - to, divisor: 2 * to, last: from - 1 };
}

type Mode = NonNullable<ResizeOptions['mode']>;

/** The fields that a kernel of a mode is told. */
const FIELDS = { nearest: ['factor', 'divisor'], bilinear: ['factor', 'shift', 'divisor', 'last'] } as const;

function named(axis: string, line: Line, mode: Mode): Record<string, number> {
  return Object.fromEntries(FIELDS[mode].map((field) => [`${axis}-${field}`, line[field]]));
}

const kernels = new Kernels();

function kernelOf(mode: Mode, type: NumberType): Kernel {
  const key = `${mode} ${type}`;
  return kernels.of(key, () => define(mode, type));
}

type Index = Value<'i32'>;

function define(mode: Mode, type: NumberType): Kernel {
  const inputs = { x: { type, access: 'gather', rank: 4 } } as const;
  const names = ['row', 'column'].flatMap((axis) => FIELDS[mode].map((field) => `${axis}-${field}`));
  const params = Object.fromEntries(names.map((name) => [name, 'i32'])) as Record<string, 'i32'>;
  return defineKernel(`resize-${mode}`, { inputs, params }, (symbols, k) => {
    const x = symbols.x as GatherInput<'f32'>;
    const of = (axis: string, field: string): Index => symbols[`${axis}-${field}`] as Index;
    const at = (row: Index, column: Index): Value<'f32'> => k.gather(x, [k.index(0), k.index(1), row, column], 0);
    const scaled = (axis: string, index: number): Index => k.mul(k.toI32(k.index(index)), of(axis, 'factor'));
    if (mode === 'nearest') {
      return {
        y: at(k.div(scaled('row', 2), of('row', 'divisor')), k.div(scaled('column', 3), of('column', 'divisor'))),
      };
    }
    const between = (axis: string, index: number): Between => {
      const place = k.max(k.add(scaled(axis, index), of(axis, 'shift')), 0);
      const divisor = of(axis, 'divisor');
      const low = k.div(place, divisor);
      const high = k.min(k.add(low, 1), of(axis, 'last'));
      return { low, high, share: k.div(k.toF32(k.rem(place, divisor)), k.toF32(divisor)) };
    };
    const [row, column] = [between('row', 2), between('column', 3)];
    const along = (place: Index): Value<'f32'> => mix(k, at(place, column.low), at(place, column.high), column.share);
    return { y: mix(k, along(row.low), along(row.high), row.share) };
  }) as Kernel;
}

/** Two places, and the share of the second. */
interface Between {
  readonly low: Index;
  readonly high: Index;
  readonly share: Value<'f32'>;
}

function mix(k: KernelBuilder, a: Value<'f32'>, b: Value<'f32'>, share: Value<'f32'>): Value<'f32'> {
  return k.add(k.mul(a, k.sub(1, share)), k.mul(b, share));
}
