import { type ComputeBackend, type DType } from '@concord/backend-core';
import { expect } from 'vitest';
import { loadSafetensors, permute, slice, tensor, writeSafetensors } from '../../src/index.ts';

/** Writes tensors of every type and of sizes that fill no word, reads them again, and as f16. */
export async function checkWeights(backend: ComputeBackend): Promise<void> {
  const floats = Float32Array.of(1, -0.5, 65504, 3, 2 ** -20, -7, 0);
  using f32 = tensor(backend, floats);
  using f16 = tensor(backend, floats, [7], { dtype: 'f16' });
  using bf16 = tensor(backend, Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3], { dtype: 'bf16' });
  using transposed = permute(bf16, [1, 0]);
  using i8 = tensor(backend, Int8Array.of(-1, 2, -128));
  using u8 = slice(i8, [[0, 0]]);
  using i32 = tensor(backend, Int32Array.of(-(2 ** 31)));
  const file = await writeSafetensors({ f32, f16, transposed, i8, empty: u8, i32 });

  const same = await loadSafetensors(backend, file);
  await expectTensors(same, {
    f32: ['f32', [7], [...floats]],
    f16: ['f16', [7], [1, -0.5, 65504, 3, 2 ** -20, -7, 0]],
    transposed: ['bf16', [3, 2], [1, 4, 2, 5, 3, 6]],
    i8: ['i8', [3], [-1, 2, -128]],
    empty: ['i8', [0], []],
    i32: ['i32', [1], [-(2 ** 31)]],
  });
  const halves = await loadSafetensors(backend, file, { names: ['transposed', 'f32', 'i8'], dtype: 'f16' });
  await expectTensors(halves, {
    f32: ['f16', [7], [1, -0.5, 65504, 3, 2 ** -20, -7, 0]],
    transposed: ['f16', [3, 2], [1, 4, 2, 5, 3, 6]],
    i8: ['i8', [3], [-1, 2, -128]],
  });
}

async function expectTensors(
  got: Awaited<ReturnType<typeof loadSafetensors>>,
  want: Readonly<Record<string, readonly [DType, readonly number[], readonly number[]]>>,
): Promise<void> {
  expect(Object.keys(got).sort()).toEqual(Object.keys(want).sort());
  for (const [name, [dtype, shape, values]] of Object.entries(want)) {
    const loaded = got[name];
    expect([loaded?.dtype, loaded?.shape]).toEqual([dtype, shape]);
    expect([...((await loaded?.toArray()) ?? [])]).toEqual(values);
    loaded?.dispose();
  }
}
