import type { Outcome } from './peer.ts';

/** The middle one; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((x, y) => x - y);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] as number) + (sorted[Math.floor(middle)] as number)) / 2;
}

/** The outcomes of one case as a Markdown table, fastest first, those without times last. */
export function formatCase(outcomes: readonly Outcome[]): string {
  const first = outcomes[0];
  if (first === undefined) return '';
  const speed = (outcome: Outcome, seconds: number): number => outcome.case.flops / seconds / 1e9;
  const timed = outcomes
    .filter((outcome) => outcome.seconds.length > 0)
    .map((outcome) => ({ outcome, seconds: median(outcome.seconds) }))
    .sort((x, y) => x.seconds - y.seconds);
  const ours = timed.find(({ outcome }) => outcome.peer.name === 'concord');
  const lines = timed.map(({ outcome, seconds }) => {
    const spread = `${speed(outcome, Math.max(...outcome.seconds)).toFixed(2)} to ${speed(outcome, Math.min(...outcome.seconds)).toFixed(2)}`;
    const ratio = ours === undefined ? '' : `${(seconds / ours.seconds).toFixed(2)}x`;
    return row(label(outcome), speed(outcome, seconds).toFixed(2), spread, ratio);
  });
  for (const outcome of outcomes) {
    if (outcome.failure !== undefined) lines.push(row(label(outcome), 'not run', outcome.failure, ''));
  }
  return [
    `### ${first.case.name}`,
    '',
    row('', 'GFLOP/s, median', 'spread', 'concord is'),
    '|---|---|---|---|',
    ...lines,
  ].join('\n');
}

function label({ peer }: Outcome): string {
  return `${peer.name} (${peer.version}${peer.remark === undefined ? '' : `; ${peer.remark}`})`;
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
