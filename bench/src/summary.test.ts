import { expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import { formatSummary } from './overview.ts';

it('has the range of the ratios of each op, and who the fastest peers are', () => {
  const results = exampleResults();
  const [gemm] = results.cases;
  if (gemm === undefined) throw new Error('the example has cases');
  const slower = {
    ...gemm,
    case: '2048',
    entries: [
      { name: 'concord', ms: 3 },
      { name: 'first', ms: 3.3 },
    ],
  };
  const text = formatSummary([{ ...results, cases: [gemm, slower, ...results.cases.slice(1)] }]);
  expect(text.split('\n').slice(2)).toEqual([
    '| webgpu-example | gemm | 2, 1024 to 2048 | 0.50x | 1.10x to 2.00x | second, first |',
    '| webgpu-example | gemm_f16 | 1024 | – | – | – |',
    '| webgpu-example | binary_add | 1000 | – | – | second |',
  ]);
});
