import { expect, it } from 'vitest';
import { NotOffered } from '../peer.ts';
import { GPT_SIZES, gptCases, type GptCase, type GptSize } from './cases.ts';
import type { GptModel } from './contestant.ts';
import { checkLogits, measureGpt } from './measure.ts';

const [gptCase] = gptCases(GPT_SIZES['tiny'] as GptSize, ['f32']) as [GptCase];
const RIGHT = Float32Array.of(1, -10, 3);

/** A model that gives these logits and notes its turns. */
function model(name: string, turns: string[], logits = RIGHT, calls = async () => 0.5 as number | undefined): GptModel {
  return {
    prepare: async () => ({
      calls: () => {
        turns.push(name);
        return calls();
      },
      logits: async () => logits,
      close: async () => void turns.push(`${name} closed`),
    }),
    close: async () => undefined,
  };
}

it('gives turns, each round starting with another one', async () => {
  const turns: string[] = [];
  const models = new Map([
    ['a', model('a', turns)],
    ['b', model('b', turns, RIGHT, async () => undefined)],
  ]);
  const [a, b] = await measureGpt(gptCase, models, RIGHT, { rounds: 3, roundMs: 0 });
  expect(turns).toEqual(['a', 'b', 'a', 'b', 'b', 'a', 'a', 'b', 'a closed', 'b closed']);
  expect(a).toMatchObject({ name: 'a', rounds: expect.objectContaining({ length: 3 }) as number[], hostMs: 0.5 });
  expect(b).not.toHaveProperty('hostMs');
});

it('leaves out who is wrong, fails or has nothing, with the reason', async () => {
  const lacking: GptModel = {
    prepare: () => Promise.reject(new NotOffered('has no cache')),
    close: async () => undefined,
  };
  const models = new Map([
    ['wrong', model('wrong', [], Float32Array.of(1, -10, 3.02))],
    ['lost', model('lost', [], RIGHT, () => Promise.reject(new Error('device lost')))],
    ['lacking', lacking],
    ['right', model('right', [])],
  ]);
  const entries = await measureGpt(gptCase, models, RIGHT, { rounds: 1, roundMs: 0 });
  expect(entries.slice(0, 3)).toEqual([
    { name: 'wrong', failed: expect.stringMatching(/^logit 2 is 3\.0199\d*, not 3$/) as string },
    { name: 'lost', failed: 'device lost' },
    { name: 'lacking', lacks: 'has no cache' },
  ]);
  expect(entries[3]).toHaveProperty('ms');
});

it('refuses logits that are no numbers, or too few', () => {
  expect(() => checkLogits(Float32Array.of(1, NaN, 3), RIGHT, gptCase)).toThrow('logit 1 is NaN, not -10');
  expect(() => checkLogits(Float32Array.of(1), RIGHT, gptCase)).toThrow('1 logits in place of 3');
});
