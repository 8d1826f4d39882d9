import { benchMain, benchOutcome } from '../bench/page/bench-page.ts';
import { BENCH_STYLES } from './styles.ts';
import type { BenchRun } from '../bench/bench-run.ts';
import type { ConformanceRun } from '../conformance/backend-run.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import { conformanceMain, conformanceOutcome } from './conformance-page.ts';
import { html, type HtmlPart } from './html.ts';
import { reportPage } from './report-page.ts';

/** The contents of a page of several reports. */
export interface Reports {
  readonly conformance: readonly ConformanceRun[];
  readonly bench: readonly BenchRun[];
  /** Lines that say where the reports are from. */
  readonly sources?: readonly string[];
}

/** Runs of conformance and of bench as one HTML page. */
export function reportsPage({ conformance, bench, sources = [] }: Reports, environment: ReportEnvironment): string {
  const main: HtmlPart = html`
    ${
      sources.length > 0 &&
      html`<ul class="small soft">
        ${sources.map((source) => html`<li>${source}</li> `)}
      </ul>`
    }
    ${conformance.map(
      (run) =>
        html`<section>
          <h2>Does it compute right?</h2>
          ${conformanceMain(run)}
        </section>`,
    )}
    ${bench.map(
      (run) =>
        html`<section>
          <h2>How fast is it?</h2>
          ${benchMain(run)}
        </section>`,
    )}
  `;
  const outcome = [...conformance.map(conformanceOutcome), ...bench.map((run) => `speed of ${benchOutcome(run)}`)];
  return reportPage({ name: 'Concord report', outcome: outcome.join('; '), styles: BENCH_STYLES, main }, environment);
}
