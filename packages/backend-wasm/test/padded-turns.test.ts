import { type ComputeBackend, type FloatDType, toF16Array } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { WasmBackend } from '../src/index.ts';

// Images are padded in turns of 64 MiB; four channels of one of these, with its padding, take more than half of that.

const [IMAGES, CHANNELS] = [3, 4];
const PADDING = 1030;
/** Windows in the middle row and column see the image. */
const STRIDE = PADDING / 2;

interface Shape {
  readonly filters: number;
  readonly groups: number;
  readonly dtype: FloatDType;
}

/** The outputs as they are stored. */
async function convolved(backend: ComputeBackend, { filters, groups, dtype }: Shape): Promise<Uint8Array> {
  const upload = (length: number, seed: number) => {
    const values = Float32Array.from({ length }, (_, i) => ((seed * (i + 1)) % 11) - 5);
    const stored = dtype === 'f16' ? toF16Array(values) : values;
    const ptr = backend.alloc(stored.byteLength);
    backend.copyHtod(ptr, stored);
    return ptr;
  };
  const bytes = IMAGES * filters * 25 * (dtype === 'f16' ? 2 : 4);
  const output = backend.alloc(bytes);
  backend.conv2dForward({
    inputShape: [IMAGES, CHANNELS, 5, 4],
    filterShape: [filters, CHANNELS / groups, 3, 3],
    outputShape: [IMAGES, filters, 5, 5],
    stride: [STRIDE, STRIDE],
    padding: [PADDING, PADDING],
    groups,
    dtype,
    input: upload(IMAGES * CHANNELS * 20, 7),
    filter: upload((filters * CHANNELS * 9) / groups, 3),
    output,
  });
  const stored = new Uint8Array(bytes);
  await backend.copyDtoh(stored, output);
  return stored;
}

const ways = {
  plain: [3, 1],
  'two groups': [6, 2],
  'a filter a channel': [4, 4],
  'two filters a channel': [8, 4],
} as const;
const cases = Object.entries(ways).flatMap(([name, [filters, groups]]) =>
  (['f32', 'f16'] as const).map((dtype) => ({ name, filters, groups, dtype })),
);

it.each(cases)('a padded batch takes turns: $name, $dtype', async (shape) => {
  await using oracle = await CpuBackend.create();
  await using backend = await WasmBackend.create();
  const want = await convolved(oracle, shape);
  expect(want.some((byte) => byte !== 0)).toBe(true);
  expect(await convolved(backend, shape)).toEqual(want);
});
