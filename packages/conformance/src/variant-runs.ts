import type { ComputeBackend, VariantReport } from '@concord/backend-core';

/** The number of times that each variant of a backend's kernels ran, and the forced ones that did not run. */
export interface VariantRuns extends VariantReport {
  /** The forced ids or globs that no run matches: the run says nothing about them. */
  readonly neverRan: readonly string[];
}

/** The counts of a backend after its cases; undefined for one without variants. */
export function variantRunsOf(backend: ComputeBackend): VariantRuns | undefined {
  const report = backend.variants?.();
  if (report === undefined) return undefined;
  const ids = Object.keys(report.runs);
  return { ...report, neverRan: report.forced.filter((pattern) => !ids.some((id) => matches(id, pattern))) };
}

/** Returns whether an id is what a pattern names, in which `*` stands for any characters. */
function matches(id: string, pattern: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return id === head;
  if (!id.startsWith(head)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - tail.length >= at && id.endsWith(tail);
}

/** The text of a report about forced variants that never ran. */
export function neverRanText({ neverRan, leftOut = [] }: VariantRuns): string {
  const texts = neverRan.map((pattern) => {
    const why = leftOut.find(({ id }) => matches(id, pattern))?.reason;
    return why === undefined ? pattern : `${pattern} (left out: ${why})`;
  });
  return `forced, but never ran: ${texts.join(', ')}`;
}
