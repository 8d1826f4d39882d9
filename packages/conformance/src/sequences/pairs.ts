import type { ConformanceCase } from '../harness/case.ts';
import type { Params } from '../harness/case-id.ts';
import type { Residence } from './check-calls.ts';
import { sequenceCase, type SequenceEntry, type SequenceSubject } from './sequence-case.ts';

const WHERE: Readonly<Record<Residence, string>> = {
  own: 'in their own memory',
  pooled: 'at other offsets of the same memory',
  same: 'on the same pointers',
};

/**
 * The calls of which each differs from `base` in one field: base, changed, base, changed and so on, so that each change
 * is met in both directions. What a cache of plans, pipelines or bindings must tell apart.
 */
export function pairCases<P extends Params>(
  subject: SequenceSubject<P>,
  name: string,
  base: Partial<P>,
  changes: readonly Partial<P>[],
): ConformanceCase[] {
  const entries: SequenceEntry<P>[] = [
    { params: base },
    ...changes.flatMap((change) => [{ params: { ...base, ...change } }, { params: base }]),
  ];
  return (Object.keys(WHERE) as Residence[]).map((residence) =>
    sequenceCase(
      subject,
      `${name}: calls that differ in one field, ${WHERE[residence]}`,
      `Makes ${entries.length} calls by turns, of which each differs from the one before in one field, ${WHERE[residence]}, before anything is read.`,
      residence,
      () => entries,
    ),
  );
}
