import { type Html, html } from '../../html/html.ts';
import type { BenchRun } from '../bench-run.ts';

const COLORS = 6;

/** The backends that have a device, in order; ratios are to the first. */
export function measuredBackends({ backends }: BenchRun): readonly string[] {
  return backends.filter(({ device }) => device !== null).map(({ backend }) => backend);
}

/** The class that gives a backend its colour. */
export function seriesOf(run: BenchRun, backend: string): string {
  return `b${Math.max(0, measuredBackends(run).indexOf(backend)) % COLORS}`;
}

/** The name of a backend beside its colour. */
export function backendKey(run: BenchRun, backend: string): Html {
  return html`<span class="${seriesOf(run, backend)}"><span class="key"></span>${backend}</span>`;
}
