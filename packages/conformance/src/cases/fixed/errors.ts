import { type ComputeBackend, NULL_PTR } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import type { CaseContext, CaseSubject, ConformanceCase, Needs } from '../../harness/case.ts';
import { expectThrows } from '../../harness/expect-error.ts';
import { callOp, needsOf, SAMPLE_CALLS, sampleOf, withNullPointers } from '../../harness/sample-calls.ts';
import { behaviour } from '../../harness/case-text.ts';

type Change = Readonly<Record<string, unknown>>;

/** The error of an attention without queries, keys or columns. */
function sizesOfAttention(change: Readonly<Record<string, number>>): string {
  const { seqQ, seqKv, headDim } = { ...sampleOf('attention').shape, ...change } as Record<string, unknown>;
  return `seqQ, seqKv and headDim must all be > 0, got ${String(seqQ)}, ${String(seqKv)} and ${String(headDim)}`;
}

/** Wrong calls with null pointers, and the detail that must come before any check of a pointer. */
const REFUSED: readonly (readonly [DefinedOp, id: string, Change, detail: string])[] = [
  ['reduce', 'shape []', { shape: [], axis: 0 }, 'shape must not be empty'],
  ['reduce', 'axis 5', { shape: [4, 4], axis: 5 }, 'axis 5 is out of bounds for shape of length 2'],
  ['reduce', 'axis -1', { shape: [4, 4], axis: -1 }, 'axis -1 is out of bounds for shape of length 2'],
  ...['seqQ', 'seqKv', 'headDim'].map(
    (name) => ['attention', `${name} 0`, { [name]: 0 }, sizesOfAttention({ [name]: 0 })] as const,
  ),
  ['attention', 'batch 0 and seqQ 0', { batch: 0, seqQ: 0 }, sizesOfAttention({ seqQ: 0 })],
  ...[0, -1, Infinity, Number.NaN].map(
    (scale) =>
      ['attention', `scale ${scale}`, { scale }, `scale must be a positive finite number, got ${scale}`] as const,
  ),
  [
    'conv2dForward',
    'inputShape of 3',
    { inputShape: [1, 3, 32] },
    'inputShape must have 4 elements [n, c, h, w], got 3',
  ],
  [
    'conv2dForward',
    'filterShape of 3',
    { filterShape: [16, 3, 3] },
    'filterShape must have 4 elements [k, c / groups, r, s], got 3',
  ],
  [
    'conv2dForward',
    'outputShape of 3',
    { outputShape: [1, 3, 2] },
    'outputShape must have 4 elements [n, k, p, q], got 3',
  ],
  ['conv2dForward', 'stride of 1', { stride: [1] }, 'stride must have 2 elements [h, w], got 1'],
  [
    'conv2dForward',
    'padding of 1',
    { padding: [0] },
    'padding must have 2 elements [h, w] or 4 [top, left, bottom, right], got 1',
  ],
];

function errorCase(
  id: string,
  op: CaseSubject,
  check: (backend: ComputeBackend) => void,
  needs?: Needs,
): ConformanceCase {
  const about = behaviour(`Makes a wrong call: ${id}.`, 'It throws INVALID_ARGUMENT with exactly the stated detail.');
  const common = {
    id: `fixed/error/${id}`,
    op,
    params: {},
    about,
    run: async ({ backend }: CaseContext) => check(backend),
  };
  return needs === undefined ? common : { ...common, needs };
}

/** Errors with their exact details. */
export const fixedErrorCases: readonly ConformanceCase[] = [
  errorCase('alloc(0)', 'memory', (backend) =>
    expectThrows('alloc(0)', { code: 'INVALID_ARGUMENT', detail: 'cannot allocate 0 bytes' }, () => backend.alloc(0)),
  ),
  ...REFUSED.map(([op, id, change, detail]) =>
    errorCase(`${op} ${id}`, op, (backend) => {
      const call = { ...withNullPointers(sampleOf(op)), ...change };
      expectThrows(op, { code: 'INVALID_ARGUMENT', detail }, () => callOp(backend, op, call));
    }),
  ),
  ...SAMPLE_CALLS.map((sample) =>
    errorCase(
      `${sample.op} with null pointers`,
      sample.op,
      (backend) =>
        expectThrows(sample.op, { code: 'INVALID_ARGUMENT', detail: 'unknown handle 0' }, () =>
          callOp(backend, sample.op, withNullPointers(sample)),
        ),
      needsOf(sample),
    ),
  ),
  errorCase('alloc(128), free, free', 'memory', (backend) => {
    const ptr = backend.alloc(128);
    if (!(ptr > NULL_PTR)) throw new Error(`alloc gave ${ptr}`);
    backend.free(ptr);
    const detail = `unknown handle ${ptr}, already freed`;
    expectThrows('second free', { code: 'INVALID_ARGUMENT', detail }, () => backend.free(ptr));
  }),
];
