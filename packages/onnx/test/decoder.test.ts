import { profile } from '@concord/backend-core/profile';
import { expect, it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import type { Proto } from '../src/read/schema.ts';
import { byRuntime, Numbers } from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { difference } from './support/node-tests.ts';
import { f32, i64, modelBytes, node, value } from './support/write-model.ts';

const [WORDS, WIDTH, HEADS, KV, DIM, INNER, LAYERS] = [48, 64, 4, 2, 16, 96, 2];

/** A decoder as onnxruntime-genai exports one of Llama's kind, in 4 bits. */
function decoder(): Uint8Array {
  const numbers = new Numbers(21);
  const angle = (i: number): number => Math.floor((2 * i) / DIM) / 10 ** ((i % (DIM / 2)) / 3);
  const constants: Record<string, HostTensor> = {
    table: numbers.tensor([WORDS, WIDTH]),
    cos: f32([64, DIM / 2], (i) => Math.cos(angle(i))),
    sin: f32([64, DIM / 2], (i) => Math.sin(angle(i))),
    one: i64([1], [1]),
    place: i64([], [1]),
  };
  const nodes: Proto<'Node'>[] = [
    node('Gather', ['table', 'input_ids'], ['x0']),
    node('ReduceSum', ['attention_mask', 'one'], ['count'], { keepdims: 1 }),
    node('Sub', ['count', 'one'], ['last']),
    node('Cast', ['last'], ['lengths'], { to: 6 }),
    node('Shape', ['attention_mask'], ['mask_dims']),
    node('Gather', ['mask_dims', 'place'], ['total64'], { axis: 0 }),
    node('Cast', ['total64'], ['total'], { to: 6 }),
  ];
  const product = (x: string, y: string, k: number, n: number, zeros: boolean): void => {
    const names = ['b', 's', 'z'].map((each) => `${y}_${each}`) as [string, string, string];
    constants[names[0]] = numbers.bytes([n, k / 32, 16]);
    constants[names[1]] = numbers.tensor([n, k / 32], 'float32', 0.01, 0.04);
    if (zeros) constants[names[2]] = numbers.bytes([n, Math.ceil(k / 64)]);
    nodes.push(
      node('com.microsoft.MatMulNBits', [x, ...names.slice(0, zeros ? 3 : 2)], [y], {
        K: k,
        N: n,
        bits: 4,
        block_size: 32,
      }),
    );
  };
  const weight = (name: string): string => {
    constants[name] = numbers.tensor([WIDTH], 'float32', 0.5, 1.5);
    return name;
  };
  const eps = { epsilon: { f: 1e-5 } };
  const presents: string[] = [];
  nodes.push(node('SimplifiedLayerNormalization', ['x0', weight('n0')], ['h0'], { ...eps, axis: -1, stash_type: 1 }));
  for (let i = 0; i < LAYERS; i++) {
    product(`h${i}`, `qkv${i}`, WIDTH, (HEADS + 2 * KV) * DIM, i === 0);
    const [past, present] = ['past', 'present'].map((each) => ['key', 'value'].map((of) => `${each}.${i}.${of}`)) as [
      string[],
      string[],
    ];
    presents.push(...present);
    nodes.push(
      node(
        'com.microsoft.GroupQueryAttention',
        [`qkv${i}`, '', '', ...past, 'lengths', 'total', 'cos', 'sin'],
        [`o${i}`, ...present],
        {
          ...{ num_heads: HEADS, kv_num_heads: KV, do_rotary: 1, rotary_interleaved: 0, local_window_size: -1 },
        },
      ),
    );
    product(`o${i}`, `p${i}`, HEADS * DIM, WIDTH, false);
    const skip = (from: string, x: string, at: string, after: string): Proto<'Node'> =>
      node('com.microsoft.SkipSimplifiedLayerNormalization', [from, x, weight(`n_${after}`)], [at, '', '', after], eps);
    nodes.push(skip(`x${i}`, `p${i}`, `m${i}`, `y${i}`));
    product(`m${i}`, `gate${i}`, WIDTH, INNER, false);
    product(`m${i}`, `up${i}`, WIDTH, INNER, true);
    nodes.push(
      node('Sigmoid', [`gate${i}`], [`sig${i}`]),
      node('Mul', [`gate${i}`, `sig${i}`], [`silu${i}`]),
      node('Mul', [`silu${i}`, `up${i}`], [`inner${i}`]),
    );
    product(`inner${i}`, `down${i}`, INNER, WIDTH, true);
    nodes.push(skip(`y${i}`, `down${i}`, `h${i + 1}`, `x${i + 1}`));
  }
  product(`h${LAYERS}`, 'logits', WIDTH, WORDS, false);
  const cache = (name: string): ReturnType<typeof value> => value(name, 'float32', [1, KV, 'past', DIM]);
  return modelBytes({
    nodes,
    constants,
    inputs: [
      value('input_ids', 'int64', [1, 'rows']),
      value('attention_mask', 'int64', [1, 'total']),
      ...presents.map((name) => cache(name.replace('present', 'past'))),
    ],
    outputs: ['logits', ...presents],
  });
}

onBackends('a decoder of 4 bits', (backend) => {
  it('replays the steps of a cache with room, whose mask says how much of it is filled', async () => {
    const bytes = decoder();
    const room = 12;
    using model = await loadOnnx(backend(), bytes);
    using growing = await loadOnnx(backend(), bytes);
    const caches = model.inputs.slice(2).map(({ name }) => name);
    const of = (rows: number): Record<string, HostTensor> =>
      Object.fromEntries(caches.map((name) => [name, f32([1, KV, rows, DIM], () => 0)]));
    const after = (results: Record<string, HostTensor>): Record<string, HostTensor> =>
      Object.fromEntries(caches.map((name) => [name, results[name.replace('past', 'present')] as HostTensor]));
    let [own, theirs] = [of(room), of(0)];
    for (const [step, word] of [3, 14, 15, 9, 26, 5].entries()) {
      const seen = Array.from({ length: room }, (_, i) => Number(i <= step));
      const input_ids = i64([1, 1], [word]);
      const replayed = await model.runOnHost({ input_ids, attention_mask: i64([1, room], seen), ...own });
      const grown = await growing.runOnHost({
        input_ids,
        attention_mask: i64([1, step + 1], seen.slice(0, step + 1)),
        ...theirs,
      });
      const [a, b] = [replayed['logits'], grown['logits']] as [HostTensor, HostTensor];
      expect(difference(a, b, 1e-3, 1e-4), `step ${step}`).toBe(undefined);
      [own, theirs] = [after(replayed), after(grown)];
      // The shapes stay, so the second step is recorded, and later ones are replayed: nothing is launched but that.
      if (step === 3) {
        const { launches } = await profile(backend(), () =>
          model.runOnHost({ input_ids, attention_mask: i64([1, room], seen), ...own }),
        );
        expect(launches.length).toBeGreaterThan(10);
        expect(launches.every(({ isReplay }) => isReplay)).toBe(true);
      }
    }
  });

  it('says the words that ONNX Runtime says, from a prompt and a cache that grows', async () => {
    const bytes = decoder();
    using model = await loadOnnx(backend(), bytes);
    const empty = model.inputs.slice(2).map(({ name }) => [name, f32([1, KV, 0, DIM], [])] as const);
    let caches: readonly (readonly [Record<string, HostTensor>, Record<string, HostTensor>])[] = [];
    let words = [3, 14, 15, 9, 26];
    for (let step = 0, total = 0; step < 4; step++) {
      total += words.length;
      const feeds = { input_ids: i64([1, words.length], words), attention_mask: i64([1, total], () => 1) };
      const [ownCache, theirCache] = caches[0] ?? [Object.fromEntries(empty), Object.fromEntries(empty)];
      const [own, wanted] = [
        await model.runOnHost({ ...feeds, ...ownCache }),
        await byRuntime(bytes, { ...feeds, ...theirCache }),
      ];
      for (const [name, each] of Object.entries(wanted))
        expect(difference(own[name] as HostTensor, each, 1e-3, 1e-4), `${name} of step ${step}`).toBe(undefined);
      const cacheOf = (results: Record<string, HostTensor>): Record<string, HostTensor> =>
        Object.fromEntries(empty.map(([name]) => [name, results[name.replace('past', 'present')] as HostTensor]));
      caches = [[cacheOf(own), cacheOf(wanted)]];
      const last = [...((own['logits'] as HostTensor).data as Float32Array)].slice(-WORDS);
      words = [last.indexOf(Math.max(...last))];
    }
  });
});
