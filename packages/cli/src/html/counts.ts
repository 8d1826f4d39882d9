import type { OpSummary } from '../conformance/op-summary.ts';
import { type Html, html } from './html.ts';

/** The number of cases by outcome. */
export type Counts = Pick<OpSummary, 'passed' | 'failed' | 'unsupported'>;

const KINDS = [
  { name: 'failed', style: 'fail', sign: '✗' },
  { name: 'passed', style: 'pass', sign: '✓' },
  { name: 'unsupported', style: 'none', sign: '–' },
] as const;

/** Counts in words and signs, what is zero left out, failures first. `failuresAt` links to where they are listed. */
export function countsText(counts: Counts, failuresAt?: string): Html {
  const words = KINDS.filter(({ name }) => counts[name] > 0).map(({ name, style, sign }) => {
    const text = html`<span class="${style}">${sign} ${counts[name].toLocaleString('en')} ${name}</span>`;
    return name === 'failed' && failuresAt !== undefined ? html`<a href="#${failuresAt}">${text}</a>` : text;
  });
  return html`<div class="counts">${words}</div>`;
}

/** The same as a bar; for the eye only, the words stand beside it. */
export function countsBar(counts: Counts): Html {
  const parts = KINDS.filter(({ name }) => counts[name] > 0).map(
    ({ name, style }) => html`<span class="${style}" style="flex-grow:${counts[name]}"></span>`,
  );
  return html`<div class="bar" aria-hidden="true">${parts}</div>`;
}

/** All cases of a run. */
export function totalOf(summaries: readonly Counts[]): Counts {
  const sum = (name: keyof Counts): number => summaries.reduce((total, summary) => total + summary[name], 0);
  return { passed: sum('passed'), failed: sum('failed'), unsupported: sum('unsupported') };
}
