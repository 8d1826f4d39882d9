import { type BackendRun, type ConformanceRun, labelOf } from '../conformance/backend-run.ts';
import { plural } from '../output/format.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import { backendCard, verdictOf } from './backend-card.ts';
import { failures, unsupportedReasons } from './failures.ts';
import { type Html, html } from './html.ts';
import { matrix } from './matrix.ts';
import { reportPage } from './report-page.ts';
import { variantCounts } from './variant-counts.ts';

/** A conformance run as an HTML page. */
export function conformancePage(run: ConformanceRun, environment: ReportEnvironment): string {
  const main = conformanceMain(run);
  return reportPage({ name: 'Concord conformance', outcome: conformanceOutcome(run), main }, environment);
}

/** The verdict of each backend, for a title. */
export function conformanceOutcome({ backends }: ConformanceRun): string {
  return backends.map((run) => `${labelOf(run)} ${verdictOf(run).word}`).join(', ');
}

/** The main part of the page of a conformance run, without its heading. */
export function conformanceMain(run: ConformanceRun): Html {
  const { backends } = run;
  const ran = backends.filter(({ notRun }) => notRun === undefined);
  const failing = ran.filter(
    ({ cases, variantFailures = [] }) => variantFailures.length > 0 || cases.some(({ status }) => status === 'failed'),
  );
  const counted = ran.flatMap((each) => variantCounts(each) ?? []);
  const reasons = ran.flatMap((each) => unsupportedReasons(each) ?? []);
  return html`
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
      Every case calls a backend and compares what it wrote with a float64 reference. <b class="pass">Passed</b>: all of
      it is within the bound. <b class="fail">Failed</b>: a value, an error or a byte beside the output is wrong.
      <b class="none">Unsupported</b>: the backend declared beforehand that it does not do this, and refused the call as
      it said. <b class="none">Not run</b>: there was no device.
    </p>
    <p><code>concord info '&lt;case id&gt;'</code> says what a case does, and where its bound comes from.</p>
  `;
}

function verdict(run: BackendRun): Html {
  const { style, word } = verdictOf(run);
  return html`<span class="${style}">${labelOf(run)}: ${word}</span>`;
}

function selectionOf({ selected, filter, sample }: ConformanceRun): Html {
  if (filter === undefined && sample === undefined) return html`All ${plural(selected, 'case')}`;
  return html`Only a part of the suite:
  ${plural(selected, 'case')}${
    filter !== undefined && html` matching <code>${filter}</code>`
  }${sample !== undefined && html`, a sample of ${100 * sample} %`}`;
}
