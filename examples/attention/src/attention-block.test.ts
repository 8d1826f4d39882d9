import { CpuBackend } from '@concord/backend-cpu';
import { expect, test } from 'vitest';
import { type BlockInput, type BlockResult, type BlockWeights, runBlock, untrainedWeights } from './attention-block.ts';
import { checkBlock } from './check-block.ts';
import { attentionTable, sharesOf } from './program.ts';

const SHAPE = { dimensions: 10, heads: 3, headDim: 8 };
const WEIGHTS: BlockWeights = { ...untrainedWeights(SHAPE), key: untrainedWeights(SHAPE).value };

function inputOf(words: number, causal: boolean): BlockInput {
  const vectors = Float32Array.from({ length: words * SHAPE.dimensions }, (_, i) => Math.sin(i * i + 1));
  return { ...SHAPE, words, vectors, causal };
}

async function onCpu(input: BlockInput): Promise<BlockResult> {
  const backend = await CpuBackend.create();
  const result = await runBlock(backend, input, WEIGHTS);
  expect(backend.memory().liveAllocations).toBe(0);
  await backend.dispose();
  return result;
}

/** The textbook's formula, entry by entry. */
function byDefinition({ words, dimensions, heads, headDim, vectors, causal }: BlockInput): number[] {
  const width = heads * headDim;
  const dot = (length: number, term: (i: number) => number): number =>
    Array.from({ length }, (_, i) => term(i)).reduce((sum, value) => sum + value, 0);
  const projected = (matrix: Float32Array, word: number, column: number): number =>
    dot(dimensions, (d) => (vectors[word * dimensions + d] as number) * (matrix[d * width + column] as number));
  const output = Array.from({ length: words * dimensions }, () => 0);
  for (let word = 0; word < words; word++) {
    for (let head = 0; head < heads; head++) {
      const at = (d: number): number => head * headDim + d;
      const visible = causal ? word + 1 : words;
      const weights = Array.from({ length: visible }, (_, other) => {
        const score = dot(headDim, (d) => {
          return projected(WEIGHTS.query, word, at(d)) * projected(WEIGHTS.key, other, at(d));
        });
        return Math.exp(score / Math.sqrt(headDim));
      });
      const total = dot(visible, (other) => weights[other] as number);
      for (let d = 0; d < headDim; d++) {
        const mixed = dot(visible, (i) => ((weights[i] as number) / total) * projected(WEIGHTS.value, i, at(d)));
        for (let column = 0; column < dimensions; column++) {
          const entry = word * dimensions + column;
          output[entry] = (output[entry] as number) + mixed * (WEIGHTS.output[at(d) * dimensions + column] as number);
        }
      }
    }
  }
  return output;
}

test.each([false, true])('is multi-head attention by its definition, causal: %s', async (causal) => {
  const input = inputOf(5, causal);
  const { output, attended } = await onCpu(input);
  for (const [i, want] of byDefinition(input).entries()) expect(output[i]).toBeCloseTo(want, 4);
  for (let row = 0; row < 3 * 5; row++) {
    const weights = attended.subarray(row * 8, row * 8 + 8);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
    const visible = causal ? Math.floor(row / 3) + 1 : 5;
    expect(weights.every((weight, column) => (column < visible ? weight > 0 : weight === 0))).toBe(true);
  }
});

test.each([1, 8])('the check passes for %s words, and fails when any step is off', async (words) => {
  const input = inputOf(words, true);
  const result = await onCpu(input);
  const good = checkBlock(input, WEIGHTS, result);
  expect(good).toMatchObject({ passed: true, values: 5 * 3 * words * 8 + words * 10 });
  expect(good.worstShare).toBeLessThan(0.5);
  for (const step of ['queries', 'keys', 'values', 'mixed', 'attended', 'output'] as const) {
    const wrong = Float32Array.from(result[step]);
    wrong[1] = (wrong[1] as number) + 1e-3;
    expect(checkBlock(input, WEIGHTS, { ...result, [step]: wrong }).passed, step).toBe(false);
    wrong[1] = Number.NaN;
    expect(checkBlock(input, WEIGHTS, { ...result, [step]: wrong }).passed, step).toBe(false);
    expect(checkBlock(input, WEIGHTS, { ...result, [step]: wrong.subarray(0, 1) }).passed, step).toBe(false);
  }
});

test('the table shows the mean of the heads, most first, without what is nothing', () => {
  const attended = Float32Array.of(0.5, 0.5, /* second head */ 0.1, 0.9, /* second word */ 0, 1, 0, 1);
  expect(attentionTable(['one', 'three'], sharesOf(2, attended, 2))).toBe(
    ['word   attends to', 'one    three 70%   one 30%', 'three  three 100%'].join('\n'),
  );
});
