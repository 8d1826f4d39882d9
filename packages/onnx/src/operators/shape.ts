import { concat, expand, pad, permute, reshape, slice, split, type Tensor, tile, tril, triu } from '@concord/ops';
import { broadcastShapes } from '@concord/ops/listen';
import { refuse } from '../errors.ts';
import { type HostTensor, hostTensor, int64s, sizeOf } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { wantedType } from './create.ts';
import type { Operator, Operators } from './operator.ts';

/** The shape that Reshape's list of sizes means: 0 keeps a size, -1 is what remains. */
function reshaped(call: Call): number[] {
  const dims = call.dims(0);
  const wanted = call.ints(1, 'shape') ?? [];
  const allowZero = call.int('allowzero', 0) === 1;
  const sizes = wanted.map((size, axis) => (size === 0 && !allowZero ? (dims[axis] ?? 0) : size));
  const rest = sizes.indexOf(-1);
  const known = sizeOf(sizes.filter((size) => size !== -1));
  if (rest >= 0) sizes[rest] = known === 0 ? 0 : sizeOf(dims) / known;
  if (sizeOf(sizes) !== sizeOf(dims) || sizes.some((size) => !Number.isInteger(size) || size < 0)) {
    throw refuse(`[${dims.join(', ')}] cannot have the shape [${wanted.join(', ')}]`);
  }
  return sizes;
}

/** The shape that both broadcast to. */
export function broadcast(a: readonly number[], b: readonly number[]): readonly number[] {
  const both = broadcastShapes(a, b);
  if (both === undefined) throw refuse(`[${a.join(', ')}] and [${b.join(', ')}] do not broadcast`);
  return both;
}

/** A range of Slice along an axis, with places cut as ONNX cuts them; the stop of a backward one may be null, before the first. */
export type Cut = readonly [start: number, stop: number | null, step: number];

/** Returns what Slice takes of each axis; undefined is all. */
export function cuts(call: Call): (Cut | undefined)[] {
  const dims = call.dims(0);
  const starts = call.ints(1, 'starts') ?? [];
  const ends = call.ints(2, 'ends') ?? [];
  const axes = call.ints(3, 'axes') ?? starts.map((_, axis) => axis);
  const steps = call.ints(4, 'steps') ?? starts.map(() => 1);
  if ([ends, axes, steps].some(({ length }) => length !== starts.length))
    throw refuse('starts, ends, axes and steps are not of one length');
  const result = dims.map((): Cut | undefined => undefined);
  for (const [i, given] of axes.entries()) {
    const axis = call.axis(given);
    const [size, step] = [dims[axis] as number, steps[i] as number];
    if (step === 0) throw refuse('a step is 0');
    const place = (at: number, low: number, high: number): number =>
      Math.min(Math.max(at < 0 ? at + size : at, low), high);
    const [start, end] = [starts[i] as number, ends[i] as number];
    if (step > 0) result[axis] = [place(start, 0, size), place(end, 0, size), step];
    else {
      // ONNX Runtime takes the largest number as the axis' end in both directions.
      const stop = end === 2 ** 31 - 1 || end === 2 ** 63 ? -1 : place(end, -1, size - 1);
      result[axis] = [place(start, 0, size - 1), stop < 0 ? null : stop, step];
    }
  }
  return result;
}

function sliceOp(call: Call): Tensor {
  const ranges = cuts(call).map((cut) => cut ?? null);
  const isEmpty = ranges.some((cut) => cut !== null && lengthOf(cut) === 0);
  // Where nothing is left, ranges that go backwards from nothing are not read.
  return slice(call.x(0), isEmpty ? ranges.map((cut) => cut && (lengthOf(cut) === 0 ? [0, 0] : cut)) : ranges);
}

/** Returns the number of places of a range. */
export function lengthOf([start, stop, step]: Cut): number {
  return Math.max(0, Math.ceil(((stop ?? -1) - start) / step));
}

/** Returns the sizes that Split cuts. */
export function parts(call: Call): { readonly axis: number; readonly sizes: readonly number[] } {
  const axis = call.axis(call.int('axis', 0));
  const size = call.dims(0)[axis] as number;
  const given = call.ints(1, 'split');
  if (given !== undefined) return { axis, sizes: given };
  const count = call.int('num_outputs', call.node.outputs.length);
  const each = Math.ceil(size / count);
  return { axis, sizes: Array.from({ length: count }, (_, i) => Math.max(0, Math.min(each, size - i * each))) };
}

/** Sizes without axes of size 1. */
function squeezed(call: Call): number[] {
  const dims = call.dims(0);
  const ones = dims.flatMap((size, axis) => (size === 1 ? [axis] : []));
  const axes = call.ints(1, 'axes')?.map((axis) => call.axis(axis)) ?? ones;
  if (axes.some((axis) => dims[axis] !== 1)) throw refuse('an axis that is squeezed is not of size 1');
  return dims.filter((_, axis) => !axes.includes(axis));
}

/** Sizes with further axes of size 1. */
function unsqueezed(call: Call): number[] {
  const axes = call.ints(1, 'axes') ?? [];
  const rank = call.dims(0).length + axes.length;
  const places = new Set(axes.map((axis) => call.axis(axis, rank)));
  if (places.size !== axes.length) throw refuse('an axis is named twice');
  const rest = [...call.dims(0)];
  return Array.from({ length: rank }, (_, axis) => (places.has(axis) ? 1 : (rest.shift() as number)));
}

function flattened(call: Call): number[] {
  const dims = call.dims(0);
  const given = call.int('axis', 1);
  const axis = given < 0 ? given + dims.length : given;
  return [sizeOf(dims.slice(0, axis)), sizeOf(dims.slice(axis))];
}

/** An operator that only gives a tensor other sizes. */
const resized = (dimsOf: (call: Call) => number[]): Operator => ({
  needs: [1],
  run: (call) => reshape(call.x(0), dimsOf(call)),
  host: (call) => ({ ...call.host(0), dims: dimsOf(call) }),
});

/** Depth to space or back, as a reshape, a permutation and a reshape. */
function blocks(call: Call, before: readonly number[], order: readonly number[], after: readonly number[]): Tensor {
  return reshape(permute(reshape(call.x(0), before), order), after);
}

function depthToSpace(call: Call): Tensor {
  const [n, c, h, w] = call.dims(0) as [number, number, number, number];
  const b = call.int('blocksize');
  const depth = c / (b * b);
  const after = [n, depth, h * b, w * b];
  return call.choice('mode', 'DCR', 'CRD') === 'DCR'
    ? blocks(call, [n, b, b, depth, h, w], [0, 3, 4, 1, 5, 2], after)
    : blocks(call, [n, depth, b, b, h, w], [0, 1, 4, 2, 5, 3], after);
}

function spaceToDepth(call: Call): Tensor {
  const [n, c, h, w] = call.dims(0) as [number, number, number, number];
  const b = call.int('blocksize');
  const order = call.choice('mode', 'DCR', 'CRD') === 'DCR' ? [0, 3, 5, 1, 2, 4] : [0, 1, 3, 5, 2, 4];
  return blocks(call, [n, c, h / b, b, w / b, b], order, [n, c * b * b, h / b, w / b]);
}

function padOp(call: Call): Results {
  const dims = call.dims(0);
  const list = call.ints(1, 'pads') ?? [];
  const axes = call.has(3) ? call.numbers(3).map((axis) => call.axis(axis)) : dims.map((_, axis) => axis);
  const pads = dims.map((): [number, number] => [0, 0]);
  axes.forEach((axis, i) => (pads[axis] = [list[i] as number, list[i + axes.length] as number]));
  const value = call.version < 11 ? call.float('value', 0) : call.scalar(2, 0);
  const mode = call.choice('mode', 'constant', 'reflect', 'edge', 'wrap');
  return padded(call.x(0), pads, { mode, ...(mode === 'constant' ? { value } : {}) });
}

/** Pads axes before and after; what is negative crops. */
function padded(x: Tensor, pads: readonly (readonly [number, number])[], options?: Parameters<typeof pad>[2]): Tensor {
  const cut = slice(
    x,
    pads.map(([a, b], axis) => (a < 0 || b < 0 ? [Math.max(0, -a), (x.shape[axis] as number) + Math.min(0, b)] : null)),
  );
  const around = pads.map(([a, b]) => [Math.max(0, a), Math.max(0, b)] as const);
  return pad(cut, around, options);
}

/** Cuts out the middle of some axes, or surrounds it with zeros. */
function centred(call: Call): Tensor {
  const dims = call.dims(0);
  const axes = (call.list('axes') ?? dims.map((_, axis) => axis)).map((axis) => call.axis(axis));
  const sizes = call.numbers(1);
  const pads = dims.map((size, axis) => {
    const more = axes.includes(axis) ? (sizes[axes.indexOf(axis)] as number) - size : 0;
    // The odd one is at the end.
    return [Math.trunc(more / 2), more - Math.trunc(more / 2)] as const;
  });
  return padded(call.x(0), pads);
}

/** The number that ConstantOfShape repeats. */
export function fillOf(call: Call): HostTensor {
  return (call.attribute('value') as HostTensor | undefined) ?? hostTensor('float32', [1], [0]);
}

function constantOfShape(call: Call): Results {
  const value = fillOf(call);
  return call.typed(expand(call.toDevice({ ...value, dims: [] }), call.numbers(0)), value.type);
}

/** EyeLike: ones on a diagonal. */
function eyeLike(call: Call): HostTensor {
  const [rows, columns] = call.dims(0) as [number, number];
  const shift = call.int('k', 0);
  const values = Array.from({ length: rows * columns }, (_, i) =>
    Number((i % columns) - Math.floor(i / columns) === shift),
  );
  return hostTensor(wantedType(call), [rows, columns], values);
}

/** Operators that move, repeat or name elements and compute nothing. */
export const SHAPE: Operators = {
  Identity: { run: (call) => call.value(0), host: (call) => call.host(0) },
  Shape: (call) => {
    const dims = call.dims(0);
    const place = (at: number): number => Math.min(Math.max(at < 0 ? at + dims.length : at, 0), dims.length);
    return int64s(dims.slice(place(call.int('start', 0)), place(call.int('end', dims.length))));
  },
  Size: (call) => hostTensor('int64', [], [sizeOf(call.dims(0))]),
  Reshape: resized(reshaped),
  Flatten: resized(flattened),
  Transpose: (call) =>
    permute(call.x(0), call.list('perm') ?? call.dims(0).map((_, axis, { length }) => length - 1 - axis)),
  Squeeze: resized(squeezed),
  Unsqueeze: resized(unsqueezed),
  Concat: (call) => {
    const axis = call.axis(call.int('axis', 0));
    const tensors = call.all();
    const filled = tensors.filter(({ shape }) => shape[axis] !== 0);
    return filled.length === 0 ? (tensors[0] as Tensor) : concat(filled, { axis });
  },
  Split: {
    needs: [1],
    run: (call) => {
      const { axis, sizes } = parts(call);
      return split(call.x(0), sizes, axis);
    },
  },
  Slice: { needs: [1, 2, 3, 4], run: sliceOp },
  Expand: { needs: [1], run: (call) => expand(call.x(0), broadcast(call.dims(0), call.numbers(1))) },
  Tile: { needs: [1], run: (call) => tile(call.x(0), call.numbers(1)) },
  Pad: { needs: [1, 2, 3], run: padOp },
  CenterCropPad: { needs: [1], run: centred },
  ConstantOfShape: { needs: [0], run: constantOfShape },
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
  EyeLike: eyeLike,
  Trilu: {
    needs: [1],
    run: (call) => {
      const diagonal = call.scalar(1, 0);
      return call.int('upper', 1) === 1 ? triu(call.x(0), { diagonal }) : tril(call.x(0), { diagonal });
    },
  },
  Dropout: {
    needs: [1, 2],
    run: (call) => {
      if (call.has(2) && call.scalar(2) !== 0 && call.scalar(1, 0.5) !== 0) return call.refuse('training');
      const mask = hostTensor('bool', call.dims(0), new Uint8Array(sizeOf(call.dims(0))).fill(1));
      return [call.value(0), call.node.outputs[1] ? mask : undefined];
    },
  },
};
