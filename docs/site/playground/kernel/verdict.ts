import type { JudgedOutput } from './judge.ts';

/** The result of a run in one line. The oracle computes the same graph: what it calls right may be NaN all the same. */
export function verdictOf(judged: readonly JudgedOutput[]): string {
  const wrong = judged.reduce((sum, output) => sum + output.wrong, 0);
  const total = judged.reduce((sum, output) => sum + output.total, 0).toLocaleString('en');
  if (wrong > 0) return `${wrong.toLocaleString('en')} of ${total} values are outside the oracle's intervals`;
  const right = `All ${total} values are in the oracle's intervals`;
  if (!judged.some(({ isAllNan }) => isAllNan) || !judged.every(({ isAllNan, total }) => isAllNan || total === 0))
    return right;
  return `${right}, but every value is NaN: look for an operation whose result is no number, such as 0 / 0`;
}
