import {
  defineKernel,
  type InputSpec,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type OutputSpec,
  SCAN_OPS,
  type ScanOp,
  type ScatterMode,
  type Value,
} from '@concord/backend-core/kernel';
import { define, kernelsOf, type KernelTable } from './kernel-table.ts';

type GatherRank = 1 | 2 | 3 | 4;
type GatherIndex = Value<'i32'> | Value<'u32'>;

/** Reads a tensor at one loaded index for each of its axes: any of them may be outside. */
function gatherKernel(rank: GatherRank, index: 'i32' | 'u32', type: NumberType): Kernel {
  const names = ['i', 'j', 'l', 'm'].slice(0, rank);
  const inputs: Record<string, InputSpec> = { t: { type, access: 'gather', rank } };
  for (const name of names) inputs[name] = index;
  return defineKernel(`gather ${rank}`, { inputs }, (symbols, k) => {
    const all = symbols as unknown as Readonly<Record<string, GatherIndex>>;
    const indices = names.map((name) => all[name] as GatherIndex);
    return { y: k.gather<NumberType>(all['t'] as never, indices, type === 'u32' ? 7 : -1) };
  });
}

const matrix = { type: 'f32', access: 'gather', rank: 2 } as const;

/** A tensor read around the point, as a window with padding does. */
const window = (k: KernelBuilder, at: (y: GatherIndex, x: GatherIndex) => Value<'f32'>): Value<'f32'> => {
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
export const GATHER_KERNELS: KernelTable = {
  ...Object.fromEntries(
    ([1, 2, 3, 4] as const).flatMap((rank) =>
      (['i32', 'u32'] as const).map((index) => [
        `gather ${rank} by ${index}`,
        () => gatherKernel(rank, index, (['f32', 'i32', 'u32', 'f32'] as const)[rank - 1] as NumberType),
      ]),
    ),
  ),
  'rows of a table': define({ inputs: { t: matrix, row: { type: 'i32', level: 'row' } } }, ({ t, row }, k) => ({
    y: k.gather(t, [row, k.index(-1)], 0),
  })),
  'window with padding': define({ inputs: { t: matrix } }, ({ t }, k) => ({
    y: window(k, (row, column) => k.gather(t, [row, column], 0)),
  })),
  'indices that wrap': define({ inputs: { t: { type: 'i32', access: 'gather', rank: 3 } } }, ({ t }, k) => {
    // Multiplied by the strides of the axes, these come back into the tensor at 2^32.
    const far = k.add(k.mul(k.index(0), 2 ** 30), k.index(1));
    return {
      y: k.gather(t, [far, k.index(1), k.index(0)], -5),
      z: k.gather(t, [k.index(0), k.sub(k.index(1), 2), k.u32(0)], 9),
    };
  }),
  'otherwise is computed': define(
    { inputs: { t: { type: 'f32', access: 'gather', rank: 1 }, x: 'f32', i: 'i32' } },
    ({ t, x, i }, k) => ({ y: k.gather(t, [i], k.mul(x, x)), z: k.gather(t, [i], Number.NaN) }),
  ),
  'at the greatest': define({ inputs: { t: matrix, x: 'f32' } }, ({ t, x }, k) => ({
    y: k.gather(t, [k.rowIndex(0), k.fold('argmax', x)], 0),
  })),
  'sum of what is gathered': define(
    { inputs: { t: { type: 'i32', access: 'gather', rank: 1 }, i: 'u32' } },
    ({ t, i }, k) => ({ y: k.fold('sum', k.gather(t, [i], 100)), outside: k.fold('count', k.ge(i, 9)) }),
  ),
  'two tables': define(
    { inputs: { s: matrix, t: { type: 'u32', access: 'gather', rank: 1 }, i: 'u32' } },
    ({ s, t, i }, k) => ({ y: k.gather(s, [k.gather(t, [i], 99), i], -1), z: k.gather(s, [i, i], -2) }),
  ),
};

/** Kernels that read a table at the index along the last axis, which neighbours in memory may not lie along. */
const LAST_INDEX_KERNELS: KernelTable = {
  'at the last index': define({ inputs: { t: { type: 'f32', access: 'gather', rank: 1 } } }, ({ t }, k) => ({
    y: k.gather(t, [k.index(-1)], -7),
  })),
  'weighted by the last index': define(
    { inputs: { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } } },
    ({ x, t }, k) => ({ y: k.fold('sum', k.mul(x, k.gather(t, [k.index(-1)], 3))) }),
  ),
};

/** One of {@link GATHER_KERNELS} or {@link LAST_INDEX_KERNELS}. */
export const gatheringKernel: (name: string) => Kernel = kernelsOf({ ...GATHER_KERNELS, ...LAST_INDEX_KERNELS });

/** Sizes of a gather input: small, so that indices are inside and outside; tables of whole vectors for the last index. */
export function gatherSizes({ name }: Kernel, rank: number): readonly number[] {
  return Object.hasOwn(LAST_INDEX_KERNELS, name) ? [12] : [9, 5, 4, 3].slice(0, rank);
}

type Rank = OutputSpec['rank'];
type Int = Value<'i32'> | Value<'u32'>;

const tensor = <Type extends NumberType>(type: Type, rank: Rank, mode: ScatterMode): OutputSpec & { type: Type } => ({
  type,
  access: 'scatter',
  rank,
  mode,
});

/** Writes a tensor at one loaded index for each of its axes: any of them may be outside, and several points may meet. */
function scatterKernel(mode: ScatterMode, rank: Rank, index: 'i32' | 'u32', type: NumberType): KernelTable[string] {
  const names = ['i', 'j', 'l', 'm'].slice(0, rank);
  const inputs: Record<string, InputSpec> = { x: type };
  for (const own of names) inputs[own] = index;
  return define({ inputs, outputs: { t: tensor(type, rank, mode) } }, (symbols, k) => {
    const all = symbols as unknown as Readonly<Record<string, Int>>;
    return {
      t: k.scatter(
        all['x'] as Value<NumberType>,
        names.map((own) => all[own] as Int),
      ),
    };
  });
}

/** Each point and each row counted, wherever it is worked on. */
const counted = (k: KernelBuilder): Value<'u32'>[] => [k.rem(k.index(0), 3), k.rem(k.index(-1), 5)];

/** Kernels that scatter, by name. */
export const SCATTER_KERNELS: KernelTable = {
  ...Object.fromEntries(
    (['set', 'add', 'max', 'min'] as const).flatMap((mode) =>
      (['f32', 'i32', 'u32'] as const).map((type, at) => {
        const index = at === 1 ? 'i32' : 'u32';
        return [`scatter ${mode} ${type}`, scatterKernel(mode, (at + 1) as Rank, index, type)];
      }),
    ),
  ),
  'scatter set 4': scatterKernel('set', 4, 'i32', 'f32'),
  'append rows': define(
    {
      inputs: { x: 'f32', at: { type: 'u32', access: 'gather', rank: 1 } },
      outputs: { t: tensor('f32', 2, 'set') },
    },
    ({ x, at }, k) => ({ t: k.scatter(x, [k.add(k.gather(at, [k.u32(0)], 0), k.index(0)), k.index(-1)]) }),
  ),
  'points are counted': define({ inputs: { x: 'f32' }, outputs: { t: tensor('u32', 2, 'add') } }, ({ x }, k) => ({
    t: k.scatter(k.select(k.isNan(x), k.u32(1), 1), counted(k)),
    y: k.mul(x, 2),
  })),
  'rows are counted': define(
    {
      inputs: { x: 'f32' },
      outputs: { t: tensor('u32', 1, 'add'), s: tensor('u32', 2, 'add'), u: tensor('f32', 1, 'max') },
    },
    ({ x }, k) => {
      const mean = k.fold('mean', x);
      return {
        // Of a row once, of a row's value at each element, and of each element that knows a fold.
        t: k.scatter(k.select(k.isNan(mean), k.u32(1), 1), [k.rem(k.rowIndex(0), 3)]),
        s: k.scatter(k.select(k.isNan(mean), k.u32(1), 1), counted(k)),
        u: k.scatter(x, [k.fold('argmax', x)]),
      };
    },
  ),
  'at the greatest': define({ inputs: { x: 'f32' }, outputs: { t: tensor('i32', 1, 'add') } }, ({ x }, k) => ({
    t: k.scatter(k.i32(1), [k.rem(k.fold('argmax', x), 9)]),
    y: k.sub(x, k.fold('max', x)),
  })),
  'normed and turned': define({ inputs: { x: 'f32' }, outputs: { t: tensor('f32', 2, 'set') } }, ({ x }, k) => ({
    t: k.scatter(k.sub(x, k.fold('max', x)), [k.rem(k.index(-1), 9), k.index(0)]),
  })),
};

/** One of {@link SCATTER_KERNELS}. */
export const scatteringKernel: (name: string) => Kernel = kernelsOf(SCATTER_KERNELS);

/** A kernel of both scans of an operand in one direction. */
function bothScans(op: ScanOp, type: NumberType, reverse: boolean): KernelTable[string] {
  return define({ inputs: { x: type } }, ({ x }, k) => ({
    y: k.scan(op, x, { reverse }),
    z: k.scan(op, x, { exclusive: true, reverse }),
  }));
}

/** Kernels that scan, by name. */
export const SCAN_KERNELS: KernelTable = {
  ...Object.fromEntries(
    SCAN_OPS.flatMap((op) =>
      (['f32', 'i32', 'u32'] as const).flatMap((type) =>
        [false, true].map((reverse) => [
          `scan ${op} ${type}${reverse ? ' in reverse' : ''}`,
          bothScans(op, type, reverse),
        ]),
      ),
    ),
  ),
  'sum of what a softmax leaves': define({ inputs: { x: 'f32' } }, ({ x }, k) => {
    const largest = k.fold('max', x);
    const e = k.exp(k.sub(x, largest));
    return { y: k.scan('sum', k.div(e, k.fold('sum', e)), { exclusive: true }), largest };
  }),
  'mean so far': define({ inputs: { x: 'f32' } }, ({ x }, k) => ({
    y: k.div(k.scan('sum', x), k.toF32(k.add(k.index(-1), 1))),
  })),
  'places counted': define({ inputs: { x: 'f32', r: { type: 'u32', level: 'row' } } }, ({ x, r }, k) => ({
    // Of the call, of a row and of elements, in one walk.
    ones: k.scan('sum', k.u32(1)),
    rows: k.scan('sum', r, { exclusive: true }),
    lows: k.scan('min', k.index(-1)),
    above: k.scan('sum', k.select(k.gt(x, 0), k.u32(1), 0)),
  })),
  'last place of the largest': define({ inputs: { x: 'f32' } }, ({ x }, k) => ({
    y: k.sub(k.scan('sum', k.index(-1), { reverse: true }), k.fold('argmax', x)),
    z: k.scan('max', x, { reverse: true }),
  })),
  'what is positive, close together': define(
    { inputs: { x: 'f32' }, outputs: { t: { type: 'f32', access: 'scatter', rank: 2, mode: 'set' } } },
    ({ x }, k) => {
      const isKept = k.gt(x, 0);
      const place = k.scan('sum', k.select(isKept, k.u32(1), 0), { exclusive: true });
      return { t: k.scatter(x, [k.rowIndex(0), k.select(isKept, place, 0xffff_ffff)]) };
    },
  ),
};

/** One of {@link SCAN_KERNELS}. */
export const scanningKernel: (name: string) => Kernel = kernelsOf(SCAN_KERNELS);

const LETTERS = 'abcdefghijklmnop'.split('');

/**
 * A kernel with the maximum of operands and parameters, and nearly that of nodes: a long chain of wrapping integers.
 */
export function maximalMap(nodes: number): Kernel {
  const params = Object.fromEntries(LETTERS.map((name) => [`p${name}`, 'u32' as const]));
  const inputs = { a: 'u32', b: 'u32', c: 'u32', d: 'u32' } as const;
  return defineKernel(`${nodes} nodes`, { inputs, params }, (symbols, k) => {
    const scalars = LETTERS.map(
      (name) => (symbols as unknown as Record<string, Value<'u32'>>)[`p${name}`] as Value<'u32'>,
    );
    const values = [symbols.a, symbols.b, symbols.c, symbols.d, ...scalars];
    const chain = mixed(k, values, nodes - values.length);
    return { x: chain.at(-1), y: chain.at(-2), z: chain.at(-3) } as Record<string, Value<'u32'>>;
  });
}

/** The same with six folds that depend on each other. */
export function maximalRows(nodes: number): Kernel {
  const inputs = { a: 'u32', b: 'u32', r: { type: 'u32', level: 'row' } } as const;
  return defineKernel(`${nodes} nodes of rows`, { inputs }, ({ a, b, r }, k) => {
    let values: readonly Value<'u32'>[] = [a, b, r];
    for (const op of ['sum', 'max', 'min', 'product', 'sum', 'max'] as const) {
      values = mixed(k, values, Math.floor((nodes - 16) / 6) - 1).slice(-6);
      values = [...values, k.fold(op, values.at(-1) as Value<'u32'>)];
    }
    const [row, element] = [values.at(-1) as Value<'u32'>, values.at(-2) as Value<'u32'>];
    return { row, y: k.xor(row, element), sum: k.fold('sum', k.add(row, element)), z: k.sub(element, a) };
  });
}

/** `count` nodes more, each of the one before it and of an earlier one, so that none is dropped or merged. */
function mixed(k: KernelBuilder, start: readonly Value<'u32'>[], count: number): Value<'u32'>[] {
  const values = [...start];
  type Op = (a: Value<'u32'>, b: Value<'u32'>) => Value<'u32'>;
  const ops: readonly Op[] = [k.add, k.xor, k.mul, k.sub, k.or, k.rem, k.shr, k.and, k.div, k.max];
  for (let index = 0; index < count; index++) {
    const op = ops[index % (index % 7 === 0 ? 10 : 4)] as Op;
    const other = values[index < start.length ? index : (index * 5) % (values.length - 1)] as Value<'u32'>;
    values.push(op(values.at(-1) as Value<'u32'>, other));
  }
  return values;
}
