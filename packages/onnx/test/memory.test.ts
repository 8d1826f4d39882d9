import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CpuBackend } from '@concord/backend-cpu';
import { memory } from '@concord/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { loadOnnx, type OnnxModel } from '../src/index.ts';
import { f32, i64, modelBytes, node, value } from './support/write-model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

/** Constants that are folded, sizes from a shape, an input that the host needs, a result that is a view, and one that is a constant. */
const bytes = modelBytes({
  inputs: [value('x', 'float32', ['n', 4]), value('count', 'int64', [1])],
  constants: {
    w: f32([3, 4], (i) => i),
    low: f32([1], [2]),
    zero: i64([1], [0]),
    four: i64([1], [4]),
  },
  nodes: [
    node('Mul', ['w', 'low'], ['w2']),
    node('Transpose', ['w2'], ['wt'], { perm: [1, 0] }),
    node('MatMul', ['x', 'wt'], ['p']),
    node('Concat', ['count', 'four'], ['shape'], { axis: 0 }),
    node('Expand', ['low', 'shape'], ['twos']),
    node('Add', ['x', 'twos'], ['sum']),
    node('Transpose', ['x'], ['view'], { perm: [1, 0] }),
    node('Shape', ['p'], ['size']),
    node('ReduceSum', ['sum', 'zero'], ['total']),
  ],
  outputs: [value('p'), value('view'), value('total'), value('wt'), value('size', 'int64')],
});

describe('memory', () => {
  it('is given back: after each run what it took, after the model all', async () => {
    const before = memory();
    const allocated = backend.memory().inUseBytes;
    const model = await loadOnnx(backend, bytes, { maxPrograms: 2 });
    const feeds = (n: number) => ({ x: f32([n, 4], (i) => i), count: i64([1], [n]) });
    for (let turn = 0; turn < 4; turn++) {
      for (const n of [1, 2, 3]) {
        const { p, view, total, wt, size } = await model.runOnHost(feeds(n));
        expect([p?.dims, view?.dims, total?.dims, wt?.dims, size?.data]).toEqual([
          [n, 3],
          [4, n],
          [1, 4],
          [4, 3],
          BigInt64Array.of(BigInt(n), 3n),
        ]);
        const results = await model.run(feeds(n));
        for (const each of Object.values(results)) each.dispose();
      }
    }
    const [after, { tensors }] = [backend.memory().inUseBytes, memory()];
    for (let turn = 0; turn < 3; turn++) await model.runOnHost(feeds(1));
    await model.runOnHost(feeds(2));
    await model.runOnHost(feeds(3));
    expect(memory().tensors).toBeLessThanOrEqual(tensors + 12);
    expect(backend.memory().inUseBytes).toBeLessThanOrEqual(after + 1024);
    model.dispose();
    expect(memory().tensors).toBe(before.tensors);
    expect(backend.memory().inUseBytes).toBe(allocated);
  });

  it('of a file is let go of once its weights are on the device', async () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const [n, k] = [64, 256];
    const load = async (): Promise<[OnnxModel, WeakRef<ArrayBufferLike>]> => {
      const file = modelBytes({
        inputs: [value('x', 'float32', [1, k])],
        constants: {
          w: f32([k, k], () => 1),
          b: { type: 'uint8', dims: [n, k / 32, 16], data: new Uint8Array((n * k) / 2) },
          scales: f32([(n * k) / 32], () => 0),
          small: f32([1], [1]),
        },
        nodes: [
          node('MatMul', ['x', 'w'], ['p']),
          node('com.microsoft.MatMulNBits', ['p', 'b', 'scales'], ['q'], { N: n, K: k, bits: 4, block_size: 32 }),
          node('Add', ['q', 'small'], ['y']),
        ],
        outputs: ['y'],
      });
      return [await loadOnnx(backend, file), new WeakRef(file.buffer)];
    };
    const [model, file] = await load();
    for (let turn = 0; turn < 3; turn++) {
      const { y } = await model.runOnHost({ x: f32([1, k], () => 0) });
      expect(y?.data[0]).toBe(1);
    }
    // A WeakRef holds what it was made of until the task ends.
    await new Promise((resolve) => setTimeout(resolve));
    collect();
    expect(file.deref()).toBe(undefined);
    model.dispose();
  });
});
