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
  const { flops, bytes = 0 } = first.case;
  const speed = (seconds: number): number => (flops ?? bytes) / seconds / 1e9;
  const timed = outcomes
    .filter((outcome) => outcome.seconds.length > 0)
    .map((outcome) => ({ outcome, seconds: median(outcome.seconds) }))
    .sort((x, y) => x.seconds - y.seconds);
  const ours = timed.find(({ outcome }) => outcome.peer.name === 'concord');
  const lines = timed.map(({ outcome, seconds }) => {
    const spread = `${speed(Math.max(...outcome.seconds)).toFixed(2)} to ${speed(Math.min(...outcome.seconds)).toFixed(2)}`;
    const ratio = ours === undefined ? '' : `${(seconds / ours.seconds).toFixed(2)}x`;
    return row(label(outcome), speed(seconds).toFixed(2), spread, ratio);
  });
  for (const outcome of outcomes) {
    if (outcome.failure !== undefined) lines.push(row(label(outcome), 'not run', outcome.failure, ''));
  }
  return [
    `### ${first.case.name}`,
    '',
    row('', `${flops === undefined ? 'GB/s' : 'GFLOP/s'}, median`, 'spread', 'concord is'),
    '|---|---|---|---|',
    ...lines,
  ].join('\n');
}

/** All cases as one Markdown table: our speed, and how many times as fast that is as each peer. */
export function formatSummary(outcomes: readonly Outcome[]): string {
  const peers = [...new Set(outcomes.map(({ peer }) => peer.name))].filter((name) => name !== 'concord');
  const cases = [...new Set(outcomes.map((outcome) => outcome.case))];
  const rows = cases.map((testCase) => {
    const secondsOf = (name: string): number => {
      const found = outcomes.find((outcome) => outcome.case === testCase && outcome.peer.name === name);
      return found === undefined || found.seconds.length === 0 ? Number.NaN : median(found.seconds);
    };
    const ours = secondsOf('concord');
    const [amount, unit] = testCase.flops === undefined ? [testCase.bytes ?? 0, 'GB/s'] : [testCase.flops, 'GFLOP/s'];
    const ratios = peers.map((name) => secondsOf(name) / ours);
    const cell = (value: number, digits: number, after: string): string =>
      Number.isNaN(value) ? 'not run' : `${value.toFixed(digits)}${after}`;
    return row(testCase.name, cell(amount / ours / 1e9, 1, ` ${unit}`), ...ratios.map((ratio) => cell(ratio, 2, 'x')));
  });
  return [
    row('', 'concord', ...peers.map((name) => `against ${name}`)),
    `|${'---|'.repeat(peers.length + 2)}`,
    ...rows,
  ].join('\n');
}

function label({ peer }: Outcome): string {
  return `${peer.name} (${peer.version}${peer.remark === undefined ? '' : `; ${peer.remark}`})`;
}

/** A row of a Markdown table. */
export function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
