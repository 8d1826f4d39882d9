import picomatch from 'picomatch';
import { allCases, findCase } from './all-cases.ts';
import type { ConformanceCase } from './harness/case.ts';

/**
 * The cases whose ids match a glob (`gemm/**`, `fixed/**`; `*` also crosses no slash, a bare word such as `gemm` means
 * everything below it), or the one case with exactly that id, also one that a fuzz run printed. Without a filter, all.
 */
export function selectCases(filter?: string): ConformanceCase[] {
  if (filter === undefined || filter === '') return allCases();
  // First: ids hold commas and brackets that a glob would read in its own way.
  const exact = findCase(filter);
  if (exact !== undefined) return [exact];
  const matches = picomatch([filter, `${filter}/**`], { nobrace: true, noextglob: true });
  return allCases().filter(({ id }) => matches(id));
}
