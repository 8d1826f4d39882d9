import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, it, vi } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkGemm, type GemmCase } from '../../../../backend-cpu/test/op-memory.ts';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memoryOf } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { localTable } from './local.spv.ts';
import { matvecShape, vectorId } from './vectors.ts';
import { launchWide, WIDE_LIMITS } from './wide.spv.ts';
import { MATRIX_LANES } from './matrix.spv.ts';
import { matrixId } from './matrix.ts';
import { planGemm } from './plan.ts';
import { productOf } from './product.ts';
import { SUBGROUP_TILES } from './subgroup.spv.ts';
import { ReusedScratch } from './table.ts';

// The software driver generates code at the first launch, which takes seconds on a free core.
vi.setConfig({ testTimeout: 180_000 });

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

type Plan = (call: ResolvedGemm<DeviceMemory>, recorder: Recorder) => void;

const client = opened(() => LevelZeroClient.open());

const TRANSPOSES = ['NN', 'NT', 'TN', 'TT'] as const;

const check = (plan: Plan, shape: GemmCase): Promise<void> =>
  checkGemm(memoryOf(client), shape, (call) => client.record('gemm', (recorder) => plan(call, recorder)));

const by =
  (id: string, splits = 1): Plan =>
  (call, recorder) =>
    planGemm(call, recorder, () => ({ id, splits }));

const matvec =
  (team: 'vectors' | 'teams', splits: number): Plan =>
  (call, recorder) =>
    planGemm(call, recorder, (product) => {
      const { alongRows } = matvecShape(product);
      return { id: vectorId(team, alongRows), splits };
    });

const WIDE = { id: 'gemm/wide' };
const workOf = (call: ResolvedGemm<DeviceMemory>, recorder: Recorder): Parameters<typeof launchWide>[0] => ({
  product: productOf(call),
  scratch: new ReusedScratch(recorder),
});

/** Shapes beside and between the tiles, with gaps, odd starts and rows, shared operands, and both dtypes. */
const SHAPES: readonly GemmCase[] = [
  { m: 33, n: 65, k: 17, pad: 3, offset: 1 },
  { m: 64, n: 64, k: 64, beta: 0 },
  { m: 70, n: 31, k: 40, batchCount: 3, shared: 'a', gap: 5 },
  { m: 41, n: 39, k: 33, dtype: 'f16', offset: 1, pad: 2, batchCount: 2, gap: 1 },
  { m: 9, n: 33, k: 9, dtype: 'f16', beta: 0, batchCount: 2, shared: 'b' },
];
const CASES = TRANSPOSES.flatMap((trans) => SHAPES.map((shape) => ({ ...shape, trans })));

describe('wide', () => {
  it.each(CASES)('%j', (shape) => check(by('gemm/wide'), shape));

  it.each(CASES)('in blocks along m, n and k: %j', (shape) =>
    check(
      (call, recorder) =>
        launchWide(workOf(call, recorder), WIDE, recorder, {
          ...WIDE_LIMITS,
          depth: 16,
          bytes: 4 * 16 * 40,
          bytesEach: 512,
        }),
      shape,
    ),
  );

  it.each([0, 7])('B packed or where it is: %i', (fewRows) =>
    check(
      (call, recorder) =>
        launchWide(workOf(call, recorder), WIDE, recorder, { ...WIDE_LIMITS, depth: 50, fewRows, fewBytes: 0 }),
      { m: 7, n: 64, k: 90, pad: 5, offset: 3, batchCount: 2 },
    ),
  );
});

describe.each([1, 3])('direct, k in %i', (splits) => {
  it.each(CASES)('%j', (shape) => check(by('gemm/direct', splits), { ...shape, k: 64 * splits + 3 }));
});

describe.each(localTable.ids)('%s', (id) => {
  const [m, n] = id.replace('gemm/local-', '').split('x').map(Number) as [number, number];
  // Each transposition is a separate module, which takes the software driver long to compile.
  const trans = m === n ? TRANSPOSES : (['NT', 'TN'] as const);
  const shapes = SHAPES.filter(({ dtype = 'f32' }) => dtype === 'f32');
  const cases = trans.flatMap((letters) => shapes.map((shape) => ({ ...shape, trans: letters, m: m + shape.m })));
  it.each(cases)('%j', (shape) => check(by(id), shape));

  it('in f16', async () => {
    for (const shape of SHAPES.filter(({ dtype }) => dtype === 'f16')) {
      await check(by(id), { ...shape, trans: 'TN' });
    }
  });

  it('split along k', () => check(by(id, 2), { m, n: 5, k: 130, trans: 'NT' }));
});

/** At least a tile wide, and transposed a tile high; what is left over of both, and of a step along k. */
const WHOLE_TILES: readonly GemmCase[] = [
  { m: 33, n: 65, k: 17, pad: 3, offset: 1 },
  { m: 64, n: 64, k: 64, beta: 0 },
  { m: 170, n: 33, k: 40, batchCount: 3, shared: 'a', gap: 5 },
  { m: 17, n: 97, k: 21, batchCount: 2, shared: 'b' },
  { m: 42, n: 40, k: 33, dtype: 'f16', offset: 2, pad: 2, batchCount: 2, gap: 1 },
  { m: 18, n: 34, k: 10, dtype: 'f16', beta: 0, batchCount: 2, shared: 'b' },
];

describe.each([...SUBGROUP_TILES])('%s', (id, { lanes }) => {
  const cases = (['NN', 'TN'] as const).flatMap((trans) => WHOLE_TILES.map((shape) => ({ ...shape, trans })));
  it.each(cases)('%j', async (shape) => {
    await check(by(id), shape);
    await check(by(id, 2), { ...shape, k: 64 + 3 * lanes + (shape.dtype ? 2 : 1) });
  });
});

describe.each(MATRIX_LANES)('matrix engines, sub-groups of %i', (lanes) => {
  const shapes: readonly GemmCase[] = [
    { m: 33, n: 65, k: 17, pad: 3, offset: 1 },
    { m: 128, n: 64, k: 64, beta: 0 },
    { m: 130, n: 131, k: 40, pad: 2, offset: 2 },
    { m: 7, n: 5, k: 3, batchCount: 3, shared: 'a', gap: 1 },
    { m: 150, n: 20, k: 18, batchCount: 2, shared: 'b', alpha: 0.5 },
  ];
  const cases = TRANSPOSES.flatMap((trans) => shapes.map((shape) => ({ ...shape, trans, dtype: 'f16' }) as const));
  it.each(cases)('%j', (shape) => check(by(matrixId(lanes)), shape));

  it('k in ranges', () => check(by(matrixId(lanes), 3), { m: 40, n: 40, k: 333, dtype: 'f16', trans: 'NT' }));

  it('as much at a time as there is memory for', () =>
    check(
      (call, recorder) =>
        planGemm(call, withTraits(recorder, { maxAllocationBytes: 2 ** 14 }), () => ({
          id: matrixId(lanes),
          splits: 1,
        })),
      { m: 300, n: 200, k: 20, dtype: 'f16', batchCount: 2, trans: 'TT' },
    ));
});

const VECTORS: readonly GemmCase[] = [
  { m: 1, n: 600, k: 133, pad: 3, offset: 1 },
  { m: 100, n: 1, k: 16, beta: 0, batchCount: 3, gap: 2 },
  { m: 1, n: 17, k: 77, dtype: 'f16', pad: 2, offset: 1, batchCount: 2 },
  { m: 65, n: 1, k: 200, dtype: 'f16', pad: 1, batchCount: 2, shared: 'a' },
];

describe.each([
  ['vectors', 1],
  ['vectors', 3],
  ['teams', 1],
  ['teams', 3],
] as const)('a vector, by %s, k in %i', (team, splits) => {
  const cases = TRANSPOSES.flatMap((trans) => VECTORS.map((shape) => ({ ...shape, trans })));
  it.each(cases)('%j', (shape) => check(matvec(team, splits), shape));
});

describe.each([1, 3])('a few vectors, k in %i', (splits) => {
  const shapes: readonly GemmCase[] = [
    { m: 41, n: 8, k: 133, pad: 3, offset: 1, trans: 'NN' },
    { m: 40, n: 3, k: 65, trans: 'NT', batchCount: 2, shared: 'b' },
    { m: 5, n: 30, k: 65, trans: 'NT', beta: 0, gap: 2 },
    { m: 9, n: 30, k: 77, trans: 'TT', batchCount: 2, shared: 'a' },
    { m: 40, n: 5, k: 70, trans: 'NN', dtype: 'f16', pad: 1, offset: 1 },
    { m: 3, n: 40, k: 70, trans: 'NT', dtype: 'f16', beta: 0, batchCount: 2 },
  ];
  it.each(shapes)('%j', (shape) => check(matvec('vectors', splits), shape));
});
