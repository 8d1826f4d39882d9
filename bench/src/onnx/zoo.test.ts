import type { ComputeBackend } from '@concord/backend-core';
import { profile } from '@concord/backend-core/profile';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { loadOnnx, type OnnxModel } from '@concord/onnx';
import { attention, layerNorm, linear, permute, randomNormal, reshape, slice, type Tensor } from '@concord/ops';
import { expect, it } from 'vitest';
import { checkOutputs } from '../models.ts';
import { runOnCpu } from './sessions.ts';
import { bert, decoder, mobilenetV2, resnet50, type ZooModel } from './zoo.ts';

const TYPES = { f32: 'float32', i32: 'int32', i64: 'int64' } as const;

function feedsOf({ feeds }: ZooModel): Parameters<OnnxModel['run']>[0] {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { type, dims, data }]) => [name, { type: TYPES[type], dims, data }]),
  );
}

it.each([
  ['ResNet-50', () => resnet50(1, 64)],
  ['MobileNet-V2', () => mobilenetV2(1, 64)],
  ['BERT', () => bert(2, 16, 2, 64, 4)],
  [
    'a decoder of 4 bits',
    () => decoder({ layers: 2, width: 64, inner: 128, heads: 4, kvHeads: 2, words: 96, cached: 8 }),
  ],
])('%s as a file gives what ONNX Runtime gives', async (_, make) => {
  const zoo = make();
  const backend = new WasmBackend();
  await backend.init();
  const model = await loadOnnx(backend, zoo.bytes);
  const { data } = await runOnCpu(zoo);
  for (let run = 0; run < 3; run++) {
    const { [zoo.output]: y } = await model.runOnHost(feedsOf(zoo), { outputs: [zoo.output] });
    checkOutputs(y?.data as Float32Array, data, 'f32');
  }
  model.dispose();
  await backend.dispose();
});

it('a layer of BERT as a file takes at most 1.2 of the launches of one written by hand', async () => {
  const backend = new CpuBackend();
  await backend.init();
  const [width, heads] = [16, 2];
  const counts: number[] = [];
  for (const layers of [1, 2]) {
    const zoo = bert(2, 4, layers, width, heads);
    using model = await loadOnnx(backend, zoo.bytes);
    await model.runOnHost(feedsOf(zoo));
    const { launches } = await profile(backend, () => model.runOnHost(feedsOf(zoo)));
    counts.push(launches.length);
  }
  const byHand = layerByHand(backend, width, heads);
  const { launches } = await profile(backend, () => byHand().dispose());
  expect((counts[1] as number) - (counts[0] as number)).toBeLessThanOrEqual(1.2 * launches.length);
  await backend.dispose();
});

/** One layer of BERT on ops. @returns what runs it */
function layerByHand(backend: ComputeBackend, width: number, heads: number): () => Tensor {
  const random = (...shape: number[]): Tensor => randomNormal(backend, shape, { seed: 1 });
  const [x, weight, bias, mask] = [random(2, 4, width), random(width), random(width), random(2, 1, 1, 4)];
  const [qkv, wide3, merge] = [random(3 * width, width), random(3 * width), random(width, width)];
  const [up, down, wide4] = [random(4 * width, width), random(width, 4 * width), random(4 * width)];
  return () => {
    const rows = linear(x, qkv, { bias: wide3 });
    const part = (i: number): Tensor => {
      const own = slice(rows, [null, null, [i * width, (i + 1) * width]]);
      return permute(reshape(own, [2, 4, heads, width / heads]), [0, 2, 1, 3]);
    };
    const o = attention(part(0), part(1), part(2), { mask });
    const merged = reshape(permute(o, [0, 2, 1, 3]), [2, 4, width]);
    const h = layerNorm(linear(merged, merge, { bias, residual: x }), { weight, bias });
    const hidden = linear(h, up, { bias: wide4, activation: 'gelu' });
    return layerNorm(linear(hidden, down, { bias, residual: h }), { weight, bias });
  };
}
