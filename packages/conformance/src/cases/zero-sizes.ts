import type { ConformanceCase } from '../harness/case.ts';
import {
  callOp,
  expectUntouched,
  needsOf,
  SAMPLE_CALLS,
  type SampleCall,
  withNullPointers,
} from '../harness/sample-calls.ts';
import { behaviour } from '../harness/case-text.ts';

type Change = Readonly<Record<string, unknown>>;

const describe = (change: Change): string =>
  Object.entries(change)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('x') : String(value)}`)
    .join(',');

function zeroSize(sample: SampleCall, change: Change): ConformanceCase {
  return {
    id: `${sample.op}/zero-size/${describe(change)}`,
    op: sample.op,
    params: {},
    needs: needsOf(sample),
    about: behaviour(
      `Calls ${sample.op} with nothing to write (${describe(change)}), once with pointers and once with null pointers.`,
      'Both calls are accepted, and the output keeps every byte.',
    ),
    run: async ({ backend }) => {
      await expectUntouched(backend, sample, () => change);
      callOp(backend, sample.op, { ...withNullPointers(sample), ...change });
    },
  };
}

/** Calls with nothing to do write nothing, and accept null pointers. */
export const zeroSizeCases: readonly ConformanceCase[] = SAMPLE_CALLS.flatMap((sample) =>
  sample.nothingToDo.map((change) => zeroSize(sample, change)),
);
