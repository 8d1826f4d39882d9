import {
  defineKernel,
  type InputSpec,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type OutputSpec,
  type ScatterMode,
  type Value,
} from '@concord/backend-core/kernel';

type Rank = OutputSpec['rank'];
type Int = Value<'i32'> | Value<'u32'>;

const tensor = <Type extends NumberType>(type: Type, rank: Rank, mode: ScatterMode): OutputSpec & { type: Type } => ({
  type,
  access: 'scatter',
  rank,
  mode,
});

/** Writes a tensor at one loaded index for each of its axes: any of them may be outside, and several points may meet. */
function scatterKernel(name: string, mode: ScatterMode, rank: Rank, index: 'i32' | 'u32', type: NumberType): Kernel {
  const names = ['i', 'j', 'l', 'm'].slice(0, rank);
  const inputs: Record<string, InputSpec> = { x: type };
  for (const own of names) inputs[own] = index;
  return defineKernel(name, { inputs, outputs: { t: tensor(type, rank, mode) } }, (symbols, k) => {
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
export const SCATTER_KERNELS: Readonly<Record<string, () => Kernel>> = {
  ...Object.fromEntries(
    (['set', 'add', 'max', 'min'] as const).flatMap((mode) =>
      (['f32', 'i32', 'u32'] as const).map((type, at) => {
        const name = `scatter ${mode} ${type}`;
        return [name, () => scatterKernel(name, mode, (at + 1) as Rank, at === 1 ? 'i32' : 'u32', type)];
      }),
    ),
  ),
  'scatter set 4': () => scatterKernel('scatter set 4', 'set', 4, 'i32', 'f32'),
  'append rows': () =>
    defineKernel(
      'append rows',
      {
        inputs: { x: 'f32', at: { type: 'u32', access: 'gather', rank: 1 } },
        outputs: { t: tensor('f32', 2, 'set') },
      },
      ({ x, at }, k) => ({ t: k.scatter(x, [k.add(k.gather(at, [k.u32(0)], 0), k.index(0)), k.index(-1)]) }),
    ),
  'points are counted': () =>
    defineKernel(
      'points are counted',
      { inputs: { x: 'f32' }, outputs: { t: tensor('u32', 2, 'add') } },
      ({ x }, k) => ({
        t: k.scatter(k.select(k.isNan(x), k.u32(1), 1), counted(k)),
        y: k.mul(x, 2),
      }),
    ),
  'rows are counted': () =>
    defineKernel(
      'rows are counted',
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
  'at the greatest': () =>
    defineKernel('at the greatest', { inputs: { x: 'f32' }, outputs: { t: tensor('i32', 1, 'add') } }, ({ x }, k) => ({
      t: k.scatter(k.i32(1), [k.rem(k.fold('argmax', x), 9)]),
      y: k.sub(x, k.fold('max', x)),
    })),
  'normed and turned': () =>
    defineKernel(
      'normed and turned',
      { inputs: { x: 'f32' }, outputs: { t: tensor('f32', 2, 'set') } },
      ({ x }, k) => ({ t: k.scatter(k.sub(x, k.fold('max', x)), [k.rem(k.index(-1), 9), k.index(0)]) }),
    ),
};
