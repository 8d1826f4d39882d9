import type { VariantRuns } from '@concord/conformance';
import type { Colors } from './colors.ts';
import { plainTable } from './table.ts';

/** How often each kernel variant ran, the busiest first, and a zero for what was forced in vain. */
export function variantsTable({ runs, neverRan }: VariantRuns, colors: Colors): string {
  const counted = Object.entries(runs).sort(([, a], [, b]) => b - a);
  const rows = [...counted.map(([id, count]) => [id, String(count)]), ...neverRan.map((id) => [id, colors.red('0')])];
  return plainTable(['Variant', 'Runs'], rows, colors, { right: [1] });
}
