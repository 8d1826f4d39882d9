import { type DevicePtr, NULL_PTR, offsetPtr } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import { caseOf, type ConformanceCase } from '../harness/case.ts';
import { expectUntouched, needsOf, outputOf, type Pointers, SAMPLE_CALLS, sampleOf } from '../harness/planned-call.ts';

type Change = Readonly<Record<string, unknown>>;
/** The fault or oddity of a call, given the pointers of the right one. */
type MakeChange = (pointers: Pointers) => Change;

const PRODUCTS = ['gemm', 'batchedGemm', 'gemmF16'] as const;
const NO_BATCH = { inputShape: [0, 2, 4, 4], outputShape: [0, 3, 2, 2] };

/** A pointer moved by bytes. */
const moved = (pointers: Pointers, name: string, bytes: number): DevicePtr =>
  offsetPtr(pointers[name] as DevicePtr, bytes);

function orderCase(op: DefinedOp, what: string, run: ConformanceCase['run']): ConformanceCase {
  return caseOf(`${op}/order/${what}`, op, run, needsOf({ op }));
}

const noOp = (op: DefinedOp, what: string, change: Change | MakeChange): ConformanceCase =>
  orderCase(op, what, ({ backend }) =>
    expectUntouched(backend, sampleOf(op), typeof change === 'function' ? change : () => change),
  );

const refused = (op: DefinedOp, what: string, detail: string | RegExp, change: Change | MakeChange): ConformanceCase =>
  orderCase(op, what, ({ backend }) =>
    expectUntouched(backend, sampleOf(op), typeof change === 'function' ? change : () => change, {
      code: 'INVALID_ARGUMENT',
      detail,
    }),
  );

/** A call with nothing to do is not checked any further. */
const zeroSizesFirst: readonly ConformanceCase[] = [
  ...PRODUCTS.flatMap((op) => [
    noOp(op, 'm 0 before a short lda', { m: 0, lda: 1 }),
    noOp(op, 'm 0 before a short ldb', { m: 0, ldb: 1 }),
    noOp(op, 'n 0 before a short lda', { n: 0, lda: 0 }),
    noOp(op, 'm 0 before an overflow', { m: 0, k: 2 ** 52, lda: 2 ** 52 }),
    noOp(op, 'm 0 before alignment', (pointers) => ({ m: 0, a: moved(pointers, 'a', 1), c: moved(pointers, 'c', 1) })),
    noOp(op, 'n 0 before an overlap', ({ c }) => ({ n: 0, a: c, b: c })),
    noOp(op, 'k 0 and a null output before a short ldc', { k: 0, ldc: 1, c: NULL_PTR }),
  ]),
  noOp('batchedGemm', 'batchCount 0 before a short strideC', { batchCount: 0, strideC: 0 }),
  noOp('batchedGemm', 'm 0 before a short strideC', { m: 0, strideC: 0, ldc: 0 }),
  noOp('conv2dForward', 'N 0 before shape relations', { ...NO_BATCH, outputShape: [7, 1, 9, 9], groups: 5 }),
  noOp('conv2dForward', 'N 0 before alignment', (pointers) => ({ ...NO_BATCH, output: moved(pointers, 'output', 1) })),
  noOp('conv2dForward', 'a null output and a 0 in outputShape', { output: NULL_PTR, outputShape: [1, 3, 0, 2] }),
  noOp('conv2dForward', 'a null output and no channels', { output: NULL_PTR, inputShape: [1, 0, 4, 4] }),
  noOp('conv2dForward', 'a null output and an empty filter', { output: NULL_PTR, filterShape: [3, 2, 0, 3] }),
  noOp('attention', 'batch 0 before a headDim beyond the limit', { batch: 0, headDim: 2 ** 40 }),
  noOp('attention', 'heads 0 before alignment', (pointers) => ({ heads: 0, o: moved(pointers, 'o', 1) })),
  noOp('reduce', 'no elements before alignment', (pointers) => ({
    shape: [0, 4],
    input: moved(pointers, 'input', 1),
    output: moved(pointers, 'output', 1),
  })),
  noOp('reduce', 'an empty axis and a null output before alignment', (pointers) => ({
    shape: [3, 0],
    input: moved(pointers, 'input', 1),
    output: NULL_PTR,
  })),
  noOp('unary', 'n 0 before alignment', (pointers) => ({ n: 0, output: moved(pointers, 'output', 1) })),
  noOp('binary', 'n 0 before alignment', (pointers) => ({ n: 0, output: moved(pointers, 'output', 1) })),
];

/** A zero size excuses no wrong type, and no call that has a fixed message; types come before fixed messages. */
const typesFirst: readonly ConformanceCase[] = [
  ...PRODUCTS.flatMap((op) => [
    refused(op, 'a type before m 0', /^k must be/, { m: 0, k: Number.NaN }),
    refused(op, 'a leading dimension that is no size before m 0', /^lda must be/, { m: 0, lda: -1 }),
    refused(op, 'a transpose before n 0', /^transA must be/, { n: 0, transA: 'X' }),
    refused(op, 'alpha before m 0', /^alpha must be/, { m: 0, alpha: '1' }),
    refused(op, 'a pointer that is none before m 0', /^a must be/, { m: 0, a: -8 }),
  ]),
  refused('batchedGemm', 'strideA before batchCount 0', /^strideA must be/, { batchCount: 0, strideA: 0.5 }),
  refused('conv2dForward', 'stride of 1 before N 0', 'stride must have 2 elements [h, w], got 1', {
    ...NO_BATCH,
    stride: [1],
  }),
  refused('conv2dForward', 'stride 0 before N 0', /^stride\[0\] must be/, { ...NO_BATCH, stride: [0, 1] }),
  refused('conv2dForward', 'groups 0 before N 0', /^groups must be/, { ...NO_BATCH, groups: 0 }),
  refused('conv2dForward', 'groups 0 before a list of 3', /^groups must be/, { inputShape: [1, 2, 4], groups: 0 }),
  refused('attention', 'a type before batch 0', /^scale must be/, { batch: 0, scale: '1' }),
  refused('attention', 'scale 0 before batch 0', 'scale must be a positive finite number, got 0', {
    batch: 0,
    scale: 0,
  }),
  refused('attention', 'a type before seqQ 0', /^causal must be/, { seqQ: 0, causal: 'no' }),
  refused('reduce', 'the op before no elements', /^op must be/, { shape: [0, 4], op: 'product' }),
  refused('reduce', 'the op before shape []', /^op must be/, { shape: [], op: 'product' }),
  refused('reduce', 'axis 5 before no elements', 'axis 5 is out of bounds for shape of length 2', {
    shape: [0, 4],
    axis: 5,
  }),
  refused('unary', 'the op before n 0', /^op must be/, { n: 0, op: 'cosine' }),
  refused('binary', 'the op before n 0', /^op must be/, { n: 0, op: 'modulo' }),
  refused('binary', 'a pointer that is none before n 0', /^b must be/, { n: 0, b: 0.5 }),
];

/** Zeros that do not make a call a no-op: of a call with a live output, and none at all. */
const noExcuse: readonly ConformanceCase[] = [
  refused('conv2dForward', 'a live output and a 0 in outputShape', /^outputShape must be/, {
    outputShape: [1, 3, 0, 2],
  }),
  refused('conv2dForward', 'a null output and no 0', 'unknown handle 0', { output: NULL_PTR }),
  ...PRODUCTS.flatMap((op) => [
    refused(op, 'k 0 with a short ldc', /^ldc must be at least/, { k: 0, ldc: 1 }),
    // A and B are not read, and checked all the same.
    ...['a', 'b'].flatMap((name) => [
      refused(op, `alpha 0 with ${name} out of bounds`, /out of bounds/, (pointers) => ({
        alpha: 0,
        beta: 2,
        [name]: moved(pointers, name, op === 'gemmF16' ? 2 : 4),
      })),
      refused(op, `alpha 0 with ${name} null`, 'unknown handle 0', { alpha: 0, beta: 2, [name]: NULL_PTR }),
      refused(op, `alpha 0, beta 1 with ${name} out of bounds`, /out of bounds/, (pointers) => ({
        alpha: 0,
        beta: 1,
        [name]: moved(pointers, name, op === 'gemmF16' ? 2 : 4),
      })),
    ]),
  ]),
];

/** The rest of the order: relations, alignment, handles and extents, overlap. */
const laterChecks: readonly ConformanceCase[] = [
  ...PRODUCTS.flatMap((op) => [
    refused(op, 'a leading dimension before alignment', /^ldb must be at least/, (pointers) => ({
      ldb: 3,
      a: moved(pointers, 'a', 1),
    })),
    refused(op, 'a leading dimension before a handle', /^ldc must be at least/, { ldc: 3, a: NULL_PTR }),
    refused(op, 'an overflow before alignment', /2\^53/, (pointers) => ({ lda: 2 ** 52, b: moved(pointers, 'b', 1) })),
    refused(op, 'a handle before an overlap', 'unknown handle 0', (pointers) => ({
      c: moved(pointers, 'a', op === 'gemmF16' ? 2 : 4),
      b: NULL_PTR,
    })),
    refused(op, 'an extent before an overlap', /^b is out of bounds/, (pointers) => ({
      c: moved(pointers, 'a', op === 'gemmF16' ? 2 : 4),
      b: moved(pointers, 'b', op === 'gemmF16' ? 2 : 4),
    })),
  ]),
  refused('batchedGemm', 'strideC before alignment', /^strideC must/, (pointers) => ({
    strideC: 11,
    a: moved(pointers, 'a', 1),
  })),
  refused('conv2dForward', 'the output shape before alignment', /^outputShape must be/, (pointers) => ({
    outputShape: [1, 3, 2, 3],
    input: moved(pointers, 'input', 1),
  })),
  refused('conv2dForward', 'a handle before an overlap', 'unknown handle 0', (pointers) => ({
    output: moved(pointers, 'input', 4),
    filter: NULL_PTR,
  })),
  refused('attention', 'a handle before an overlap', 'unknown handle 0', (pointers) => ({
    o: moved(pointers, 'k', 4),
    v: NULL_PTR,
  })),
  refused('reduce', 'an extent before an overlap', /^output is out of bounds/, (pointers) => ({
    output: moved(pointers, 'input', 40),
  })),
  refused('unary', 'an extent before an overlap', /^output is out of bounds/, (pointers) => ({
    output: moved(pointers, 'input', 4),
  })),
  refused('binary', 'a handle before an overlap', 'unknown handle 0', (pointers) => ({
    n: 6,
    output: moved(pointers, 'a', 4),
    b: NULL_PTR,
  })),
  ...SAMPLE_CALLS.flatMap((sample) => {
    const [first] = sample.operands[0] as readonly [string, number];
    const output = outputOf(sample);
    const elementBytes = sample.op === 'gemmF16' ? 2 : 4;
    return [
      refused(sample.op, 'alignment before a handle', new RegExp(`^${output} .*aligned`), (pointers) => ({
        [first]: NULL_PTR,
        [output]: moved(pointers, output, 1),
      })),
      refused(sample.op, 'alignment before an extent', new RegExp(`^${output} .*aligned`), (pointers) => ({
        [first]: moved(pointers, first, elementBytes),
        [output]: moved(pointers, output, 1),
      })),
    ];
  }),
];

/** Cases of the order of checks, in calls that fail several. */
export const orderOfChecksCases: readonly ConformanceCase[] = [
  ...zeroSizesFirst,
  ...typesFirst,
  ...noExcuse,
  ...laterChecks,
];
