import { type Attempt, formatAttempts } from '@concord/backend-core';
import Table from 'cli-table3';
import type { CheckResult } from './check.ts';
import type { Colors } from '@concord/example-command';
import type { Hit, SearchResult } from './search.ts';
import { snippet } from './snippet.ts';
import { STAGES } from './stages.ts';
import { wrap } from './wrap.ts';

/** How {@link formatResult} writes. */
export interface ReportOptions {
  readonly colors: Colors;
  /** Columns to fill. */
  readonly width: number;
  /** Add what the registry tried. */
  readonly verbose: boolean;
}

/** The result for people. */
export function formatResult(result: SearchResult, { colors, width, verbose }: ReportOptions): string {
  const parts = [
    heading(result, colors),
    ...result.hits.map((hit, index) => formatHit(hit, index, result.words, colors, width)),
    timesTable(result, colors),
    facts(result, colors, width),
    ...(verbose ? [`Backends tried:\n${formatAttempts(result.attempts)}`] : []),
  ];
  return `\n${parts.join('\n\n')}\n`;
}

function heading({ question, hits, passages, files, best, average }: SearchResult, colors: Colors): string {
  const of = `${hits.length} best of ${count(passages)} ${noun(passages, 'passage')} from ${count(files)} ${noun(files, 'file')}`;
  const scores = `best score ${best.toFixed(3)}, average ${average.toFixed(3)}`;
  return `${colors.bold(`Search: ${question}`)}\n${of}; ${scores}`;
}

function formatHit(
  { file, line, score, text }: Hit,
  index: number,
  words: readonly string[],
  colors: Colors,
  width: number,
): string {
  const lines = snippet(text, words, width - 4, (word) => colors.yellow(colors.bold(word)));
  // Four for the number, seven for the score.
  const place = `${colors.cyan(shortPath(file, width - 11 - `:${line}`.length))}:${line}`;
  return [
    `${String(index + 1).padStart(2)}. ${colors.green(score.toFixed(3))}  ${place}`,
    ...lines.map((each) => `    ${each}`),
  ].join('\n');
}

/** Leaves out the middle of a long path; --json has all of it. */
function shortPath(path: string, width: number): string {
  if (path.length <= width) return path;
  const parts = path.split('/');
  const head = parts.slice(0, path.startsWith('node_modules/.pnpm/') ? 2 : 1).join('/');
  for (let from = 2; from < parts.length - 1; from++) {
    const short = `${head}/.../${parts.slice(from).join('/')}`;
    if (short.length <= width) return short;
  }
  return `${head}/.../${parts.at(-1)}`;
}

function timesTable({ ms }: SearchResult, colors: Colors): string {
  const ran = STAGES.filter((stage) => ms[stage] !== undefined);
  const total = ran.reduce((sum, stage) => sum + (ms[stage] ?? 0), 0);
  const table = new Table({
    head: [...ran, 'total'].map((title) => colors.bold(title)),
    colAligns: [...ran, 'total'].map(() => 'right'),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    chars: FRAMELESS,
  });
  table.push([...ran.map((stage) => milliseconds(ms[stage] ?? 0)), milliseconds(total)]);
  return table.toString();
}

const FRAMELESS = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
};

function facts(result: SearchResult, colors: Colors, width: number): string {
  const { backend, device, skipped, check, matrixBytes } = result;
  const mebibytes = matrixBytes / 2 ** 20;
  const lines: [string, string][] = [
    ['Backend', `${backend}: ${device.name} [${device.type}], ${device.driver}`],
    ['Matrix', `${mebibytes.toFixed(mebibytes < 10 ? 1 : 0)} MiB in device memory`],
    ['GPU', gpuSummary(result.attempts)],
    ['Skipped', `${count(skipped.binary)} binary, ${count(skipped.unreadable)} unreadable`],
    ...(check === undefined ? [] : [['Check', checkSummary(check)] satisfies [string, string]]),
  ];
  return lines
    .flatMap(([title, text]) =>
      // What asks for attention is coloured after wrapping, which counts characters.
      wrap(text, width - 9).map((line, index) => {
        const head = index === 0 ? colors.bold(title.padEnd(8)) : ' '.repeat(8);
        return `${head} ${line.replace(/^passed/, colors.green).replace(/^FAILED/, colors.red)}`;
      }),
    )
    .join('\n');
}

/** In one line, why this did not run on a GPU. */
export function gpuSummary(attempts: readonly Attempt[]): string {
  const selected = attempts.find(({ outcome }) => outcome === 'selected');
  const type = selected?.device?.type;
  if (type === 'discrete' || type === 'integrated' || type === 'unknown') return 'yes, this ran on one';
  if (type === 'software') return 'not used: this machine has only a software device, which is there for tests';
  const others = attempts.filter(({ provider }) => provider !== 'cpu' && provider !== selected?.provider);
  if (others.length === 0) return 'not used: this program was built with no GPU backend';
  const why = others.map(({ provider, device, message }) => {
    const isSoftware = device?.type === 'software';
    return isSoftware ? `${provider} has only a software device, ${device.name}` : `${provider}: ${message}`;
  });
  return `not used: ${why.join('; ')}`;
}

function checkSummary({ passed, largestDifference, allowed, scores }: CheckResult): string {
  const verdict = passed ? 'passed' : 'FAILED';
  const difference = `largest difference ${largestDifference.toExponential(1)}, ${allowed.toExponential(1)} allowed`;
  return `${verdict}: ${count(scores)} scores against the float64 oracle, ${difference}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function noun(value: number, singular: string): string {
  return value === 1 ? singular : `${singular}s`;
}

function milliseconds(ms: number): string {
  return ms < 9999.5 ? `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
