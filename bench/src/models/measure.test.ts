import { expect, it } from 'vitest';
import { NotOffered } from '../peer.ts';
import { checkOutputs, measureModel, type PreparedModel } from './measure.ts';

const RIGHT = Float32Array.of(1, -10, 3);

/** A contestant with these outputs, which notes the turns. */
function contestant(
  name: string,
  turns: string[],
  outputs = RIGHT,
  calls = async () => 0.5 as number | undefined,
): () => Promise<PreparedModel> {
  return async () => ({
    calls: () => {
      turns.push(name);
      return calls();
    },
    outputs: async () => outputs,
    close: async () => void turns.push(`${name} closed`),
  });
}

it('gives turns, each round starting with another one', async () => {
  const turns: string[] = [];
  const models = new Map([
    ['a', contestant('a', turns)],
    ['b', contestant('b', turns, RIGHT, async () => undefined)],
  ]);
  const [a, b] = await measureModel('f32', models, RIGHT, { rounds: 3, roundMs: 0 });
  expect(turns).toEqual(['a', 'b', 'b', 'a', 'a', 'b', 'b', 'a', 'a closed', 'b closed']);
  expect(a).toMatchObject({ name: 'a', rounds: expect.objectContaining({ length: 3 }) as number[], hostMs: 0.5 });
  expect(b).not.toHaveProperty('hostMs');
});

it('leaves out who is wrong, fails or has nothing, with the reason', async () => {
  const lacking = (): Promise<PreparedModel> => Promise.reject(new NotOffered('has no cache'));
  const models = new Map([
    ['wrong', contestant('wrong', [], Float32Array.of(1, -10, 3.02))],
    ['lost', contestant('lost', [], RIGHT, () => Promise.reject(new Error('device lost')))],
    ['lacking', lacking],
    ['right', contestant('right', [])],
  ]);
  const entries = await measureModel('f32', models, RIGHT, { rounds: 1, roundMs: 0 });
  expect(entries.slice(0, 3)).toEqual([
    { name: 'wrong', failed: expect.stringMatching(/^output 2 is 3\.0199\d*, not 3$/) as string },
    { name: 'lost', failed: 'device lost' },
    { name: 'lacking', lacks: 'has no cache' },
  ]);
  expect(entries[3]).toHaveProperty('ms');
});

it('refuses logits that are no numbers, or too few', () => {
  expect(() => checkOutputs(Float32Array.of(1, NaN, 3), RIGHT, 'f32')).toThrow('output 1 is NaN, not -10');
  expect(() => checkOutputs(Float32Array.of(1), RIGHT, 'f32')).toThrow('1 outputs instead of 3');
});
