import { expect, it } from 'vitest';
import { torchContestants } from './limits/torch.ts';
import { checkOutputs, formatModel, measureModel, type PreparedModel } from './models.ts';
import { newResults } from './results.ts';

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

const results = newResults({
  arena: 'webgpu-example',
  device: 'Example 1',
  machine: { cpu: 'a CPU', cores: 4, platform: 'linux x64', node: 'v20' },
  date: '2026-01-02',
  schedule: { rounds: 3, roundMs: 20 },
  contestants: [
    { name: 'concord', role: 'ours', version: 'this checkout' },
    { name: 'peer', role: 'peer', version: 'peer@1' },
    ...torchContestants({ device: 'Example 1', versions: 'torch@2', lines: [] }, 'torch graph', 'torch eager'),
    { name: 'other', role: 'peer', absent: 'other is not installed' },
  ],
  cases: [
    {
      op: 'gpt_decode',
      case: 'f32 at 512',
      traffic: 1,
      entries: [
        { name: 'torch graph', ms: 1.3 },
        { name: 'torch eager', ms: 3 },
        { name: 'concord', ms: 1, rounds: [1.05, 0.95, 1], hostMs: 0.5 },
        { name: 'peer', ms: 2.5 },
      ],
    },
    {
      op: 'gpt_prefill',
      case: 'f32 1x1024',
      traffic: 1,
      entries: [
        { name: 'concord', failed: 'logit 3 is NaN, not 1' },
        { name: 'peer', ms: 20 },
      ],
    },
  ],
});

it('has medians, the least, the noise and ratios, and says what failed', () => {
  const lines = formatModel(results).split('\n');
  expect(lines.slice(2, 6)).toEqual([
    '| work | case | ms | least | noise | of it JavaScript | against peer | against torch graph | against torch eager |',
    '|---|---|---|---|---|---|---|---|---|',
    '| gpt decode | f32 at 512 | 1.000 | 0.950 | 10 % | 0.500 | 2.500, 2.50x | 1.300, 1.30x | 3.000, 3.00x |',
    '| gpt prefill | f32 1x1024 | – | – | – | – | 20.0 | – | – |',
  ]);
  expect(lines).toContain('- other: not run, other is not installed');
  expect(lines).toContain('- failed at gpt_prefill f32 1x1024: concord: logit 3 is NaN, not 1');
});
