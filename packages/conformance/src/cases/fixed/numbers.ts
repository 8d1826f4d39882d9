import { download, type ReduceOp, upload } from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import { compareAll, ulpF32 } from '../../checks/compare.ts';
import { caseOf, type ConformanceCase, expectThat } from '../../harness/case.ts';
import { callOp } from '../../harness/planned-call.ts';
import { Workspace } from '../../harness/workspace.ts';

interface NumberCase {
  readonly op: DefinedOp;
  readonly shape: Readonly<Record<string, unknown>>;
  readonly inputs: Readonly<Record<string, readonly number[]>>;
  readonly output: string;
  /** Contents of the output before the call; poison where not given. */
  readonly before?: readonly number[];
  readonly want: readonly number[];
  /** ulp of the wanted value; 0 compares bits. */
  readonly ulps?: number;
  /** Absolute, instead of ulps. */
  readonly within?: number;
}

const IDENTITY = [1, 0, 0, 1];
const NINE = [1, 1, 1, 1, 1, 1, 1, 1, 1];
const ramp = (length: number, start = 0): number[] => Array.from({ length }, (_, i) => start + i);
const conv = (side: number, filter: number, pad: number) => {
  const out = side + 2 * pad - filter + 1;
  return {
    inputShape: [1, 1, side, side],
    filterShape: [1, 1, filter, filter],
    outputShape: [1, 1, out, out],
    stride: [1, 1],
    padding: [pad, pad],
  };
};
const ZEROS = [0, 0, 0, 0];

/** An attention of one head, within 4 ulp where nothing else is said. */
function attended(
  [seqQ, seqKv, headDim, causal = false]: readonly [number, number, number, boolean?],
  inputs: Inputs,
  want: Values,
  how: How = { ulps: 4 },
): NumberCase {
  return of('attention', { batch: 1, heads: 1, seqQ, seqKv, headDim, scale: 1, causal }, inputs, want, how);
}

type Values = readonly number[];
type Inputs = Readonly<Record<string, Values>>;
type How = Pick<NumberCase, 'before' | 'ulps' | 'within'>;

/** A number case; its output is the last operand of the op. */
const of = (op: DefinedOp, shape: NumberCase['shape'], inputs: Inputs, want: Values, how: How = {}): NumberCase => ({
  ...{ op, shape, inputs, want, output: OPS[op].output },
  ...how,
});

const NUMBERS: Readonly<Record<string, NumberCase>> = {
  'unary neg': of('unary', { op: 'neg', n: 4 }, { input: [1, -2, 3, 0] }, [-1, 2, -3, 0]),
  'unary abs': of('unary', { op: 'abs', n: 4 }, { input: [-3, 4, -5, 0] }, [3, 4, 5, 0]),
  'binary add': of('binary', { op: 'add', n: 4 }, { a: [1, 2, 3, 4], b: [10, 20, 30, 40] }, [11, 22, 33, 44]),
  'binary mul': of('binary', { op: 'mul', n: 4 }, { a: [2, 3, 4, 5], b: [10, 10, 10, 10] }, [20, 30, 40, 50]),
  'reduce sum': of('reduce', { op: 'sum', shape: [4], axis: 0 }, { input: [1, 2, 3, 4] }, [10]),
  'reduce max': of('reduce', { op: 'max', shape: [4], axis: 0 }, { input: [1, 5, 3, 2] }, [5]),
  'reduce mean': of('reduce', { op: 'mean', shape: [4], axis: 0 }, { input: [2, 4, 6, 8] }, [5], { ulps: 4 }),
  'gemm times I': of('gemm', { m: 2, n: 2, k: 2 }, { a: [1, 2, 3, 4], b: IDENTITY }, [1, 2, 3, 4]),
  'gemm 2x3 times 3x2': of('gemm', { m: 2, n: 2, k: 3 }, { a: ramp(6, 1), b: ramp(6, 7) }, [58, 64, 139, 154]),
  'gemm alpha 2 beta 3': of(
    'gemm',
    { m: 2, n: 2, k: 2, alpha: 2, beta: 3 },
    { a: IDENTITY, b: IDENTITY },
    [5, 3, 3, 5],
    { before: [1, 1, 1, 1] },
  ),
  'gemm k 0': of('gemm', { m: 2, n: 2, k: 0, beta: 3 }, { a: [0], b: [0] }, [3, 6, 9, 12], { before: [1, 2, 3, 4] }),
  'batchedGemm times I': of(
    'batchedGemm',
    { m: 2, n: 2, k: 2, strideA: 4, strideB: 4, strideC: 4, batchCount: 2 },
    { a: ramp(8, 1), b: [...IDENTITY, ...IDENTITY] },
    ramp(8, 1),
  ),
  'conv2d 1x1 filter': of(
    'conv2dForward',
    conv(3, 1, 0),
    { input: ramp(9), filter: [2] },
    ramp(9).map((x) => 2 * x),
  ),
  'conv2d 4x4 ramp, 3x3 ones': of('conv2dForward', conv(4, 3, 0), { input: ramp(16), filter: NINE }, [45, 54, 81, 90]),
  'conv2d 2x2, padding 1': of('conv2dForward', conv(2, 3, 1), { input: ramp(4, 1), filter: NINE }, [10, 10, 10, 10]),
  'conv2d 3x3, padding 1': of(
    'conv2dForward',
    conv(3, 3, 1),
    { input: ramp(9, 1), filter: NINE },
    [12, 21, 16, 27, 45, 33, 24, 39, 28],
  ),
  'attention equal keys': attended([1, 2, 2], { q: [1, 0], k: [1, 0, 1, 0], v: [1, 2, 3, 4] }, [2, 3]),
  'attention causal, headDim 1': attended([2, 2, 1, true], { q: [1, 1], k: [1, 1], v: [10, 20] }, [10, 15]),
  'attention zeros, causal': attended([2, 2, 2, true], { q: ZEROS, k: ZEROS, v: [1, 2, 3, 4] }, [1, 2, 2, 3]),
  'attention zeros': attended([2, 2, 2], { q: ZEROS, k: ZEROS, v: [1, 2, 3, 4] }, [2, 3, 2, 3]),
  'attention one key wins': attended([1, 2, 2], { q: [1, 0], k: [10, 0, 0, 0], v: [100, 200, 0, 0] }, [100, 200], {
    within: 0.1,
  }),
  'attention sharp softmax': attended(
    [1, 3, 2],
    { q: [10, 0], k: [10, 0, 0, 0, 0, 0], v: [1, 0, 0, 1, 0, 0] },
    [1, 0],
    {
      within: 0.01,
    },
  ),
  ...Object.fromEntries(
    Object.entries({ sum: 0, max: -Infinity, min: Infinity, mean: Number.NaN }).map(([op, value]) => [
      `reduce ${op} of an empty axis`,
      of('reduce', { op, shape: [2, 0], axis: 1 }, { input: [0] }, [value, value]),
    ]),
  ),
  ...rampCases(),
};

/** A 2x3x4 ramp 0..23 along each axis, all four ops, worked out by hand. */
function rampCases(): Record<string, NumberCase> {
  const byAxis: Readonly<Record<ReduceOp, readonly (readonly number[])[]>> = {
    sum: [
      [12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34],
      [12, 15, 18, 21, 48, 51, 54, 57],
      [6, 22, 38, 54, 70, 86],
    ],
    max: [
      [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23],
      [8, 9, 10, 11, 20, 21, 22, 23],
      [3, 7, 11, 15, 19, 23],
    ],
    min: [
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      [0, 1, 2, 3, 12, 13, 14, 15],
      [0, 4, 8, 12, 16, 20],
    ],
    mean: [
      [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
      [4, 5, 6, 7, 16, 17, 18, 19],
      [1.5, 5.5, 9.5, 13.5, 17.5, 21.5],
    ],
  };
  const ofAxes = ([op, axes]: readonly [string, readonly Values[]]): [string, NumberCase][] =>
    axes.map((want, axis) => [
      `reduce ${op} of a ramp, axis ${axis}`,
      of('reduce', { op, shape: [2, 3, 4], axis }, { input: ramp(24) }, want, op === 'mean' ? { ulps: 4 } : {}),
    ]);
  return Object.fromEntries(Object.entries(byAxis).flatMap(ofAxes));
}

/** Inputs and outputs as written down in BEHAVIOUR. */
export const fixedNumberCases: readonly ConformanceCase[] = [
  ...Object.entries(NUMBERS).map(([id, { op, shape, inputs, output, before, want, ulps = 0, within }]) => {
    const run: ConformanceCase['run'] = async ({ backend }) => {
      const workspace = new Workspace(backend);
      const slots = Object.entries(inputs).map(([name, values]) => [name, workspace.input(values)] as const);
      const result = before === undefined ? workspace.output(want.length) : workspace.inOut(before);
      await workspace.run(() => {
        const pointers = Object.fromEntries(slots.map(([name, slot]) => [name, slot.ptr]));
        callOp(backend, op, { ...shape, ...pointers, [output]: result.ptr });
      });
      compareAll(output, result.values(), want, { bound: (i) => within ?? ulps * ulpF32(want[i] as number) });
    };
    return caseOf(`fixed/number/${id}`, op, run, { op, dtype: 'f32', shape });
  }),
  caseOf('fixed/number/64 bytes up and down', 'memory', async ({ backend }) => {
    const sent = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) & 255);
    const ptr = backend.alloc(64);
    backend.copyHtod(ptr, sent);
    const received = new Uint8Array(64);
    await backend.copyDtoh(received, ptr);
    backend.free(ptr);
    expectThat(String(received) === String(sent), `got ${String(received)}`);
  }),
  caseOf('fixed/number/upload and download', 'memory', async ({ backend }) => {
    const ptr = upload(backend, [1, 2, 3, 4]);
    const half = upload(backend, [1, -2.5, 65504], { dtype: 'f16' });
    compareAll('f32', await download(backend, ptr, 4), [1, 2, 3, 4], { bound: () => 0 });
    compareAll('f16', await download(backend, half, 3, { dtype: 'f16' }), [1, -2.5, 65504], { bound: () => 0 });
    backend.free(ptr);
    backend.free(half);
  }),
];
