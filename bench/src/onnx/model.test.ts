import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, it } from 'vitest';
import { casesOf } from '../limits/cases.ts';
import { graphOf } from './graphs.ts';
import { encodeModel } from './model.ts';
import { integer, message } from './protobuf.ts';

it('writes fields as the specification of Protocol Buffers has them', () => {
  expect(integer(1, 150)).toEqual([0x08, 0x96, 0x01]);
  expect(message(2, 'testing')).toEqual([0x12, 0x07, ...new TextEncoder().encode('testing')]);
  expect(message(3, integer(1, 150))).toEqual([0x1a, 0x03, 0x08, 0x96, 0x01]);
  expect(message(20, new Uint8Array(300)).slice(0, 4)).toEqual([0xa2, 0x01, 0xac, 0x02]);
});

it('makes models that ONNX Runtime accepts, with the shapes of the case', async () => {
  const offered = casesOf('quick').filter(
    ({ work }) =>
      work.op !== 'gemm_f16' && !('causal' in work && work.causal) && !('padding' in work && work.op === 'gemm'),
  );
  expect(offered.length).toBeGreaterThan(10);
  for (const { work, length } of offered) {
    const graph = graphOf(work);
    const session = await InferenceSession.create(encodeModel(graph), { executionProviders: ['cpu'] });
    const feeds = Object.entries(graph.inputs).map(([name, shape]) => {
      const size = shape.reduce((all, each) => all * each, 1);
      return [name, new Tensor('float32', new Float32Array(size), shape)];
    });
    const { y } = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>);
    expect(y?.size).toBe(length);
    await session.release();
  }
});
