import type { BenchCase, BenchOp } from './bench-case.ts';
import { BENCH_OPS, type BenchSize } from './bench-ops.ts';
import { realCases } from './cases/real-cases.ts';
import { smallCases } from './cases/small-cases.ts';

/** The cases of a size, and of some ops. */
export function selectBenchCases(size: BenchSize, ops: readonly BenchOp[] = BENCH_OPS): readonly BenchCase[] {
  const cases = size === 'small' ? smallCases() : realCases();
  return cases.filter(({ op }) => ops.includes(op));
}
