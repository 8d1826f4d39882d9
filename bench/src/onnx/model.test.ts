import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, it } from 'vitest';
import { casesOf } from '../limits/cases.ts';
import { encodeModel, graphOf, headOf } from './model.ts';

it('makes models that ONNX Runtime accepts, with the shapes of the case', async () => {
  const offered = casesOf('quick').filter(
    ({ work }) =>
      !work.op.endsWith('_f16') &&
      work.op !== 'copy' &&
      !('causal' in work && work.causal) &&
      !('padding' in work && work.op === 'gemm'),
  );
  expect(offered.length).toBeGreaterThan(10);
  for (const { work, outputLength } of offered) {
    const graph = graphOf(work);
    const session = await InferenceSession.create(encodeModel(graph), { executionProviders: ['cpu'] });
    const feeds = Object.entries(graph.inputs).map(([name, shape]) => {
      const size = shape.reduce((all, each) => all * each, 1);
      return [name, new Tensor('float32', new Float32Array(size), shape)];
    });
    const { y } = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>);
    expect(y?.size).toBe(outputLength);
    await session.release();
  }
});

it('has weights in the model where they are given', async () => {
  const graph = graphOf({ op: 'gemm', m: 1, n: 2, k: 2 });
  const model = encodeModel(graph, { x1: Float32Array.of(1, 2, 3, 4) });
  const session = await InferenceSession.create(model, { executionProviders: ['cpu'] });
  expect(session.inputNames).toEqual(['x0']);
  const { y } = await session.run({ x0: new Tensor('float32', [10, 1], [1, 2]) });
  expect(y?.data).toEqual(Float32Array.of(13, 24));
  await session.release();
});

it('computes a whole result and brings out its first entry', async () => {
  const graph = headOf(graphOf({ op: 'gemm', m: 2, n: 2, k: 1 }));
  const session = await InferenceSession.create(encodeModel(graph), { executionProviders: ['cpu'] });
  const [x0, x1] = [new Tensor('float32', [2, 3], [2, 1]), new Tensor('float32', [5, 7], [1, 2])];
  const { y } = await session.run({ x0, x1 });
  expect([y?.dims, y?.data]).toEqual([[1, 1], Float32Array.of(10)]);
  await session.release();
});
