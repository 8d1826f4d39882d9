import { describe } from '../contract/checks.ts';
import { printable } from '../errors/printable.ts';
import type { Attempt } from '../errors/backend-error.ts';

const WIDTH = 80;
const NO_DEVICE = '-';
const INDENT = '     ';
/** Characters of a provider's name. */
const MAX_NAME = 40;

interface Row {
  readonly mark: string;
  readonly provider: string;
  readonly outcome: string;
  readonly device: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/**
 * The attempts as a plain-text table of at most 80 columns, one line a backend and one for each hint: what people paste
 * into bug reports. Where the lines would be longer, devices and messages are on separate lines. Never throws, and has no
 * control characters, whatever the attempts hold.
 */
export function formatAttempts(attempts: readonly Attempt[]): string {
  const rows = listOf(attempts).map(rowOf);
  const widthOf = (cell: (row: Row) => string): number => Math.max(0, ...rows.map((row) => cell(row).length));
  const [provider, outcome, device] = [
    widthOf((row) => row.provider),
    widthOf((row) => row.outcome),
    widthOf((row) => row.device),
  ];
  const head = (row: Row): string => `${row.mark}  ${row.provider.padEnd(provider)}  ${row.outcome}`;
  const whole = (row: Row): string =>
    `${row.mark}  ${row.provider.padEnd(provider)}  ${row.outcome.padEnd(outcome)}  ${row.device.padEnd(device)}  ${row.message}`;
  const isTable = rows.every((row) => whole(row).length <= WIDTH);
  return rows
    .flatMap((row) => [
      ...(isTable
        ? [whole(row).trimEnd()]
        : [head(row), ...(row.device === NO_DEVICE ? [] : wrapped(row.device)), ...wrapped(row.message)]),
      ...(row.hint === undefined ? [] : wrapped(`hint: ${row.hint}`)),
    ])
    .join('\n');
}

function listOf(attempts: unknown): readonly unknown[] {
  try {
    return Array.isArray(attempts) ? Array.from(attempts as unknown[]) : [];
  } catch {
    return [];
  }
}

function rowOf(attempt: unknown): Row {
  try {
    const { provider, outcome, reason = 'failed', device, message, hint } = attempt as Attempt;
    const shown = outcome === 'unavailable' ? `unavailable (${line(reason)})` : line(outcome);
    return {
      mark: outcome === 'selected' ? '*' : ' ',
      provider: line(provider).slice(0, MAX_NAME),
      outcome: shown.slice(0, WIDTH - MAX_NAME - INDENT.length),
      device: device === undefined ? NO_DEVICE : `${line(device.name)} [${line(device.type)}]`,
      message: line(message),
      hint: hint === undefined ? undefined : line(hint),
    };
  } catch {
    const unknown = { mark: ' ', provider: '?', outcome: 'unavailable (failed)', device: NO_DEVICE, hint: undefined };
    return { ...unknown, message: `what was tried is ${describe(attempt)}` };
  }
}

/** Whatever it is, as text of one line. */
function line(value: unknown): string {
  const text = typeof value === 'string' ? value : describe(value);
  return printable(text.replaceAll(/\s+/g, ' ').trim());
}

/** Indented lines, broken between words, and within those that are longer than a line. */
function wrapped(text: string): string[] {
  const room = WIDTH - INDENT.length;
  const lines: string[] = [];
  let rest = text;
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room);
    const end = space > 0 ? space : room;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest].map((part) => INDENT + part);
}
