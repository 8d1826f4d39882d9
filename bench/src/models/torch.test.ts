import { expect, it } from 'vitest';
import { parseTorch, torchContestants, torchEntries } from '../limits/torch.ts';

const limits = parseTorch(
  [
    '{"device": "NVIDIA H200", "versions": "torch@2.9"}',
    '{"op": "gpt_decode", "case": "f32 at 512", "ms": 1.2, "rounds": [1.1, 1.2, 1.3], "eager_ms": 2.9, "eager_rounds": [2.9]}',
    '{"op": "gpt_prefill", "case": "f32 1x1024", "failed": "out of memory"}',
  ].join('\n'),
  'x',
);

it('has a line in both ways for all cases of the same work', () => {
  expect(torchEntries({ op: 'gpt_decode', limitName: 'f32 at 512' }, limits)).toEqual([
    { name: 'torch graph', ms: 1.2, rounds: [1.1, 1.2, 1.3] },
    { name: 'torch eager', ms: 2.9, rounds: [2.9] },
  ]);
  expect(torchEntries({ op: 'gpt_prefill', limitName: 'f32 1x1024' }, limits)).toEqual([
    { name: 'torch graph', failed: 'out of memory' },
    { name: 'torch eager', failed: 'out of memory' },
  ]);
  expect(torchEntries({ op: 'gpt_decode', limitName: 'f16 at 512' }, limits)).toEqual([]);
});

it('says why it was not timed', () => {
  expect(torchContestants({ absent: 'PyTorch is not installed' }).map(({ absent }) => absent)).toEqual([
    'PyTorch is not installed',
    'PyTorch is not installed',
  ]);
  expect(torchEntries({ op: 'gpt_decode', limitName: 'f32 at 512' }, { absent: 'PyTorch is not installed' })).toEqual(
    [],
  );
});
