import { NULL_PTR } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import type { ConformanceCase } from '../../harness/case.ts';
import { callOp, needsOf, sampleOf, withNullPointers } from '../../harness/sample-calls.ts';
import { behaviour } from '../../harness/case-text.ts';

/** The arguments that make each op a no-op although all pointers are null. */
const ZEROS: readonly (readonly [DefinedOp, readonly Readonly<Record<string, unknown>>[]])[] = [
  ['gemm', [{ m: 0 }, { n: 0 }, { k: 0 }, { m: 0, n: 0, k: 0 }, { k: 0, beta: 2 }]],
  ['batchedGemm', [{ m: 0 }, { n: 0 }, { k: 0 }, { batchCount: 0 }]],
  ['gemmF16', [{ m: 0 }, { n: 0 }, { k: 0 }]],
  ['unary', [{ n: 0 }]],
  ['binary', [{ n: 0 }]],
  [
    'reduce',
    [
      { shape: [0], axis: 0 },
      { shape: [4, 0], axis: 0 },
      { shape: [4, 0], axis: 1 },
      { shape: [0, 4, 5], axis: 2, op: 'mean' },
    ],
  ],
  ['attention', [{ batch: 0 }, { heads: 0 }]],
  [
    'conv2dForward',
    [
      { inputShape: [0, 2, 4, 4], outputShape: [0, 3, 2, 2] },
      { filterShape: [0, 2, 3, 3], outputShape: [1, 0, 2, 2] },
    ],
  ],
];

const describe = (change: Readonly<Record<string, unknown>>): string =>
  Object.entries(change)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ');

/** Calls that have nothing to do accept null pointers. */
export const noOpCases: readonly ConformanceCase[] = [
  ...ZEROS.flatMap(([op, changes]) =>
    changes.map((change): ConformanceCase => ({
      id: `fixed/no-op/${op} ${describe(change)}`,
      op,
      params: {},
      needs: needsOf({ op }),
      about: behaviour(`Calls ${op} with null pointers and nothing to do.`, 'The call is accepted.'),
      run: async ({ backend }) => {
        callOp(backend, op, { ...withNullPointers(sampleOf(op)), ...change });
        await backend.synchronize();
      },
    })),
  ),
  {
    id: 'fixed/no-op/copies of nothing',
    op: 'memory',
    params: {},
    about: behaviour('Copies and fills no bytes at null pointers.', 'Every call is accepted.'),
    run: async ({ backend }) => {
      backend.copyHtod(NULL_PTR, new Float32Array());
      await backend.copyDtoh(new Float32Array(), NULL_PTR);
      backend.copyDtod(NULL_PTR, NULL_PTR, 0);
      backend.fill(NULL_PTR, 0, 0);
    },
  },
  {
    id: 'fixed/no-op/synchronize with nothing queued',
    op: 'memory',
    params: {},
    about: behaviour('Waits where there is nothing to wait for.', 'The promise resolves.'),
    run: ({ backend }) => backend.synchronize(),
  },
];
