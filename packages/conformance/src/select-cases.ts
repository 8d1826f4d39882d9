import picomatch from 'picomatch';
import { allCases, findCase } from './all-cases.ts';
import type { ConformanceCase } from './harness/case.ts';

/**
 * The cases whose ids match a glob (`gemm/**`, `fixed/**`; a bare folder such as `fixed` means everything below it), those of an
 * op by its name, its `fixed/` cases included, or the one case with exactly that id, also one that a fuzz run printed. Without a filter, all.
 */
export function selectCases(filter?: string): ConformanceCase[] {
  if (filter === undefined || filter === '') return allCases();
  // First: ids hold commas and brackets that a glob would read in its own way.
  const exact = findCase(filter);
  if (exact !== undefined) return [exact];
  const ofSubject = allCases().filter(({ op }) => op === filter);
  if (ofSubject.length > 0) return ofSubject;
  const matches = picomatch([filter, `${filter}/**`], { nobrace: true, noextglob: true });
  return allCases().filter(({ id }) => matches(id));
}
