import { newResults, type Results } from '../src/results.ts';

/** Results of two peers, one of which fails at something, and of a limit. */
export function exampleResults(): Results {
  return newResults({
    arena: 'webgpu-example',
    device: 'Example 1',
    driver: 'driver 2',
    machine: { cpu: 'a CPU', cores: 4, platform: 'linux x64', node: 'v20' },
    date: '2026-01-02',
    schedule: { rounds: 7, roundMs: 20 },
    contestants: [
      { name: 'concord', role: 'ours', version: 'this checkout' },
      { name: 'first', role: 'peer', version: 'first@1' },
      { name: 'second', role: 'peer', version: 'second@2', remark: 'with transfers' },
      { name: 'third', role: 'peer', absent: 'third is not installed' },
      { name: 'torch', role: 'limit', version: 'torch@2' },
    ],
    ceilings: { tflops: 40, tbps: 2, source: 'measured' },
    cases: [
      {
        op: 'gemm',
        case: '1024',
        flops: 20e9,
        traffic: 1e6,
        entries: [
          { name: 'concord', ms: 2, rounds: [1, 2, 3] },
          { name: 'first', ms: 6, rounds: [6] },
          { name: 'second', ms: 4, rounds: [4] },
          { name: 'torch', ms: 1 },
        ],
      },
      {
        op: 'gemm_f16',
        case: '1024',
        flops: 20e9,
        traffic: 1e6,
        entries: [
          { name: 'concord', ms: 2, rounds: [2] },
          { name: 'first', lacks: 'has no gemm_f16' },
          { name: 'second', failed: 'wrong | result\n at line 3' },
        ],
      },
      {
        op: 'binary_add',
        case: '1000',
        bytes: 12e9,
        traffic: 12e9,
        entries: [
          { name: 'concord', failed: 'device lost' },
          { name: 'second', ms: 4, rounds: [4] },
          { name: 'torch', ms: 6 },
        ],
      },
    ],
  });
}
