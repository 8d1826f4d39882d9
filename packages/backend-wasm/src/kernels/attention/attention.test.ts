import { describe, test } from 'vitest';
import { type AttentionCase, type AttentionCheck, checkAttention } from '../../../../backend-cpu/test/op-memory.ts';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { attentionKernel } from './attention.ts';

const CASES: Readonly<Record<string, AttentionCase>> = {
  'one query': { batch: 1, heads: 2, seqQ: 1, seqKv: 5, headDim: 3 },
  'one query, several blocks of keys': { batch: 2, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 301, headDim: 19 },
  'one query, part of the keys': {
    ...{
      batch: 1,
      heads: 1,
      seqQ: 1,
      seqKv: 200,
      headDim: 5,
      causal: true,
      causalOffset: 170,
      window: 150,
      softcap: 2,
    },
    mask: { strides: [0, 0, 0, 1] },
  },
  'wide heads, in blocks of few keys': { batch: 1, heads: 1, seqQ: 9, seqKv: 21, headDim: 3001 },
  'several blocks': { batch: 1, heads: 1, seqQ: 101, seqKv: 261, headDim: 17 },
  'causal, grouped heads': {
    batch: 2,
    heads: 4,
    kvHeads: 2,
    seqQ: 9,
    seqKv: 11,
    headDim: 8,
    causal: true,
    causalOffset: 2,
  },
  'causal over several blocks': { batch: 1, heads: 1, seqQ: 200, seqKv: 200, headDim: 8, causal: true },
  'queries without keys': { batch: 1, heads: 1, seqQ: 7, seqKv: 5, headDim: 9, causal: true, causalOffset: -3 },
  window: { batch: 1, heads: 1, seqQ: 150, seqKv: 150, headDim: 4, window: 5, causalOffset: 1 },
  'far window': { batch: 1, heads: 1, seqQ: 3, seqKv: 4, headDim: 4, window: 2, causalOffset: -(2 ** 40) },
  softcap: { batch: 1, heads: 2, seqQ: 5, seqKv: 7, headDim: 8, softcap: 0.75 },
  mask: { batch: 1, heads: 2, seqQ: 6, seqKv: 139, headDim: 8, mask: { strides: [0, 834, 139, 1] } },
  'mask that repeats': { batch: 2, heads: 1, seqQ: 6, seqKv: 9, headDim: 8, mask: { strides: [6, 0, 1, 0] } },
};

for (const traits of TRAITS) {
  describe(`attention ${traits.hasFma ? 'with' : 'without'} multiply-add`, () => {
    const launcher = new KernelLauncher(traits);
    const kernel = attentionKernel(launcher, () => undefined);

    const check = (shape: AttentionCase, options?: AttentionCheck): Promise<void> =>
      checkAttention(launcher.operands, shape, (call) => launcher.reset(() => kernel.run(call)), options);

    for (const dtype of ['f32', 'f16'] as const) {
      test.each(Object.keys(CASES))(`${dtype}: %s`, (name) =>
        check({ ...(CASES[name] as AttentionCase), dtype }, { leads: [1, 1] }),
      );
    }

    test('an infinite value reaches the queries that see it, and no others', () =>
      check({ seqQ: 8, seqKv: 8, headDim: 8, causal: true }, { spoil: ({ v }) => v.fill(Infinity, 5 * 8, 6 * 8) }));

    test.each([1, 3])('a weight that hardly counts makes a large value count, %i queries', async (seqQ) => {
      for (const far of [1, 299]) {
        const shape = { seqQ, seqKv: far + 1, headDim: 4, mask: { strides: [0, 0, 0, 1] } } as const;
        for (const [large, largest] of [
          [0, far],
          [far, 0],
        ] as const) {
          await check(shape, {
            bound: 8e-3,
            spoil: ({ v, mask }) => {
              mask.fill(-1000, 0, far + 1);
              mask[large] = -86.5;
              mask[largest] = 0;
              v.fill(3e38, 4 * large, 4 * large + 4);
            },
          });
        }
      }
    });

    test('a mask of -Infinity hides a key, and all keys of a query', () =>
      check(
        { seqQ: 2, seqKv: 5, headDim: 4, mask: { strides: [0, 0, 5, 1] } },
        {
          spoil: ({ mask }) => {
            mask[1] = -Infinity;
            mask.fill(-Infinity, 5, 10);
          },
        },
      ));
  });
}
