import { readFileSync } from 'node:fs';
import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel } from '@concord/backend-core/kernel';
import { WasmBackend } from '@concord/backend-wasm';
import * as o from '@concord/ops';
import { tensor, type Tensor } from '@concord/ops';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grad, vjp } from '../src/index.ts';

interface Reference {
  readonly shape: number[];
  readonly value: number[];
  readonly gradient: number[];
}

const { torch: _, ...CASES } = JSON.parse(
  readFileSync(new URL('reference/reference.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, Reference>>;

type F = (...xs: Tensor[]) => Tensor;
const indices = (x: Tensor, numbers: number[]): Tensor => tensor(x.backend, numbers, [3], { dtype: 'i32' });

function transformer(
  x: Tensor,
  qkv: Tensor,
  out: Tensor,
  up: Tensor,
  down: Tensor,
  norm1: Tensor,
  norm2: Tensor,
): Tensor {
  const [n = 0, d = 0] = x.shape;
  const parts = o.reshape(o.linear(o.rmsNorm(x, { weight: norm1 }), qkv), [1, n, 3, 2, d / 2]);
  const [q, k, v] = [0, 1, 2].map((part) => o.permute(o.slice(parts, [null, null, part]), [0, 2, 1, 3])) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const heads = o.reshape(o.permute(o.attention(q, k, v, { causal: true }), [0, 2, 1, 3]), [n, d]);
  const own = o.linear(heads, out, { residual: x });
  return o.linear(o.linear(o.layerNorm(own, { weight: norm2 }), up, { activation: 'geluTanh' }), down, {
    residual: own,
  });
}

function residual(...[x, w1, w2, short, g1, b1, g2, b2]: Tensor[]): Tensor {
  const normalized = (y: Tensor, weight: Tensor, bias: Tensor, activation?: 'relu'): Tensor => {
    const axes = { axis: [0, 2, 3] };
    return o.batchNorm(y, {
      mean: o.mean(y, axes),
      variance: o.variance(y, { ...axes, correction: 0 }),
      weight,
      bias,
      activation,
    });
  };
  const y = normalized(
    o.conv2d(x as Tensor, w1 as Tensor, { stride: 2, padding: 1 }),
    g1 as Tensor,
    b1 as Tensor,
    'relu',
  );
  const z = normalized(o.conv2d(y, w2 as Tensor, { padding: 1 }), g2 as Tensor, b2 as Tensor);
  return o.relu(o.conv2d(x as Tensor, short as Tensor, { stride: 2, residual: z }));
}

const FUNCTIONS: Readonly<Record<string, F>> = {
  gather: (x) => o.gather(x, indices(x, [2, 0, 2])),
  crossEntropy: (x) => o.crossEntropy(x, indices(x, [1, 3, 0])),
  linear: (x, w, bias) => o.linear(x, w, { bias }),
  conv2d: (x, w, bias) => o.conv2d(x, w, { bias, stride: 2, padding: 1 }),
  'conv2d groups': (x, w, bias) => o.conv2d(x, w, { bias, groups: 2, dilation: 2 }),
  convTranspose2d: (x, w) => o.convTranspose2d(x, w, { stride: 2, padding: 1, outputPadding: 1 }),
  maxPool: (x) => o.maxPool(x, 3, { stride: 1 }),
  avgPool: (x) => o.avgPool(x, 2, { padding: 1 }),
  attention: (q, k, v) => o.attention(q, k, v, { causal: true }),
  'transformer block': transformer,
  'residual block': residual,
};

describe.each([
  ['cpu', new CpuBackend()],
  ['wasm', new WasmBackend()],
] as const)('on %s', (_name, backend) => {
  test.each(Object.keys(CASES))('%s has the gradients of PyTorch', async (name) => {
    await backend.init();
    const given = Object.values(CASES[name] as Record<string, Reference>);
    const xs = given.map(({ value, shape }) => tensor(backend, value, shape));
    const f = FUNCTIONS[name] ?? (o as unknown as Record<string, F>)[name];
    const { value, pullback } = vjp((...leaves: Tensor[]) => (f as F)(...leaves), ...xs);
    const factors = tensor(
      backend,
      Array.from({ length: value.size }, (_, index) => Math.cos(index)),
      value.shape,
    );
    const gradients = pullback(factors);
    for (const [index, { gradient }] of given.entries()) {
      const got = await (gradients[index] as Tensor).toArray();
      const largest = Math.max(1, ...gradient.map(Math.abs));
      for (const [at, wanted] of gradient.entries())
        expect(
          Math.abs((got[at] as number) - wanted),
          `${Object.keys(CASES[name] ?? {})[index]}[${at}]: ${got[at]} for ${wanted}`,
        ).toBeLessThan(1e-5 * largest);
    }
    for (const each of [...xs, ...gradients, value, factors]) each.dispose();
  });
});

describe('edges, as PyTorch has them', () => {
  const backend = new CpuBackend();
  beforeAll(() => backend.init());
  afterAll(() => backend.dispose());
  const at = async (f: (x: Tensor) => Tensor, ...xs: number[]): Promise<number[]> => [
    ...(await grad((x: Tensor) => o.sum(f(x)))(tensor(backend, xs)).toArray()),
  ];

  test('infinite slopes', async () => {
    expect(await at(o.sqrt, 0)).toEqual([Infinity]);
    expect(await at(o.log, 0)).toEqual([Infinity]);
    expect(await at((x) => o.norm(x), 0, 0)).toEqual([0, 0]);
    expect(await at((x) => o.std(x), 2, 2)).toEqual([0, 0]);
    expect(await at((x) => o.l2Normalize(x, { eps: 0.5 }), 0, 0)).toEqual([2, 2]);
    expect(await at((x) => o.mul(o.sqrt(x), 0), 0)).toEqual([NaN]);
    expect(await at((x) => o.gelu(x, { approximate: 'tanh' }), 1e20, -1e20)).toEqual([1, 0]);
  });
  test('bends', async () => {
    expect(await at(o.relu, 0, NaN)).toEqual([0, 1]);
    expect(await at((x) => o.sqrt(o.abs(x)), 0)).toEqual([0]);
    expect(await at((x) => o.clamp(x, { min: 0 }), 0)).toEqual([0]);
    expect(await at((x) => o.maximum(x, tensor(backend, [0])), 0)).toEqual([0.5]);
    expect(await at((x) => o.max(x), 2, 1, 2)).toEqual([0.5, 0, 0.5]);
    expect(await at((x) => o.max(x), 2, NaN, 3)).toEqual([0, 1, 0]);
    expect(await at((x) => o.maxPool(o.reshape(x, [1, 1, 2, 2]), 2), 1, 3, 3, 3)).toEqual([0, 1, 0, 0]);
    expect(await at((x) => o.pow(x, x), 0)).toEqual([0]);
    expect(await at((x) => o.prod(x), 0, 2, 3)).toEqual([6, 0, 0]);
    expect(await at((x) => o.prod(x), 0, 2, 0)).toEqual([0, 0, 0]);
    expect(await at((x) => o.cumprod(x, { reverse: true }), 2, 0, 3)).toEqual([0, 9, 1]);
    const weighted = (y: Tensor): Tensor => o.mul(y, o.arange(backend, 1, y.size + 1));
    expect(await at((x) => weighted(o.cummax(x)), 1, 3, 3, 2, NaN, 5)).toEqual([1, 2, 7, 0, 11, 0]);
    expect(await at((x) => weighted(o.cummin(x, { reverse: true })), 3, 2, 2, 5, 2)).toEqual([0, 3, 3, 0, 9]);
    const shifted = (x: Tensor): Tensor => o.maximum(o.cummax(x, { exclusive: true }), -9);
    expect(await at((x) => weighted(shifted(x)), 4, 4, 1)).toEqual([2, 3, 0]);
  });
  test('a gather passes on what it gives where an index is outside, on either side', async () => {
    const table = { type: 'f32', access: 'gather', rank: 1 } as const;
    const kernel = defineKernel('look up', { inputs: { x: 'f32', place: 'i32', table } }, ({ x, place, table }, k) => ({
      y: k.gather(table, [place], x),
    }));
    const inputs = { place: tensor(backend, [-1, 0, 1, 2], [4], { dtype: 'i32' }), table: tensor(backend, [7, 8]) };
    expect(await at((x) => o.run(kernel, { x, ...inputs }).y, 1, 2, 3, 4)).toEqual([1, 0, 0, 1]);
  });
  test('a branch that was not taken passes nothing on, whatever it is', async () => {
    expect(await at((x) => o.where(o.greater(x, 0), x, 1), -1, 2)).toEqual([0, 1]);
    // In one kernel, and as two functions, where PyTorch and this give NaN.
    expect(await at((x) => o.elu(x), 200, -1)).toEqual([1, Math.fround(Math.exp(-1))]);
    expect(await at((x) => o.where(o.greater(x, 0), o.sqrt(x), 0), -1)).toEqual([NaN]);
  });
});
