import type { DevicePtr } from '@concord/backend-core';
import { compareBytes } from '../checks/compare.ts';
import type { ConformanceCase } from '../harness/case.ts';
import {
  callOp,
  needsOf,
  SAMPLE_CALLS,
  type SampleCall,
  withNullPointers,
  withOperands,
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
    run: ({ backend }) =>
      withOperands(backend, sample, async (call, pointers) => {
        const [name, bytes] = sample.operands.at(-1) as readonly [string, number];
        const output = pointers[name] as DevicePtr;
        const before = Uint8Array.from({ length: bytes }, (_, i) => (i * 37 + 5) & 255);
        backend.copyHtod(output, before);
        callOp(backend, sample.op, { ...call, ...change });
        const after = new Uint8Array(bytes);
        await backend.copyDtoh(after, output);
        compareBytes(`${name} after a call with nothing to do`, after, before);
        callOp(backend, sample.op, { ...withNullPointers(sample), ...change });
      }),
  };
}

/** Calls with nothing to do write nothing, and accept null pointers. */
export const zeroSizeCases: readonly ConformanceCase[] = SAMPLE_CALLS.flatMap((sample) =>
  sample.nothingToDo.map((change) => zeroSize(sample, change)),
);
