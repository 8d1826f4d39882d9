import type { BackendRun, ConformanceRun } from '../conformance/backend-run.ts';
import { plural } from '../output/format.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import { backendCard, verdictOf } from './backend-card.ts';
import { failures, unsupportedReasons } from './failures.ts';
import { Html, html } from './html.ts';
import { matrix } from './matrix.ts';
import { STYLES } from './styles.ts';
import { variantCounts } from './variant-counts.ts';

/**
 * A conformance run as one HTML page that needs nothing else: no network, no script, light and dark, for screens of any
 * width and for paper.
 */
export function conformancePage(run: ConformanceRun, environment: ReportEnvironment): string {
  const { backends } = run;
  const ran = backends.filter(({ notRun }) => notRun === undefined);
  const failing = ran.filter(
    ({ cases, variantFailures = [] }) => variantFailures.length > 0 || cases.some(({ status }) => status === 'failed'),
  );
  const counted = ran.flatMap((each) => variantCounts(each) ?? []);
  const reasons = ran.flatMap((each) => unsupportedReasons(each) ?? []);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Concord conformance: ${titleOf(backends)}</title>
        <style>
          ${new Html(STYLES)}
        </style>
      </head>
      <body>
        <main>
          <h1>Concord conformance</h1>
          <p class="soft">${selectionOf(run)}</p>
          <p class="verdict">${backends.map((each, i) => [i > 0 ? ', ' : '', verdict(each)])}</p>
          <div class="cards">${backends.map(backendCard)}</div>
          ${
            ran.length > 0 &&
            html`<h2>By op</h2>
              ${matrix(backends)}`
          }
          ${
            failing.length > 0 &&
            html`<h2>Failing cases</h2>
              ${failing.map(failures)}`
          }
          ${
            reasons.length > 0 &&
            html`<h2>Unsupported, as declared</h2>
              ${reasons}`
          }
          ${
            counted.length > 0 &&
            html`<h2>Kernel variants</h2>
              ${counted}`
          }
          <h2>How to read this</h2>
          <p>
            Every case calls a backend and compares what it wrote with a float64 reference. <b class="pass">Passed</b>:
            all of it is within the bound. <b class="fail">Failed</b>: a value, an error or a byte beside the output is
            wrong. <b class="none">Unsupported</b>: the backend declared beforehand that it does not do this, and
            refused the call as it said. <b class="none">Not run</b>: there was no device.
          </p>
          <p><code>concord info '&lt;case id&gt;'</code> says what a case does, and where its bound comes from.</p>
        </main>
        <footer class="small soft">
          Made ${dateOf(environment.date)} by concord ${environment.concord} on ${environment.host}
        </footer>
      </body>
    </html> `;
  return page.text;
}

function verdict(run: BackendRun): Html {
  const { style, word } = verdictOf(run);
  return html`<span class="${style}">${run.backend}: ${word}</span>`;
}

function titleOf(backends: readonly BackendRun[]): string {
  return backends.map((run) => `${run.backend} ${verdictOf(run).word}`).join(', ');
}

function selectionOf({ selected, filter, sample }: ConformanceRun): Html {
  if (filter === undefined && sample === undefined) return html`All ${plural(selected, 'case')}`;
  return html`Only a part of the suite:
  ${plural(selected, 'case')}${
    filter !== undefined && html` matching <code>${filter}</code>`
  }${sample !== undefined && html`, a sample of ${100 * sample} %`}`;
}

const dateOf = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
