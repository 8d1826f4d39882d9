import type { ComputeBackend } from '@concord/backend-core';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { compareAll } from '../../checks/compare.ts';
import { type CaseContext } from '../../harness/case.ts';
import type { Random } from '../../harness/random.ts';
import { replaced } from '../../harness/shrink.ts';
import { Workspace } from '../../harness/workspace.ts';
import { eachElement, extentOf } from '../../run/placement.ts';
import { remembered } from '../../run/kernel-table.ts';
import { expectUnsupported, RUN_DEFAULTS, type RunParams } from '../../run/plan.ts';
import type { RunEntry } from './lists.ts';

type Index = Value<'u32'>;

/** The value of a gather outside. */
const OUTSIDE = -20;

const KERNELS: Readonly<Record<string, (type: 'i32' | 'u32') => Kernel>> = {
  element: (type) => defineKernel('nibble', { inputs: { w: type } }, ({ w }, k) => ({ y: k.toF32(w) })) as Kernel,
  row: (type) =>
    defineKernel('nibble of a row', { inputs: { w: { type, level: 'row' } } }, ({ w }, k) => ({
      y: k.spread(k.toF32(w)),
    })) as Kernel,
  'row folded': (type) =>
    defineKernel('sum of nibbles', { inputs: { w: type } }, ({ w }, k) => ({ y: k.fold('sum', k.toF32(w)) })) as Kernel,
  gather: (type) => {
    const inputs = { w: { type, access: 'gather', rank: 2 } } as const;
    return defineKernel('nibble by index', { inputs }, ({ w }, k: KernelBuilder) => {
      const at: Index = k.add(k.index(1), 1);
      const value = k.gather<'i32' | 'u32'>(w, [k.index(0), at], 15);
      return { y: k.select(k.lt(at, k.extent(1)), k.toF32(value), OUTSIDE) };
    }) as Kernel;
  },
};

const VIEWS = ['dense', 'padded', 'transposed', 'repeated'];

/** Strides in halves of bytes. */
function stridesOf(view: string, shape: readonly number[]): readonly number[] {
  const strides = shape.map(() => 0);
  let elements = 1;
  const axes = shape.map((_, axis) => axis);
  for (const axis of view === 'transposed' ? axes : axes.reverse()) {
    strides[axis] = elements;
    elements = elements * (shape[axis] as number) + (view === 'padded' ? 3 : 0);
  }
  return view === 'repeated' ? strides.map((stride, axis) => (axis === 0 ? 0 : stride)) : strides;
}

/** Reads elements of 4 bits, and compares with what the bytes hold. */
export async function checkNibbles({ backend, random }: CaseContext, params: RunParams): Promise<void> {
  const { shape, folded, dtype, kernel: kind, views, offset } = params;
  const own = kind === 'row' ? shape.slice(0, shape.length - folded) : shape;
  const strides = stridesOf(views, own);
  const length = Math.ceil(extentOf(own, strides) / 2);
  const bytes = Uint8Array.from({ length: offset + length }, () => random.integer(0, 255));
  const sign = dtype === 'i4' ? 8 : 0;
  const elements: number[] = [];
  eachElement(own, strides, (_, distance) => {
    const half = ((bytes[offset + (distance >> 1)] as number) >> (4 * (distance & 1))) & 15;
    elements.push((half ^ sign) - sign);
  });
  const columns = shape.slice(shape.length - folded).reduce((all, size) => all * size, 1);
  const want = {
    element: () => elements,
    row: () => elements.flatMap((element) => Array.from({ length: columns }, () => element)),
    'row folded': () =>
      Array.from({ length: elements.length / columns }, (_, row) =>
        elements.slice(row * columns, (row + 1) * columns).reduce((sum, element) => sum + element, 0),
      ),
    gather: () =>
      elements.map((_, at) => {
        const inside = (at % (shape[1] as number)) + 1 < (shape[1] as number);
        return inside ? (elements[at + 1] as number) : OUTSIDE;
      }),
  }[kind as 'element']();
  const workspace = new Workspace(backend);
  const w = workspace.stored(bytes, 'u8');
  const y = workspace.output(want.length);
  await workspace.run(() => call(backend, params, strides, (w.ptr + offset) as typeof w.ptr, y.ptr));
  compareAll('y', y.values(), want, { bound: () => 0 });
}

function call(
  backend: ComputeBackend,
  { kernel: kind, shape, folded, dtype }: RunParams,
  strides: readonly number[],
  ptr: Workspace['all'][number]['ptr'],
  y: Workspace['all'][number]['ptr'],
): void {
  const type = dtype === 'i4' ? 'i32' : 'u32';
  const kernel = remembered(`${kind} ${dtype}`, () => (KERNELS[kind] as (type: 'i32' | 'u32') => Kernel)(type));
  const w = { ptr, strides, dtype: dtype as 'i4' | 'u4' };
  const { ptr: _, ...view } = { ...w, ...(kind === 'gather' ? { shape } : {}) };
  const domain = { shape, ...(folded === 0 ? {} : { folded }) };
  const make = (): void => backend.run(kernel, { ...domain, inputs: { w: { ...view, ptr } }, outputs: { y } });
  const support = backend.supports('run', { kernel, ...domain, inputs: { w: view }, outputs: {} });
  if (support.ok) make();
  else expectUnsupported(`run of kernel ${kernel.name}`, support.reason, make);
}

/** The listed cases of inputs of 4 bits. */
export const NIBBLES: readonly RunEntry[] = ['i4', 'u4'].flatMap((dtype): RunEntry[] => [
  ...VIEWS.map((views): RunEntry => ['nibbles', { kernel: 'element', dtype, views, shape: [5, 7, 3], offset: 1 }]),
  ['nibbles', { kernel: 'element', dtype, shape: [2, 4096] }],
  ['nibbles', { kernel: 'row', dtype, views: 'padded', shape: [9, 33], folded: 1 }],
  ['nibbles', { kernel: 'row', dtype, shape: [33], folded: 1, offset: 3 }],
  ['nibbles', { kernel: 'row folded', dtype, views: 'padded', shape: [6, 2, 1000], folded: 2 }],
  ['nibbles', { kernel: 'gather', dtype, views: 'transposed', shape: [6, 9], offset: 2 }],
]);

/** Random parameters for fuzzing. */
export function drawNibbles(random: Random): [string, RunParams] {
  const kernel = random.pick(Object.keys(KERNELS));
  const rank = kernel === 'gather' ? 2 : random.integer(1, 4);
  const shape = Array.from({ length: rank }, () => random.pick([random.integer(1, 9), random.integer(1, 40)]));
  const folded = kernel.startsWith('row') ? random.integer(1, rank) : 0;
  const views = random.pick(VIEWS);
  const more = { kernel, shape, folded, views, dtype: random.pick(['i4', 'u4']), offset: random.integer(0, 5) };
  return ['nibbles', { ...RUN_DEFAULTS, ...more, seed: random.uint32() }];
}

/** Smaller parameters, largest steps first. */
export function shrinkNibbles({ shape, offset }: RunParams): Partial<RunParams>[] {
  const smaller = shape.flatMap((size, axis) =>
    size === 1 ? [] : [{ shape: replaced(shape, axis, Math.ceil(size / 2)) }],
  );
  return offset === 0 ? smaller : [...smaller, { offset: 0 }];
}
