import { type Attempt, type DeviceInfo, formatAttempts } from '@concord/backend-core';
import { colorsFor, counted, deviceText, factLines, type Output, widthOf, wrap } from '@concord/example-command';
import type { Answer, CheckResult, SearchIndex } from './search-index.ts';
import { tokenize } from './vocabulary.ts';

const SNIPPET_WORDS = 36;

/** Everything that is printed about one search. */
export type SearchResult = Answer &
  SearchIndex['facts'] &
  Readonly<{ folder: string; backend: string; device: DeviceInfo; attempts: readonly Attempt[] }> &
  Readonly<{ ms: Readonly<Record<string, number>>; check?: CheckResult }>;

/** The result for people; with what the registry tried if `verbose`, or if none is a GPU. */
export function formatResult(result: SearchResult, output: Output, verbose: boolean): string {
  const { question, words, hits, files, passages, device, attempts, ms, check } = result;
  const [colors, width] = [colorsFor(output), widthOf(output)];
  const found = hits.flatMap(({ file, line, score, text }, index) => [
    `${String(index + 1).padStart(2)}. ${colors.green(score.toFixed(3))}  ${colors.cyan(file)}:${line}`,
    ...snippet(text, words, width - 4, colors.yellow).map((each) => `    ${each}`),
    '',
  ]);
  const times = Object.entries(ms).map(([part, time]) => `${part} ${Math.round(time)} ms`);
  const facts = factLines({
    Time: times.join(', '),
    Backend: deviceText({ name: result.backend, device }),
    Skipped: `${counted(result.skipped, 'file')}, binary or unreadable`,
  });
  const verdict = check?.passed === true ? colors.green('passed') : colors.red('FAILED');
  const error = `${check?.largestDifference.toExponential(1)} of ${check?.allowed.toExponential(1)} allowed`;
  return [
    `\n${colors.bold(`Search: ${question}`)}`,
    `${hits.length} best of ${passages.toLocaleString('en')} passages from ${files.toLocaleString('en')} files\n`,
    ...found,
    facts,
    ...(check === undefined ? [] : [`${verdict}: ${check.scores} scores against the float64 oracle, off by ${error}`]),
    ...(verbose || device.type === 'cpu' ? [`\nBackends tried:\n${formatAttempts(attempts)}`] : []),
  ].join('\n');
}

/** The part of a text with most of the words looked for, in lines of at most `width` characters without the marks. */
export function snippet(text: string, wanted: string[], width: number, mark: (word: string) => string): string[] {
  const isWanted = (word: string): boolean => tokenize(word).some((token) => wanted.includes(token));
  const words = text.split(/\s+/).filter((word) => !/^#+$/.test(word));
  const found = words.map(isWanted);
  const counts = words.map((_, start) => found.slice(start, start + SNIPPET_WORDS).filter(Boolean).length);
  const start = Math.max(0, Math.min(counts.indexOf(Math.max(...counts)), words.length - SNIPPET_WORDS));
  const end = start + SNIPPET_WORDS;
  const shown = `${start > 0 ? '... ' : ''}${words.slice(start, end).join(' ')}${end < words.length ? ' ...' : ''}`;
  return wrap(shown, width).map((line) => line.replace(/\S+/g, (word) => (isWanted(word) ? mark(word) : word)));
}
