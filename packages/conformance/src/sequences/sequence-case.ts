import type { OpName } from '@concord/backend-core';
import type { CaseContext, ConformanceCase } from '../harness/case.ts';
import { formatParams, type Params } from '../harness/case-id.ts';
import { UNTOUCHED } from '../harness/case-text.ts';
import type { PlanCall } from '../harness/planned-call.ts';
import { checkCalls, type Residence, type SequenceCall } from './check-calls.ts';

/** The names and plans of a sequence for the calls of an op. */
export interface SequenceSubject<P extends Params> {
  readonly op: OpName;
  readonly defaults: P;
  readonly plan: PlanCall<P>;
}

/** One call of a sequence: what differs from the defaults, and where its pointers are modulo 256. */
export interface SequenceEntry<P extends Params> {
  readonly params: Partial<P>;
  readonly residues?: readonly number[];
}

/** A case that makes many calls one after the other, and judges all of them at the end. */
export function sequenceCase<P extends Params>(
  subject: SequenceSubject<P>,
  what: string,
  does: string,
  residence: Residence,
  entriesOf: (context: CaseContext) => readonly SequenceEntry<P>[],
): ConformanceCase {
  const { op, defaults, plan } = subject;
  return {
    id: `${op}/sequence/${what}`,
    op,
    params: {},
    // Of the op alone; each call is asked for by itself.
    needs: { op, dtype: op === 'gemmF16' ? 'f16' : 'f32' },
    about: () => ({ does, kind: 'property', passes: `Each call gives what it gives alone. ${UNTOUCHED}` }),
    run: (context) => {
      const calls = entriesOf(context).map(({ params, residues }): SequenceCall => {
        const whole: P = { ...defaults, ...params };
        const at = residues === undefined ? '' : `, pointers at ${residues.join(', ')} mod 256`;
        return {
          text: `${formatParams(whole, defaults)}${at}`,
          plan: (slots) => plan(slots, context, whole),
          ...(residues === undefined ? {} : { residues }),
        };
      });
      return checkCalls(context, calls, residence);
    },
  };
}
