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
