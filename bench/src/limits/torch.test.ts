import { expect, it } from 'vitest';
import { parseTorch, readTorch } from './torch.ts';

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
