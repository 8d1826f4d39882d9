import { expect, it } from 'vitest';
import { checkOutputs, measureModel, type PreparedModel } from './measure.ts';

const RIGHT = Float32Array.of(1, -10, 3);

function contestant(outputs: Float32Array, hostMs?: number): () => Promise<PreparedModel> {
  return async () => ({ calls: async () => hostMs, outputs: async () => outputs, close: async () => undefined });
}

it('has the time of the host where it is known, and leaves out who is wrong', async () => {
  const models = new Map([
    ['known', contestant(RIGHT, 0.5)],
    ['unknown', contestant(RIGHT)],
    ['wrong', contestant(Float32Array.of(1, -10, 3.02))],
  ]);
  const [known, unknown, wrong] = await measureModel('f32', models, RIGHT, { rounds: 3, roundMs: 0 });
  const rounds = expect.objectContaining({ length: 3 }) as number[];
  expect(known).toMatchObject({ name: 'known', rounds, hostMs: 0.5 });
  expect(unknown).not.toHaveProperty('hostMs');
  expect(wrong).toEqual({
    name: 'wrong',
    failed: expect.stringMatching(/^output 2 is 3\.0199\d*, not 3$/) as string,
  });
});

it('refuses logits that are no numbers, or too few', () => {
  expect(() => checkOutputs(Float32Array.of(1, NaN, 3), RIGHT, 'f32')).toThrow('output 1 is NaN, not -10');
  expect(() => checkOutputs(Float32Array.of(1), RIGHT, 'f32')).toThrow('1 outputs instead of 3');
});
