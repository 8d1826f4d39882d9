import type { VariantRuns } from '@concord/conformance';
import type { Colors } from './colors.ts';
import { plainTable } from './table.ts';

/** The number of times that each kernel variant ran, the busiest first; zero for those that were forced but did not run. */
export function variantsTable({ runs, neverRan }: VariantRuns, colors: Colors): string {
  const counted = Object.entries(runs).sort(([, a], [, b]) => b - a);
  const rows = [...counted.map(([id, count]) => [id, String(count)]), ...neverRan.map((id) => [id, colors.red('0')])];
  return plainTable(['Variant', 'Runs'], rows, colors, { right: [1] });
}
