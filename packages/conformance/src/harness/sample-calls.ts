import { type ComputeBackend, type DevicePtr, NULL_PTR, type OpName } from '@concord/backend-core';
import type { Needs } from './case.ts';

/** A small valid call of each op on the pointers that it is given, and how many bytes each operand has. */
export interface SampleCall {
  readonly op: OpName;
  /** Operand name and size in bytes, the output last. */
  readonly operands: readonly (readonly [name: string, bytes: number])[];
  /** The call without its pointers. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** Names of the fields that are sizes. */
  readonly sizes: readonly string[];
  /** Names of the fields that take one of a list of words. */
  readonly words: readonly string[];
}

const PRODUCT = { m: 3, n: 4, k: 5 };

/** One valid call per op. */
export const SAMPLE_CALLS: readonly SampleCall[] = [
  {
    op: 'gemm',
    shape: PRODUCT,
    operands: [
      ['a', 60],
      ['b', 80],
      ['c', 48],
    ],
    sizes: ['m', 'n', 'k', 'lda', 'ldb', 'ldc'],
    words: ['transA', 'transB', 'dtype'],
  },
  {
    op: 'batchedGemm',
    shape: { ...PRODUCT, batchCount: 2, strideA: 15, strideB: 20, strideC: 12 },
    operands: [
      ['a', 120],
      ['b', 160],
      ['c', 96],
    ],
    sizes: ['m', 'n', 'k', 'batchCount', 'strideA', 'strideB', 'strideC', 'ldc'],
    words: ['transA', 'transB', 'dtype'],
  },
  {
    op: 'gemmF16',
    shape: PRODUCT,
    operands: [
      ['a', 30],
      ['b', 40],
      ['c', 24],
    ],
    sizes: ['m', 'n', 'k', 'lda'],
    words: ['transA', 'dtype'],
  },
  {
    op: 'conv2dForward',
    shape: {
      inputShape: [1, 2, 4, 4],
      filterShape: [3, 2, 3, 3],
      outputShape: [1, 3, 2, 2],
      stride: [1, 1],
      padding: [0, 0],
    },
    operands: [
      ['input', 128],
      ['filter', 216],
      ['output', 48],
    ],
    sizes: ['groups'],
    words: ['dtype'],
  },
  {
    op: 'attention',
    shape: { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 5, scale: 1 },
    operands: [
      ['q', 120],
      ['k', 160],
      ['v', 160],
      ['o', 120],
    ],
    sizes: ['batch', 'heads', 'seqQ', 'seqKv', 'headDim'],
    words: ['dtype'],
  },
  {
    op: 'reduce',
    shape: { op: 'sum', shape: [3, 4], axis: 1 },
    operands: [
      ['input', 48],
      ['output', 12],
    ],
    sizes: [],
    words: ['op', 'dtype'],
  },
  {
    op: 'unary',
    shape: { op: 'neg', n: 7 },
    operands: [
      ['input', 28],
      ['output', 28],
    ],
    sizes: ['n'],
    words: ['op', 'dtype'],
  },
  {
    op: 'binary',
    shape: { op: 'add', n: 7 },
    operands: [
      ['a', 28],
      ['b', 28],
      ['output', 28],
    ],
    sizes: ['n'],
    words: ['op', 'dtype'],
  },
];

/** The sample call of an op. */
export function sampleOf(op: OpName): SampleCall {
  const sample = SAMPLE_CALLS.find((candidate) => candidate.op === op);
  if (sample === undefined) throw new Error(`no sample call of ${op}`);
  return sample;
}

/** What a sample call needs of a backend. */
export function needsOf({ op }: Pick<SampleCall, 'op'>): Needs {
  return { op, dtype: op === 'gemmF16' ? 'f16' : 'f32' };
}

/** Calls an op with whatever is given: what a JavaScript program without types could do. */
export function callOp(backend: ComputeBackend, op: OpName, call: unknown): void {
  (backend[op] as (call: unknown) => void)(call);
}

/** The call with null pointers. */
export function withNullPointers({ shape, operands }: SampleCall): Record<string, unknown> {
  return { ...shape, ...Object.fromEntries(operands.map(([name]) => [name, NULL_PTR])) };
}

/** Allocates the operands of a sample call, runs `use` with the complete call, and frees them. */
export async function withOperands(
  backend: ComputeBackend,
  { shape, operands }: SampleCall,
  use: (call: Record<string, unknown>, pointers: Record<string, DevicePtr>) => Promise<void> | void,
): Promise<void> {
  const pointers: Record<string, DevicePtr> = {};
  try {
    for (const [name, bytes] of operands) {
      pointers[name] = backend.alloc(bytes);
      backend.fill(pointers[name], 0, bytes);
    }
    await use({ ...shape, ...pointers }, pointers);
  } finally {
    for (const pointer of Object.values(pointers)) backend.free(pointer);
  }
}
