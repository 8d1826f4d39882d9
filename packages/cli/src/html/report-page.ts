import type { DeviceInfo } from '@concord/backend-core';
import type { NotRun } from '../choose-backend.ts';
import { formatBytes } from '../output/format.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import { Html, html, type HtmlPart } from './html.ts';
import { STYLES } from './styles.ts';

/** The content of a page of a report. */
export interface ReportPage {
  /** The heading, and the start of the title. */
  readonly name: string;
  /** The result, for the rest of the title. */
  readonly outcome: string;
  /** Besides those of all pages. */
  readonly styles?: string;
  readonly main: HtmlPart;
}

/**
 * A report as one HTML page that needs nothing else: no network, no script, light and dark, for screens of any width and
 * for paper.
 */
export function reportPage({ name, outcome, styles = '', main }: ReportPage, environment: ReportEnvironment): string {
  const date = environment.date.toISOString().slice(0, 16).replace('T', ' ');
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${name}: ${outcome}</title>
        <style>
          ${new Html(STYLES + styles)}
        </style>
      </head>
      <body>
        <main>
          <h1>${name}</h1>
          ${main}
        </main>
        <footer class="small soft">Made ${date} UTC by concord ${environment.concord} on ${environment.host}</footer>
      </body>
    </html> `;
  return page.text;
}

/** A name and its value, as a card lists them. */
export type Fact = readonly [name: string, value: HtmlPart];

/** The result of a backend, in a word or two. */
export interface Verdict {
  readonly style: 'pass' | 'fail' | 'none';
  readonly word: string;
}

/** A backend with its verdict, what comes before its facts, and these. */
export function card(title: HtmlPart, { style, word }: Verdict, facts: readonly Fact[], before?: HtmlPart): Html {
  return html`<section class="card">
    <header>
      <h3>${title}</h3>
      <span class="badge ${style}">${word}</span>
    </header>
    ${before}
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd> `,
      )}
    </dl>
  </section>`;
}

/** The facts about a device. */
export function deviceFacts({ name, type, vendor, memoryBytes }: DeviceInfo): Fact[] {
  const memory: Fact[] = memoryBytes === undefined ? [] : [['Memory', formatBytes(memoryBytes)]];
  return [['Device', `${name} (${type})`], ['Vendor', vendor], ...memory];
}

/** Why a backend was not run, and what to do about it. */
export function notRunFacts({ message, hint }: Pick<NotRun, 'message' | 'hint'>): Fact[] {
  return [['Reason', message], ...(hint === null ? [] : ([['What to do', hint]] as const))];
}
