import { neverRanText } from '@concord/conformance';
import { type BackendRun, labelOf } from '../conformance/backend-run.ts';
import { plural } from '../output/format.ts';
import { type Html, html } from './html.ts';

/** The number of times that each kernel variant of a backend ran, for one that has variants. */
export function variantCounts(run: BackendRun): Html | undefined {
  const { variants, variantFailures } = run;
  if (variants === undefined) return undefined;
  const counted = Object.entries(variants.runs).sort(([, a], [, b]) => b - a);
  return html`<details ${variants.forced.length > 0 && 'open'}>
    <summary>${labelOf(run)}: ${plural(counted.length, 'variant')}</summary>
    ${variants.forced.length > 0 && html`<p>Forced: <code>${variants.forced.join(', ')}</code></p>`}
    ${variantFailures !== undefined && html`<p>After the first run each was forced once.</p>`}
    ${variants.neverRan.length > 0 && html`<p class="fail">${neverRanText(variants)}</p>`}
    ${(variants.leftOut ?? []).map(({ id, reason }) => html`<p>Left out: <code>${id}</code>, ${reason}</p>`)}
    <dl>
      ${counted.map(
        ([id, count]) =>
          html`<dt>${id}</dt>
            <dd>${count.toLocaleString('en')}</dd> `,
      )}
    </dl>
  </details> `;
}
