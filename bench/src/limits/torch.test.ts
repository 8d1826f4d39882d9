import { expect, it } from 'vitest';
import { parseTorch, readTorch, torchContestants, torchEntries } from './torch.ts';

const ABOUT = '{"device": "NVIDIA H200", "driver": "580.159", "versions": "torch@2.9"}';
const CEILINGS = '{"ceilings": {"tflops": 51, "tbps": 4.2, "source": "measured"}}';

it('reads the device, the ceilings, the times and the failures', () => {
  const lines = [
    '{"op": "gemm", "case": "256", "ms": 0.05, "tflops": 0.671}',
    '{"op": "gemm", "case": "8", "failed": "no"}',
  ];
  expect(parseTorch([ABOUT, CEILINGS, ...lines, ''].join('\n'), 'x')).toEqual({
    device: 'NVIDIA H200',
    versions: 'torch@2.9, driver 580.159',
    ceilings: { tflops: 51, tbps: 4.2, source: 'measured' },
    lines: [
      { op: 'gemm', case: '256', ms: 0.05, tflops: 0.671 },
      { op: 'gemm', case: '8', failed: 'no' },
    ],
  });
});

it('names the file and the line of what is damaged', () => {
  expect(() => readTorch('/nowhere/limits.jsonl')).toThrow(/no such file.*limits\.jsonl/);
  expect(() => parseTorch(`${ABOUT}\n{"op": "gemm", "ca`, 'x.jsonl')).toThrow(/^x\.jsonl:2 is not JSON: \{"op"/);
  expect(() => parseTorch(`${ABOUT}\n{"ms": 3}`, 'x.jsonl')).toThrow(/^x\.jsonl:2 is neither/);
  expect(() => parseTorch(ABOUT, 'x.jsonl')).toThrow('x.jsonl has no cases');
});

const limits = parseTorch(
  [
    '{"device": "NVIDIA H200", "versions": "torch@2.9"}',
    '{"op": "gpt_decode", "case": "f32 at 512", "ms": 1.2, "rounds": [1.1, 1.2, 1.3], "eager_ms": 2.9, "eager_rounds": [2.9]}',
    '{"op": "gpt_prefill", "case": "f32 1x1024", "failed": "out of memory"}',
  ].join('\n'),
  'x',
);

const modes = ['torch graph', 'torch eager'] as const;

it('has a line in both modes for all cases of the same work', () => {
  expect(torchEntries(limits, { op: 'gpt_decode', name: 'f32 at 512' }, ...modes)).toEqual([
    { name: 'torch graph', ms: 1.2, rounds: [1.1, 1.2, 1.3] },
    { name: 'torch eager', ms: 2.9, rounds: [2.9] },
  ]);
  expect(torchEntries(limits, { op: 'gpt_prefill', name: 'f32 1x1024' }, ...modes)).toEqual([
    { name: 'torch graph', failed: 'out of memory' },
    { name: 'torch eager', failed: 'out of memory' },
  ]);
  expect(torchEntries(limits, { op: 'gpt_decode', name: 'f16 at 512' }, ...modes)).toEqual([]);
});

it('says why it was not timed', () => {
  expect(torchContestants({ absent: 'PyTorch is not installed' }, ...modes).map(({ absent }) => absent)).toEqual([
    'PyTorch is not installed',
    'PyTorch is not installed',
  ]);
  expect(
    torchEntries({ absent: 'PyTorch is not installed' }, { op: 'gpt_decode', name: 'f32 at 512' }, ...modes),
  ).toEqual([]);
});
