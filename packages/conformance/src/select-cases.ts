import picomatch from 'picomatch';
import { allCases, findCase } from './all-cases.ts';
import type { ConformanceCase } from './harness/case.ts';
import { Random } from './harness/random.ts';

/** Which cases to take. */
export interface CaseSelection {
  /**
   * A glob for case ids (`gemm/**`, `fixed/**`; a bare folder such as `fixed` means everything below it), an op by its
   * name, its `fixed/` cases included, or one exact id, also one that a fuzz run printed. Default: all cases.
   */
  readonly filter?: string | undefined;
  /**
   * The fraction of them to take, above 0 and up to 1. Which ones follows from their ids alone: the same everywhere and
   * every time, whatever other cases there are, and a larger fraction holds all of a smaller one. `fixed/` cases and a
   * case that is named by its id are always taken. Default: 1.
   */
  readonly sample?: number | undefined;
  /** Leaves out the cases that a sample of this fraction takes, `fixed/` cases included. Default: 0, which leaves out none. */
  readonly after?: number | undefined;
}

/**
 * The cases of a selection, in the order of a report. A text is a filter.
 *
 * @throws {RangeError} for a `sample` or `after` that is no fraction
 */
export function selectCases(selection: string | CaseSelection = {}): ConformanceCase[] {
  const { filter = '', sample = 1, after = 0 } = typeof selection === 'string' ? { filter: selection } : selection;
  if (!(sample > 0 && sample <= 1)) throw new RangeError(`sample must be above 0 and up to 1, got ${sample}`);
  if (!(after >= 0 && after < 1)) throw new RangeError(`after must be 0 or more and below 1, got ${after}`);
  // First: ids hold commas and brackets that a glob would read in its own way. No id has a star or a question mark.
  const exact = filter === '' || /[*?]/.test(filter) ? undefined : findCase(filter);
  if (exact !== undefined) return [exact];
  return matching(filter).filter(({ id }) => isInSample(id, sample) && (after === 0 || !isInSample(id, after)));
}

function isInSample(id: string, fraction: number): boolean {
  return id.startsWith('fixed/') || placeOf(id) < fraction;
}

function matching(filter: string): ConformanceCase[] {
  if (filter === '') return allCases();
  const ofSubject = allCases().filter(({ op }) => op === filter);
  if (ofSubject.length > 0) return ofSubject;
  const matches = picomatch([filter, `${filter}/**`], { nobrace: true, noextglob: true });
  return allCases().filter(({ id }) => matches(id));
}

/** A case's own number in [0, 1). Not the first that the case itself draws: a sample must not favour some inputs. */
function placeOf(id: string): number {
  return new Random(`sample ${id}`).unit();
}
