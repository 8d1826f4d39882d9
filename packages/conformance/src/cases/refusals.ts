import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import { epilogueKernel } from '../checks/epilogue.ts';
import { caseOf, type ConformanceCase, initialized } from '../harness/case.ts';
import {
  callOp,
  type ExpectedError,
  expectThrows,
  expectUntouched,
  needsOf,
  outputOf,
  type Pointers,
  SAMPLE_CALLS,
  type SampleCall,
  sampleOf,
  withNullPointers,
} from '../harness/planned-call.ts';
import { define, kernelsOf } from '../run/kernel-table.ts';

/** The epilogue of a wrong call, and what the error's detail says. */
type Wrong = readonly [epilogue: (output: DevicePtr, extra: DevicePtr, rank: number) => unknown, detail: RegExp];

const ACC = { acc: 'f32' } as const;
const named = kernelsOf({
  'no acc': define({ inputs: { x: 'f32' } }, ({ x }) => ({ y: x })),
  'acc of integers': define({ inputs: { acc: 'i32' } }, ({ acc }) => ({ y: acc })),
  fold: define({ inputs: ACC }, ({ acc }, k) => ({ y: k.sub(acc, k.fold('mean', acc)) })),
  gather: define({ inputs: { ...ACC, table: { type: 'f32', access: 'gather', rank: 1 } } }, ({ acc, table }, k) => ({
    y: k.add(acc, k.gather(table, [k.index(-1)], 0)),
  })),
  'two outputs': define({ inputs: ACC }, ({ acc }, k) => ({ y: acc, z: k.neg(acc) })),
  'an output of integers': define({ inputs: ACC }, ({ acc }, k) => ({ y: k.toI32(acc) })),
  'in place': define({ inputs: { ...ACC, bias: 'f32' } }, ({ acc, bias }, k) => ({ bias: k.add(acc, bias) })),
  'four inputs': define({ inputs: { ...ACC, a: 'f32', b: 'f32', c: 'f32', d: 'f32' } }, ({ acc, a, b, c, d }, k) => ({
    y: k.add(k.add(k.add(k.add(acc, a), b), c), d),
  })),
  'an axis too many': define({ inputs: ACC }, ({ acc }, k) => ({ y: k.add(acc, k.toF32(k.index(4))) })),
});
const bias = (inputs: unknown): unknown => ({ kernel: epilogueKernel('bias'), inputs });

const WRONG: Readonly<Record<string, Wrong>> = {
  'an epilogue that is no object': [() => 7, /^epilogue must be/],
  'an epilogue without a kernel': [() => ({}), /kernel/],
  'an epilogue without acc': [() => ({ kernel: named('no acc') }), /acc/],
  'an epilogue with an integer acc': [() => ({ kernel: named('acc of integers') }), /acc/],
  'an epilogue that folds': [() => ({ kernel: named('fold') }), /must not fold/],
  'an epilogue that gathers': [(_, table) => ({ kernel: named('gather'), inputs: { table } }), /must not gather/],
  'an epilogue of two outputs': [() => ({ kernel: named('two outputs') }), /one output/],
  'an epilogue that gives integers': [() => ({ kernel: named('an output of integers') }), /type f32/],
  'an epilogue in the place of an input': [
    (_, bias) => ({ kernel: named('in place'), inputs: { bias } }),
    /must not store in the place/,
  ],
  'an epilogue of four inputs': [() => ({ kernel: named('four inputs') }), /at most 3 inputs/],
  'an epilogue with an axis too many': [() => ({ kernel: named('an axis too many') }), /axis/],
  'an input of the epilogue that is missing': [() => bias({}), /bias/],
  'an input of the epilogue that it does not have': [(_, extra) => bias({ bias: extra, other: extra }), /other/],
  'acc as an input of the epilogue': [(_, extra) => bias({ bias: extra, acc: extra }), /acc/],
  'too few strides of an input of the epilogue': [(_, ptr) => bias({ bias: { ptr, strides: [1] } }), /strides/],
  'an input of the epilogue out of bounds': [
    // Every sample call has more than one column; windows of 4,096 bytes can be bound everywhere.
    (_, ptr, rank) => bias({ bias: { ptr, strides: Array.from({ length: rank }, () => 64) } }),
    /out of bounds/,
  ],
  'a misaligned input of the epilogue': [(_, extra) => bias({ bias: extra + 1 }), /aligned/],
  'an input of the epilogue in the output': [
    (output, _, rank) => bias({ bias: { ptr: output, strides: Array.from({ length: rank }, () => 0), dtype: 'f16' } }),
    /overlaps/,
  ],
  'parameters of the epilogue that are missing': [() => ({ kernel: epilogueKernel('parameters') }), /params/],
  'a parameter of the epilogue out of range': [
    () => ({ kernel: epilogueKernel('parameters'), params: { factor: 1, least: 2 ** 31 } }),
    /least/,
  ],
};

async function expectRefused(backend: ComputeBackend, sample: SampleCall, [epilogue, detail]: Wrong): Promise<void> {
  const extra = backend.alloc(128);
  const rank = sample.op === 'conv2dForward' ? 4 : 3;
  try {
    await expectUntouched(
      backend,
      sample,
      (pointers) => ({ epilogue: epilogue(pointers[outputOf(sample)] as DevicePtr, extra, rank) }),
      { code: 'INVALID_ARGUMENT', detail },
    );
  } finally {
    backend.free(extra);
  }
}

/** Wrong epilogues of every op that takes them: refused before anything is touched. */
export const epilogueRefusalCases: readonly ConformanceCase[] = (
  ['gemm', 'batchedGemm', 'gemmF16', 'conv2dForward'] as const
).flatMap((op) => {
  const sample = sampleOf(op);
  const { dtype } = needsOf(sample);
  const needs = { op, dtype, shape: { ...sample.shape, epilogue: { kernel: epilogueKernel('copy') } } };
  return Object.entries(WRONG).map(([what, wrong]) =>
    caseOf(`${op}/refuses/${what}`, op, ({ backend }) => expectRefused(backend, sample, wrong), needs),
  );
});

const INVALID = { code: 'INVALID_ARGUMENT' } as const;
const BAD_SIZES: readonly unknown[] = [Number.NaN, Infinity, -1, 1.5, 2 ** 53, '4', null, 4n];
const BAD_WORDS: readonly unknown[] = ['', 'no such word', 7, {}];
const BAD_FLAGS: readonly unknown[] = ['true', 1, 0, {}];
const BAD_POINTERS: readonly unknown[] = [undefined, null, Number.NaN, -8, 0.5, '256', 2 ** 53];

type Run = ConformanceCase['run'];

function refusalCase(sample: SampleCall, what: string, run: Run): ConformanceCase {
  return caseOf(`${sample.op}/refuses/${what}`, sample.op, run, needsOf(sample));
}

function refusal(
  sample: SampleCall,
  what: string,
  expected: ExpectedError,
  change: (pointers: Pointers) => Record<string, unknown>,
): ConformanceCase {
  const run: Run = ({ backend }) => expectUntouched(backend, sample, change, expected);
  return refusalCase(sample, what, run);
}

/** One case per field, all wrong values in turn: which value fails is in the message. */
function badValues(sample: SampleCall, field: string, values: readonly unknown[]): ConformanceCase {
  return refusalCase(sample, `bad ${field}`, async ({ backend }) => {
    for (const value of values) await expectUntouched(backend, sample, () => ({ [field]: value }), INVALID);
    // Types come before pointers: the detail must not be about the null pointer.
    const detail = new RegExp(field.replace(/\[.*/, ''));
    for (const value of values) {
      expectThrows(`${field} = ${String(value)}`, { ...INVALID, detail }, () =>
        callOp(backend, sample.op, { ...withNullPointers(sample), [field]: value }),
      );
    }
  });
}

/** The shape fields that hold lists. */
const listsOf = (sample: SampleCall): string[] =>
  Object.entries(sample.shape)
    .filter(([, value]) => Array.isArray(value))
    .map(([name]) => name);

function ofOperand(sample: SampleCall, name: string, bytes: number): ConformanceCase[] {
  const output = outputOf(sample);
  const elementBytes = sample.op === 'gemmF16' ? 2 : 4;
  const cases = [
    refusal(sample, `misaligned ${name}`, { ...INVALID, detail: /aligned/ }, (pointers) => ({
      [name]: offsetPtr(pointers[name] as DevicePtr, 1),
    })),
    refusal(sample, `${name} out of bounds`, { ...INVALID, detail: /out of bounds/ }, (pointers) => ({
      [name]: offsetPtr(pointers[name] as DevicePtr, elementBytes),
    })),
    refusal(sample, `${name} past the end`, { ...INVALID, detail: /^unknown handle \d+$/ }, (pointers) => ({
      [name]: offsetPtr(pointers[name] as DevicePtr, Math.ceil(bytes / 4) * 4),
    })),
    refusalCase(sample, `freed ${name}`, async ({ backend }) => {
      const freed = backend.alloc(bytes);
      backend.free(freed);
      const detail = `unknown handle ${freed}, already freed`;
      await expectUntouched(backend, sample, () => ({ [name]: freed }), { ...INVALID, detail });
    }),
  ];
  if (name === output) return cases;
  return [
    ...cases,
    refusal(sample, `${output} one element into ${name}`, { ...INVALID, detail: /overlaps/ }, (pointers) => {
      // The output is moved into the input as far as it fits.
      const [, outputBytes] = sample.operands.at(-1) as readonly [string, number];
      return bytes > outputBytes
        ? { [output]: offsetPtr(pointers[name] as DevicePtr, elementBytes) }
        : {
            [name]: pointers[output],
            [output]: pointers[output],
            ...partlyOverlapping(sample, pointers, name, output),
          };
    }),
  ];
}

/** A change that puts both operands of one size into the output's memory, shifted by an element, with a smaller n. */
function partlyOverlapping(
  sample: SampleCall,
  pointers: Pointers,
  name: string,
  output: string,
): Record<string, unknown> {
  if (!('n' in sample.shape)) return {};
  return { n: 6, [name]: pointers[output], [output]: offsetPtr(pointers[output] as DevicePtr, 4) };
}

function ofLeadingDimensions(sample: SampleCall): ConformanceCase[] {
  if (!('m' in sample.shape)) return [];
  const cases = Object.entries({ lda: 4, ldb: 3, ldc: 3 }).map(([name, value]) =>
    refusal(sample, `short ${name}`, { ...INVALID, detail: new RegExp(`^${name} must be at least`) }, () => ({
      [name]: value,
    })),
  );
  cases.push(
    refusal(sample, 'short lda of a transposed A', { ...INVALID, detail: /^lda must be at least 3/ }, () => ({
      transA: 'T',
      lda: 2,
    })),
    refusal(sample, 'an overflowing extent', { ...INVALID, detail: /2\^53/ }, () => ({ lda: 2 ** 52 })),
  );
  if (sample.op === 'batchedGemm') {
    cases.push(
      refusal(sample, 'overlapping C of a batch', { ...INVALID, detail: /^strideC must keep/ }, () => ({
        strideC: 11,
      })),
    );
  }
  return cases;
}

const CONV = sampleOf('conv2dForward');
const TRANSPOSED = {
  ...{ transposed: true, filterShape: [2, 3, 3, 3], outputShape: [1, 3, 8, 12] },
  ...{ stride: [1, 3], dilation: [2, 1] },
};

const convCases: ConformanceCase[] = (
  [
    ['a wrong output shape', { outputShape: [1, 3, 2, 3] }, /^outputShape must be \[1, 3, 2, 2\]/],
    ['groups that do not divide', { groups: 3 }, /^groups 3 must divide/],
    ['a wrong number of filter channels', { filterShape: [3, 1, 3, 3] }, /^filterShape\[1\] must be 2/],
    ['a filter larger than the input', { filterShape: [3, 2, 5, 3] }, /exceeds the padded input/],
    ['no channels', { inputShape: [1, 0, 4, 4] }, /must not contain 0/],
    ['an empty filter', { filterShape: [3, 2, 0, 3] }, /must not contain 0/],
    ['stride 0', { stride: [0, 1] }, /^stride\[0\] must be a positive/],
    ['dilation 0', { dilation: [1, 0] }, /^dilation\[1\] must be a positive/],
    ['padding of 3', { padding: [1, 1, 1] }, /^padding must have 2 elements \[h, w\] or 4/],
    ['padding of 1', { padding: [1] }, /^padding must have 2 elements/],
    ['dilation of 1', { dilation: [1] }, /^dilation must have 2 elements/],
    ['groups 0', { groups: 0 }, /^groups must be a positive/],
    ['a truth that is none', { transposed: 1 }, /^transposed must be a boolean, got 1/],
    ['an output padding of 1', { outputPadding: [0] }, /^outputPadding must have 2 elements \[h, w\], got 1/],
    ['output padding of what is not transposed', { outputPadding: [0, 1] }, /^outputPadding\[1\] must be 0 unless/],
    [
      'output padding of a whole stride',
      { ...TRANSPOSED, outputPadding: [0, 3] },
      /^outputPadding\[1\] must be below 3/,
    ],
    [
      'output padding of a whole dilation',
      { ...TRANSPOSED, outputPadding: [2, 0] },
      /^outputPadding\[0\] must be below 2/,
    ],
    ['a transposed filter of other channels', { transposed: true }, /^filterShape\[0\] must be 2/],
    ['a wrong transposed output', { ...TRANSPOSED, outputShape: [1, 3, 4, 4] }, /^outputShape must be \[1, 3, 8, 12\]/],
    ['padding that leaves nothing', { ...TRANSPOSED, padding: [4, 0] }, /leaves nothing of the output's 8/],
  ] as const
).map(([what, change, detail]) => refusal(CONV, what, { ...INVALID, detail }, () => change));

/** Wrong calls of every op: refused with the right error before anything is touched. */
export const refusalCases: readonly ConformanceCase[] = [
  ...SAMPLE_CALLS.flatMap((sample) => [
    ...sample.sizes.map((field) =>
      badValues(sample, field, !(field in sample.shape) ? BAD_SIZES.filter((size) => size !== null) : BAD_SIZES),
    ),
    ...sample.words.map((field) => badValues(sample, field, BAD_WORDS)),
    ...sample.flags.map((field) => badValues(sample, field, BAD_FLAGS)),
    ...listsOf(sample).map((field) => badValues(sample, field, ['4x4', 7, [1, Number.NaN, 3, 4], [1, -1, 2, 2], {}])),
    ...sample.operands.map(([name]) => badValues(sample, name, BAD_POINTERS)),
    ...sample.operands.flatMap(([name, bytes]) => ofOperand(sample, name, bytes)),
    ...ofLeadingDimensions(sample),
    refusalCase(sample, 'no call object', async ({ backend }) => {
      for (const call of [undefined, null, 7, 'call']) {
        expectThrows(sample.op, INVALID, () => callOp(backend, sample.op, call));
      }
    }),
    refusalCase(sample, 'a pointer of another backend object', async ({ backend, create }) => {
      const other = await initialized({ create });
      const foreign = other.alloc(4096);
      const [name] = sample.operands[0] as readonly [string, number];
      const detail = `unknown handle ${foreign}, another backend's`;
      await expectUntouched(backend, sample, () => ({ [name]: foreign }), { ...INVALID, detail });
      other.free(foreign);
    }),
  ]),
  ...convCases,
];
