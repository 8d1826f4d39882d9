import {
  defineKernel,
  type InputSpec,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';

type Rank = 1 | 2 | 3 | 4;
type Int = Value<'i32'> | Value<'u32'>;

/** Reads a tensor at one loaded index for each of its axes: any of them may be outside. */
export function gatherKernel(rank: Rank, index: 'i32' | 'u32', type: NumberType): Kernel {
  const names = ['i', 'j', 'l', 'm'].slice(0, rank);
  const inputs: Record<string, InputSpec> = { t: { type, access: 'gather', rank } };
  for (const name of names) inputs[name] = index;
  return defineKernel(`gather ${rank}`, { inputs }, (symbols, k) => {
    const all = symbols as unknown as Readonly<Record<string, Int>>;
    const indices = names.map((name) => all[name] as Int);
    return { y: k.gather<NumberType>(all['t'] as never, indices, type === 'u32' ? 7 : -1) };
  });
}

const matrix = { type: 'f32', access: 'gather', rank: 2 } as const;

/** A tensor read around the point, as a window with padding does. */
const window = (k: KernelBuilder, at: (y: Int, x: Int) => Value<'f32'>): Value<'f32'> => {
  const [row, column] = [k.toI32(k.index(0)), k.toI32(k.index(1))];
  let sum = at(row, column);
  for (const [dy, dx] of [
    [-1, 0],
    [1, 0],
    [0, -1],
    [0, 1],
  ] as const) {
    sum = k.add(sum, at(k.add(row, dy), k.add(column, dx)));
  }
  return sum;
};

/** Kernels that gather, by name. */
export const GATHER_KERNELS: Readonly<Record<string, () => Kernel>> = {
  ...Object.fromEntries(
    ([1, 2, 3, 4] as const).flatMap((rank) =>
      (['i32', 'u32'] as const).map((index) => [
        `gather ${rank} by ${index}`,
        () => gatherKernel(rank, index, (['f32', 'i32', 'u32', 'f32'] as const)[rank - 1] as NumberType),
      ]),
    ),
  ),
  'rows of a table': () =>
    defineKernel('rows of a table', { inputs: { t: matrix, row: { type: 'i32', level: 'row' } } }, ({ t, row }, k) => ({
      y: k.gather(t, [row, k.index(-1)], 0),
    })),
  'window with padding': () =>
    defineKernel('window with padding', { inputs: { t: matrix } }, ({ t }, k) => ({
      y: window(k, (row, column) => k.gather(t, [row, column], 0)),
    })),
  'indices that wrap': () =>
    defineKernel('indices that wrap', { inputs: { t: { type: 'i32', access: 'gather', rank: 3 } } }, ({ t }, k) => {
      // Multiplied by the strides of the axes, these come back into the tensor at 2^32.
      const far = k.add(k.mul(k.index(0), 2 ** 30), k.index(1));
      return {
        y: k.gather(t, [far, k.index(1), k.index(0)], -5),
        z: k.gather(t, [k.index(0), k.sub(k.index(1), 2), k.u32(0)], 9),
      };
    }),
  'otherwise is computed': () =>
    defineKernel(
      'otherwise is computed',
      { inputs: { t: { type: 'f32', access: 'gather', rank: 1 }, x: 'f32', i: 'i32' } },
      ({ t, x, i }, k) => ({ y: k.gather(t, [i], k.mul(x, x)), z: k.gather(t, [i], Number.NaN) }),
    ),
  'at the greatest': () =>
    defineKernel('at the greatest', { inputs: { t: matrix, x: 'f32' } }, ({ t, x }, k) => ({
      y: k.gather(t, [k.rowIndex(0), k.fold('argmax', x)], 0),
    })),
  'sum of what is gathered': () =>
    defineKernel(
      'sum of what is gathered',
      { inputs: { t: { type: 'i32', access: 'gather', rank: 1 }, i: 'u32' } },
      ({ t, i }, k) => ({ y: k.fold('sum', k.gather(t, [i], 100)), outside: k.fold('count', k.ge(i, 9)) }),
    ),
  'two tables': () =>
    defineKernel(
      'two tables',
      { inputs: { s: matrix, t: { type: 'u32', access: 'gather', rank: 1 }, i: 'u32' } },
      ({ s, t, i }, k) => ({ y: k.gather(s, [k.gather(t, [i], 99), i], -1), z: k.gather(s, [i, i], -2) }),
    ),
};

/** Kernels that read a table at the index along the last axis, which neighbours in memory may not lie along. */
export const LAST_INDEX_KERNELS: Readonly<Record<string, () => Kernel>> = {
  'at the last index': () =>
    defineKernel('at the last index', { inputs: { t: { type: 'f32', access: 'gather', rank: 1 } } }, ({ t }, k) => ({
      y: k.gather(t, [k.index(-1)], -7),
    })),
  'weighted by the last index': () =>
    defineKernel(
      'weighted by the last index',
      { inputs: { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } } },
      ({ x, t }, k) => ({ y: k.fold('sum', k.mul(x, k.gather(t, [k.index(-1)], 3))) }),
    ),
};

/** Sizes of a gather input: small, so that indices are inside and outside; tables of whole vectors for the last index. */
export function gatherSizes({ name }: Kernel, rank: number): readonly number[] {
  return Object.hasOwn(LAST_INDEX_KERNELS, name) ? [12] : [9, 5, 4, 3].slice(0, rank);
}
