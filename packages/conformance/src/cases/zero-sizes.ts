import type { DevicePtr, OpName } from '@concord/backend-core';
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

/** What leaves each op nothing to write. */
const NOTHING_TO_DO: Readonly<Record<OpName, readonly Change[]>> = {
  gemm: [{ m: 0 }, { n: 0 }, { m: 0, k: 0, beta: 2 }],
  batchedGemm: [{ m: 0 }, { n: 0 }, { batchCount: 0 }],
  gemmF16: [{ m: 0 }, { n: 0 }],
  conv2dForward: [
    { inputShape: [0, 2, 4, 4], outputShape: [0, 3, 2, 2] },
    { filterShape: [0, 2, 3, 3], outputShape: [1, 0, 2, 2] },
  ],
  attention: [{ batch: 0 }, { heads: 0 }],
  reduce: [
    { shape: [4, 0], axis: 0 },
    { shape: [0, 4], axis: 1, op: 'mean' },
  ],
  unary: [{ n: 0 }],
  binary: [{ n: 0 }],
};

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
  NOTHING_TO_DO[sample.op].map((change) => zeroSize(sample, change)),
);
