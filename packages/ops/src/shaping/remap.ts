import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type GatherInput,
  type GatherOperand,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { Kernels } from '../compute/kernels.ts';
import { copyElements } from '../compute/copy.ts';
import { type OutOption, produce, produceFitting } from '../compute/produce.ts';
import { launch } from '../tensor/errors.ts';
import { reshapedStrides, sizeOf } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';

/** The rule for indices beyond an axis: see {@link PLACES}. */
export type RemapMode = 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap' | 'flip';

/** A map of the indices of the result to other ones, along some axes. */
export interface Remap {
  readonly mode: RemapMode;
  /** The shape of the result. */
  readonly shape: readonly number[];
  /** True if the axis is read elsewhere than at the index itself. */
  readonly changes: readonly boolean[];
  /** The number subtracted from an index, for each axis; 0 for none. */
  readonly before: readonly number[];
  /** The value outside, with `'constant'`. */
  readonly value: number;
}

type Index = Value<'i32'>;

/** The index of `x` from that of the result, `before` and the length of `x`. */
const PLACES: Readonly<Record<RemapMode, (k: KernelBuilder, i: Index, before: Index, length: Index) => Index>> = {
  constant: (k, i, before) => k.sub(i, before),
  edge: (k, i, before, length) => k.clamp(k.sub(i, before), 0, k.sub(length, 1)),
  // There and back again: a wave with the period 2 (length - 1). Of one element it is 0, and so is the remainder.
  reflect: (k, i, before, length) => {
    const period = k.mul(k.sub(length, 1), 2);
    const place = k.abs(k.rem(k.sub(i, before), period));
    return k.select(k.lt(place, length), place, k.sub(period, place));
  },
  // The same with the outermost elements twice: the period is 2 length, and what is before 0 mirrors what is from it on.
  symmetric: (k, i, before, length) => {
    const from = k.sub(i, before);
    const place = k.rem(k.select(k.lt(from, 0), k.sub(-1, from), from), k.mul(length, 2));
    return k.select(k.lt(place, length), place, k.sub(k.sub(k.mul(length, 2), 1), place));
  },
  wrap: (k, i, before, length) => {
    const place = k.rem(k.sub(i, before), length);
    return k.select(k.lt(place, 0), k.add(place, length), place);
  },
  flip: (k, i, _, length) => k.sub(k.sub(length, 1), i),
};

/** The inputs of a kernel besides the index. */
const ASKS: Readonly<Record<RemapMode, { readonly before: boolean; readonly length: boolean }>> = {
  constant: { before: true, length: false },
  edge: { before: true, length: true },
  reflect: { before: true, length: true },
  symmetric: { before: true, length: true },
  wrap: { before: true, length: true },
  flip: { before: false, length: true },
};

/** A gather input has at most that many axes. */
const MAX_AXES = 4;

/** Reads a tensor at other places: in one launch, if the axes that change and those between them are at most 4. */
export function remap(op: string, x: Tensor, spec: Remap, options: OutOption): Tensor {
  if (!spec.changes.includes(true)) {
    return produce(op, x.backend, x.shape, x.dtype, options, (result) => {
      launch(op, [x], () => copyElements(x.backend, x.shape, x, result));
    });
  }
  const groups = groupsOf(spec.changes);
  if (groups.length <= MAX_AXES) return remapGroups(op, x, spec, groups, options);
  const first = spec.changes.indexOf(true);
  return tidy(() => {
    const only = spec.changes.map((_, axis) => axis === first);
    const shape = x.shape.map((length, axis) => (axis === first ? (spec.shape[axis] as number) : length));
    const partly = remap(op, x, { ...spec, shape, changes: only }, {});
    const rest = spec.changes.map((changes, axis) => changes && axis !== first);
    return remap(op, partly, { ...spec, changes: rest }, options);
  });
}

/** Axes that are taken together: each that changes by itself, those between as one. */
interface Group {
  readonly axes: readonly number[];
  readonly changes: boolean;
}

function groupsOf(changes: readonly boolean[]): readonly Group[] {
  const groups: Group[] = [];
  for (const [axis, own] of changes.entries()) {
    const last = groups.at(-1);
    if (own || last === undefined || last.changes) groups.push({ axes: [axis], changes: own });
    else groups[groups.length - 1] = { axes: [...last.axes, axis], changes: false };
  }
  return groups;
}

function remapGroups(op: string, x: Tensor, spec: Remap, groups: readonly Group[], options: OutOption): Tensor {
  const grouped = (shape: readonly number[]): number[] =>
    groups.map(({ axes }) => sizeOf(axes.map((axis) => shape[axis] as number)));
  const domain = grouped(spec.shape);
  const stridesOf = (out: Tensor): readonly number[] | undefined => reshapedStrides(out.shape, out.strides, domain);
  const fits = (out: Tensor): boolean => stridesOf(out) !== undefined;
  const type = ELEMENT_TYPES[x.dtype].value;
  return produceFitting(op, x.backend, spec.shape, x.dtype, options, fits, (result) => {
    const params: Record<string, number> = spec.mode === 'constant' ? { value: spec.value } : {};
    const source = reshape(x, grouped(x.shape));
    for (const [index, { axes, changes }] of groups.entries()) {
      if (!changes) continue;
      if (ASKS[spec.mode].before) params[`before${index}`] = spec.before[axes[0] as number] as number;
      if (ASKS[spec.mode].length) params[`length${index}`] = source.shape[index] as number;
    }
    const kernel = kernelOf(type, spec.mode, groups);
    const to = { ptr: result.ptr, dtype: result.dtype, strides: stridesOf(result) as readonly number[] };
    try {
      const { ptr, dtype, shape, strides } = source;
      launch(op, [x], () => {
        const inputs: Record<string, GatherOperand> = { x: { ptr, dtype, shape, strides } };
        launchKernel(x.backend, kernel, { shape: domain, inputs, params, outputs: { y: to } });
      });
    } finally {
      source.dispose();
    }
  });
}

const kernels = new Kernels();

function kernelOf(type: NumberType, mode: RemapMode, groups: readonly Group[]): Kernel {
  const key = `${type} ${mode} ${groups.map(({ changes }) => Number(changes)).join('')}`;
  return kernels.of(key, () => define(type, mode, groups));
}

function define(type: NumberType, mode: RemapMode, groups: readonly Group[]): Kernel {
  const params: Record<string, NumberType> = mode === 'constant' ? { value: type } : {};
  for (const [index, { changes }] of groups.entries()) {
    if (changes && ASKS[mode].before) params[`before${index}`] = 'i32';
    if (changes && ASKS[mode].length) params[`length${index}`] = 'i32';
  }
  const inputs = { x: { type, access: 'gather', rank: groups.length as 1 | 2 | 3 | 4 } } as const;
  return defineKernel(mode, { inputs, params }, (symbols, k) => {
    const of = (name: string): Index => symbols[name] as unknown as Index;
    const places = groups.map(({ changes }, index) => {
      if (!changes) return k.index(index);
      return PLACES[mode](k, k.toI32(k.index(index)), of(`before${index}`), of(`length${index}`));
    });
    const otherwise = mode === 'constant' ? (symbols['value'] as Value<'f32'>) : 0;
    return { y: k.gather(symbols.x as GatherInput<'f32'>, places, otherwise) };
  }) as Kernel;
}
