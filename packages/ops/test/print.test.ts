import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { arange, memory, permute, print, quantizedTensor, reshape, tensor, tidy, zeros } from '../src/index.ts';

afterEach(() => vi.restoreAllMocks());

const backends = [
  ['cpu', new CpuBackend()],
  ['wasm', new WasmBackend()],
] as const;

test.each(backends)('print, toNested and console.log, %s', async (name, backend) => {
  await backend.init();
  const before = memory();
  const lines = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const printed = async (x: Parameters<typeof print>[0]): Promise<string> => {
    await print(x);
    return lines.mock.lastCall?.[0] as string;
  };
  try {
    using x = tensor(backend, [
      [1, -2.5, 1 / 3],
      [1e10, NaN, Infinity],
    ]);
    expect(await printed(x)).toBe(
      `Tensor f32[2, 3] on ${name}\n[[          1,        -2.5,    0.333333],\n [10000000000,         NaN,    Infinity]]`,
    );
    using transposed = permute(x, [1, 0]);
    expect(await transposed.toNested()).toEqual([
      [1, 1e10],
      [-2.5, NaN],
      [Math.fround(1 / 3), Infinity],
    ]);
    using one = tensor(backend, new Uint8Array([7]), []);
    expect([await one.toNested(), await printed(one)]).toEqual([7, `Tensor u8[] on ${name}\n7`]);
    using none = zeros(backend, [2, 0]);
    expect([await none.toNested(), await printed(none)]).toEqual([[[], []], `Tensor f32[2, 0] on ${name}\n[[],\n []]`]);
    using cube = tidy(() => reshape(arange(backend, 0, 8), [2, 2, 2]));
    expect(await printed(cube)).toBe(`Tensor f32[2, 2, 2] on ${name}\n[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]`);
    using many = tidy(() => reshape(arange(backend, 0, 2000, 1, { dtype: 'i32' }), [2, 1000]));
    expect(await printed(many)).toBe(
      `Tensor i32[2, 1000] on ${name}\n[[   0,    1,    2, ...,  997,  998,  999],\n [1000, 1001, 1002, ..., 1997, 1998, 1999]]`,
    );
    const weight = quantizedTensor(backend, {
      shape: [1, 2],
      dtype: 'i8',
      block: 2,
      data: new Int8Array(2),
      scales: [1],
    });
    expect(inspect([x, { weight }])).toBe(
      `[\n  Tensor f32[2, 3] on ${name},\n  { weight: QuantizedTensor i8[1, 2] on ${name} }\n]`,
    );
    weight.dispose();
    x.dispose();
    expect(inspect(x)).toBe(`Tensor f32[2, 3] on ${name}, disposed`);
    await expect(print(x)).rejects.toThrow('was disposed');
    await expect(x.toNested()).rejects.toThrow('was disposed');
  } finally {
    await backend.dispose();
  }
  expect(memory()).toEqual(before);
});
