import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { tensor } from '@concord/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOnnx } from '../src/index.ts';
import { f32, i64, listOf, modelBytes, node, value } from './support/write-model.ts';

let backend: ComputeBackend;
beforeAll(async () => {
  backend = await CpuBackend.create();
  await backend.init();
});
afterAll(() => backend.dispose());

/** A layer with a reshape by the shape of its input, so that sizes are computed on the host. */
const layer = modelBytes({
  inputs: [value('x', 'float32', ['n', 4])],
  constants: {
    w: f32([4, 3], [1, 0, 2, 0, 1, 0, -1, 0, 0, 0.5, 0, 1]),
    b: f32([3], [1, -20, 0]),
    axis: i64([1], [0]),
    last: i64([1], [-1]),
  },
  nodes: [
    node('MatMul', ['x', 'w'], ['p']),
    node('Add', ['p', 'b'], ['q']),
    node('Relu', ['q'], ['r']),
    node('Softmax', ['r'], ['s'], { axis: -1 }),
    node('Shape', ['x'], ['shape']),
    node('Gather', ['shape', 'axis'], ['n']),
    node('Concat', ['n', 'last'], ['to'], { axis: 0 }),
    node('Transpose', ['s'], ['t'], { perm: [1, 0] }),
    node('ReduceSum', ['t', 'axis'], ['u'], { keepdims: 0 }),
    node('Reshape', ['s', 'to'], ['y']),
  ],
  outputs: ['y', 'u'],
});

describe('a session', () => {
  it('computes, records at the second run of a shape and replays', async () => {
    using model = await loadOnnx(backend, layer);
    for (let turn = 0; turn < 4; turn++) {
      for (const n of [1, 2]) {
        const x = Float32Array.from({ length: 4 * n }, (_, i) => i + turn);
        const { y, u } = await model.runOnHost({ x: { type: 'float32', dims: [n, 4], data: x } });
        expect(y?.dims).toEqual([n, 3]);
        const rows = Array.from({ length: n }, (_, row) => {
          const [a, b, c, d] = x.slice(4 * row) as unknown as [number, number, number, number];
          const r = [a - c + d / 2 + 1, b - 20, 2 * a + d].map((each) => Math.exp(Math.max(0, each)));
          return r.map((each) => each / r.reduce((p, q) => p + q));
        });
        expect(listOf(y)).toEqual(rows.flat().map((each) => expect.closeTo(each, 5)));
        expect(listOf(u)).toEqual(rows.map(() => expect.closeTo(1, 5)));
      }
    }
  });

  it('takes and gives tensors of the device', async () => {
    using model = await loadOnnx(backend, layer);
    using x = tensor(backend, [[1, 2, 3, 4]]);
    for (let turn = 0; turn < 3; turn++) {
      const { y } = await model.run({ x }, { outputs: ['y'] });
      expect(y?.shape).toEqual([1, 3]);
      y?.dispose();
    }
  });
});
