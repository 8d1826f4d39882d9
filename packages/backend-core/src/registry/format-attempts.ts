import type { Attempt } from './provider.ts';

/**
 * The attempts as a plain-text table, one line a backend and one for each hint: what people paste into bug reports.
 */
export function formatAttempts(attempts: readonly Attempt[]): string {
  const rows = attempts.map((attempt) => [
    attempt.outcome === 'selected' ? '*' : ' ',
    attempt.provider,
    attempt.outcome === 'unavailable' ? `unavailable (${attempt.reason ?? 'failed'})` : attempt.outcome,
    attempt.device === undefined ? '-' : `${attempt.device.name} [${attempt.device.type}]`,
    attempt.message,
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => (row[column] as string).length)));
  return attempts
    .flatMap((attempt, index) => {
      const row = rows[index] as string[];
      const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      return attempt.hint === undefined ? [line] : [line, `     hint: ${attempt.hint}`];
    })
    .join('\n');
}
