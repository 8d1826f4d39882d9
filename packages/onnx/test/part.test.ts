import { profile } from '@concord/backend-core/profile';
import { memory, type Tensor } from '@concord/ops';
import { expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { onBackends } from './support/backends.ts';
import { decoder, HEADS, WIDTH } from './support/tiny-models.ts';
import { f32, i64, listOf, modelBytes, node, value } from './support/write-model.ts';

const CACHES = ['key', 'value'].map((of) => `past_key_values.0.${of}`);

type Caches = Readonly<Record<string, HostTensor | Tensor>>;

/** What a step of the decoder is fed with, after so many words. */
const feedsOf = (words: readonly number[], before: number, caches: Caches, batch = 1) => {
  const all = <T>(list: readonly T[]): T[] => Array.from({ length: batch }, () => list).flat();
  const total = before + words.length;
  const ids = i64([batch, words.length], all(words));
  const places = i64([batch, words.length], all(words.map((_, i) => before + i)));
  return {
    input_ids: ids,
    position_ids: places,
    attention_mask: i64([batch, total], all(Array(total).fill(1))),
    ...caches,
  };
};
const empty = (batch: number): Caches =>
  Object.fromEntries(CACHES.map((name) => [name, f32([batch, HEADS, 0, WIDTH / HEADS], [])]));
const cachesOf = (results: Readonly<Record<string, HostTensor | Tensor>>): Caches =>
  Object.fromEntries(CACHES.map((name) => [name, results[name.replace('past_key_values', 'present')] as HostTensor]));

onBackends('parts of a run', (backend) => {
  it('are replayed where caches grow, and give what runs node by node give; of a later text and batch too', async () => {
    const before = memory().tensors;
    const model = await loadOnnx(backend(), decoder);
    const plain = await loadOnnx(backend(), decoder, { maxPrograms: 0 });
    const kept: (readonly [HostTensor, readonly unknown[]])[] = [];
    let replays = 0;
    for (const batch of [1, 2]) {
      let [own, theirs] = [empty(batch), empty(batch)];
      for (let step = 0, at = 0; step < 8; step++) {
        const words = step === 0 ? [5, 6, 7] : [(5 * step + batch) % 16];
        let result: Readonly<Record<string, HostTensor>> = {};
        const { launches } = await profile(backend(), async () => {
          result = await model.runOnHost(feedsOf(words, at, own, batch));
        });
        const wanted = await plain.runOnHost(feedsOf(words, at, theirs, batch));
        for (const [name, each] of Object.entries(wanted)) {
          expect(result[name]?.dims, name).toEqual(each.dims);
          expect(listOf(result[name]), `${name} of step ${step}`).toEqual(listOf(each));
          kept.push([result[name] as HostTensor, listOf(each)]);
        }
        if (step === 7) replays += launches.filter(({ isReplay }) => isReplay).length;
        at += words.length;
        [own, theirs] = [cachesOf(result), cachesOf(wanted)];
      }
    }
    if ('record' in backend()) expect(replays).toBeGreaterThan(8);
    // Later runs wrote over nothing that was given.
    for (const [result, list] of kept) expect(listOf(result)).toEqual(list);
    model.dispose();
    plain.dispose();
    expect(memory().tensors).toBe(before);
  });

  it('share no memory with results on the device, and are left for the whole where shapes come again', async () => {
    const bytes = modelBytes({
      inputs: [value('x', 'float32', [2, 3]), value('past', 'float32', ['n', 3])],
      constants: { w: f32([3], [1, 2, 3]), to: i64([2], [3, 2]), sizes: i64([2], [1, 6]) },
      nodes: [
        node('Exp', ['x'], ['a']),
        node('Softmax', ['a'], ['b'], { axis: -1 }),
        node('Reshape', ['b', 'to'], ['c']),
        // A view of an input and one of what is made before.
        node('Reshape', ['x', 'sizes'], ['d']),
        node('Mul', ['b', 'w'], ['e']),
        node('Concat', ['past', 'e'], ['grown'], { axis: 0 }),
      ],
      outputs: ['c', 'd', 'grown'],
    });
    using model = await loadOnnx(backend(), bytes);
    const outputs: (readonly [Tensor, readonly number[]])[] = [];
    for (const [turn, n] of [1, 2, 3, 4, 5, 6, 6, 6, 6, 7].entries()) {
      const x = f32([2, 3], [0, turn / 9, 1, -turn, 0.5, 2]);
      const results = await model.run({ x, past: f32([n, 3], new Float32Array(3 * n)) });
      expect(results['grown']?.shape).toEqual([n + 2, 3]);
      const exps = Array.from(x.data as Float32Array, (each) => Math.exp(Math.exp(each)));
      const sums = [0, 3].map((from) => exps[from]! + exps[from + 1]! + exps[from + 2]!);
      outputs.push([results['c'] as Tensor, exps.map((each, i) => each / sums[Math.floor(i / 3)]!)]);
      outputs.push([results['d'] as Tensor, [...(x.data as Float32Array)]]);
      results['grown']?.dispose();
    }
    for (const [tensor, wanted] of outputs) {
      expect([...(await tensor.toArray())]).toEqual(wanted.map((each) => expect.closeTo(each, 5)));
      tensor.dispose();
    }
  });
});
