import { BENCH_OPS, type BenchOp } from '@concord/cli/bench';
import { expect, it } from 'vitest';
import { runBench } from '../playground/gpu/run-bench.ts';

it.each<[string, readonly BenchOp[], string | undefined]>([
  ['one op', ['gemm'], 'gemm'],
  ['several ops', ['gemm', 'reduce'], 'gemm,reduce'],
  ['all ops', BENCH_OPS, undefined],
])('a run of %s tells its ops as the command does', async (_, ops, op) => {
  const run = await runBench(['cpu'], ops, () => undefined, AbortSignal.abort());
  expect(run).toMatchObject({ size: 'small', isPart: true });
  expect(run?.op).toBe(op);
});
