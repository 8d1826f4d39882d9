import { checkedRun, defineKernel } from '@concord/backend-core/kernel';
import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { ResolvedGemm } from '@concord/backend-core/implement';
import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { describe, expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { integers } from '../../../../backend-cpu/test/op-memory.ts';
import { download, upload } from '../../../test/support/device-values.ts';
import { recorderFor } from '../../../test/support/emulated-units.ts';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import type { Span, StorageBuffer } from '../recorder.ts';
import { directTable } from './direct.wgsl.ts';
import type { Variant } from './product.ts';
import { matvecTable } from './matvec.ts';
import { planGemm } from './plan.ts';
import { TILES } from './tile.ts';

// Each variant applies an epilogue on the device at hand, whatever that would choose.

type Call = ResolvedGemm<StorageBuffer>;

/** An epilogue that depends on all that it can: inputs, indices, a parameter. */
const kernel = defineKernel(
  'all of it',
  { inputs: { acc: 'f32', bias: 'f32', residual: 'f32' }, params: { factor: 'f32' } },
  ({ acc, bias, residual, factor }, k) => {
    const place = k.add(k.add(k.mul(k.index(0), 7), k.mul(k.index(1), 3)), k.index(2));
    return { y: k.add(k.add(k.mul(acc, factor), bias), k.add(residual, k.toF32(k.and(place, 7)))) };
  },
);

interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly dtype?: 'f32' | 'f16';
}

const FACTOR = -0.5;
const BATCH = 2;

const client = opened(() => WebGpuClient.open());

function callOf(
  { m, n, k, dtype = 'f32' }: Shape,
  spans: Readonly<Record<'a' | 'b' | 'c' | 'bias' | 'residual', Span>>,
): Call {
  const domain = [BATCH, m, n];
  const strides = [m * n, n, 1];
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { acc: { strides }, bias: { strides: [0, 0, 1] }, residual: { strides, dtype } },
    outputs: { y: { strides, dtype } },
  });
  const epilogue = { kernel, geometry, pointers: [], params: [FACTOR] };
  const { a, b, c, bias, residual } = spans;
  return {
    ...{ opName: 'batchedGemm', operands: [], m, n, k, transA: false, transB: false, alpha: 2, beta: -1, dtype },
    ...{ lda: k, ldb: n, ldc: n, strideA: m * k, strideB: k * n, strideC: m * n, batchCount: BATCH },
    ...{ epilogue, a, b, c, 'epilogue.bias': bias, 'epilogue.residual': residual },
  };
}

async function check(variant: Variant, shape: Shape): Promise<void> {
  const { m, n, k, dtype = 'f32' } = shape;
  const values = {
    a: integers(BATCH * m * k, 1),
    b: integers(BATCH * k * n, 4),
    c: integers(BATCH * m * n, 2),
    bias: integers(n, 3),
    residual: integers(BATCH * m * n, 5),
  };
  const spans = Object.fromEntries(
    Object.entries(values).map(([name, list]) => [
      name,
      upload(client, list, { dtype: name === 'bias' ? 'f32' : dtype }),
    ]),
  ) as Parameters<typeof callOf>[1];
  client.record('gemm', (recorder) => {
    planGemm(callOf(shape, spans), recorderFor(variant, recorder), () => variant);
  });
  const got = await download(client, spans.c, dtype);
  for (const { buffer } of Object.values(spans)) client.deallocate(buffer.id);

  const sizes = { m, n, k, batchCount: BATCH, strideA: m * k, strideB: k * n, strideC: m * n, alpha: 2, beta: -1 };
  const { value } = batchedGemmReference(sizes, values.a, values.b, values.c);
  const round = dtype === 'f16' ? (x: number) => f16BitsToF32(f32ToF16Bits(x)) : Math.fround;
  const want = Array.from(value, (acc, i) => {
    const [batch, row, column] = [Math.floor(i / m / n), Math.floor(i / n) % m, i % n];
    const place = (batch * 7 + row * 3 + column) & 7;
    return round(acc * FACTOR + (values.bias[column] as number) + (values.residual[i] as number) + place);
  });
  const wrong = want.flatMap((x, i) => (x === got[i] ? [] : [{ index: i, got: got[i], want: x }]));
  expect(wrong.slice(0, 3)).toEqual([]);
}

/** The smallest, of one slice and of two: what an epilogue changes is the same in all. */
const SMALL_TILES = [1, 2].map(
  (slices) =>
    TILES.filter(({ tile }) => tile.slices === slices).sort(
      (a, b) => a.tile.m * a.tile.n - b.tile.m * b.tile.n,
    )[0] as (typeof TILES)[number],
);

describe.each(SMALL_TILES)('$id', ({ id, tile: { m, n, step } }) => {
  const tiled: Variant = { id, splits: 1 };

  it('whole tiles', () => check(tiled, { m, n, k: 4 * step }));
  it('vectors of four', () => check(tiled, { m: m + 3, n: n + 4, k: step + 4 }));
  it('any shape', () => check(tiled, { m: m - 1, n: n + 3, k: step + 1 }));
  it('binary16', async () => {
    await check(tiled, { m, n: n - 4, k: 12, dtype: 'f16' });
    await check(tiled, { m: 5, n: n + 1, k: 3, dtype: 'f16' });
  });
  it('split along k', () => check({ id, splits: 3 }, { m: 7, n: 9, k: 150 }));
});

describe.each(directTable.ids)('%s', (id) => {
  it('any shape', async () => {
    await check({ id, splits: 1 }, { m: 71, n: 133, k: 19 });
    await check({ id, splits: 1 }, { m: 68, n: 132, k: 20 });
    await check({ id, splits: 1 }, { m: 68, n: 132, k: 20, dtype: 'f16' });
  });
});

describe.each(matvecTable.ids)('%s', (id) => {
  it('in the kernel', async () => {
    await check({ id, splits: 1 }, { m: 1, n: 300, k: 599 });
    await check({ id, splits: 1 }, { m: 1, n: 300, k: 599, dtype: 'f16' });
    // What else is different is so in all of them.
    if (id !== matvecTable.ids[0]) return;
    await check({ id, splits: 1 }, { m: 300, n: 1, k: 300 });
    await check({ id, splits: 1 }, { m: 1, n: 301, k: 99 });
  });

  it('as a kernel after it', async () => {
    await check({ id, splits: 2 }, { m: 300, n: 1, k: 100 });
    await check({ id, splits: 2 }, { m: 1, n: 301, k: 99, dtype: 'f16' });
  });
});

it('on matrix units, emulated, beyond whole tiles', async () => {
  const id = 'gemm/matrix-64x64x32';
  await check({ id, splits: 1 }, { m: 72, n: 136, k: 40, dtype: 'f16' });
  await check({ id, splits: 1 }, { m: 64, n: 64, k: 32, dtype: 'f16' });
});

describe('what is launched', () => {
  const { gpu, swiftshader } = TEST_DEVICES;
  const names = (shape: Shape, traits = gpu): readonly string[] => {
    const { m, n, k, dtype = 'f32' } = shape;
    const bytes = dtype === 'f16' ? 2 : 4;
    const [a, b, c, residual] = [m * k, k * n, m * n, m * n].map((count) => fakeSpan(BATCH * count * bytes)) as [
      ...[Span, Span, Span, Span],
    ];
    const recorder = new PlanRecorder(traits);
    planGemm(callOf(shape, { a, b, c, bias: fakeSpan(4 * n), residual }), recorder);
    return recorder.kernelNames;
  };

  it.each([
    ['a GPU, float32', { m: 1024, n: 1024, k: 256 }, gpu],
    ['a GPU, binary16', { m: 1024, n: 1024, k: 256, dtype: 'f16' }, gpu],
    ['a row', { m: 1, n: 2304, k: 768 }, gpu],
    ['a row in binary16', { m: 1, n: 768, k: 3072, dtype: 'f16' }, gpu],
    ['a column', { m: 4096, n: 1, k: 512 }, gpu],
    ['a software device', { m: 64, n: 64, k: 64 }, swiftshader],
  ] as const)('%s: one kernel', (_, shape, traits) => {
    expect(names(shape, traits)).toEqual([expect.stringMatching(/^gemm\/.* all of it$/)]);
  });

  it('a large product on a software device: a product and a run', () => {
    expect(names({ m: 512, n: 512, k: 64 }, swiftshader)).toHaveLength(2);
  });
});
