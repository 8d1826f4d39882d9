import { download, type ReduceOp, upload } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import { ulpF32 } from '../../checks/bounds.ts';
import { compareAll } from '../../checks/compare.ts';
import { type ConformanceCase, expectThat } from '../../harness/case.ts';
import { callOp } from '../../harness/sample-calls.ts';
import { Workspace } from '../../harness/workspace.ts';
import { behaviour, type CaseText, UNTOUCHED } from '../../harness/case-text.ts';

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
const attend = (seqQ: number, seqKv: number, headDim: number, causal = false) => ({
  batch: 1,
  heads: 1,
  seqQ,
  seqKv,
  headDim,
  scale: 1,
  causal,
});

const NUMBERS: Readonly<Record<string, NumberCase>> = {
  'unary neg': {
    op: 'unary',
    shape: { op: 'neg', n: 4 },
    inputs: { input: [1, -2, 3, 0] },
    output: 'output',
    want: [-1, 2, -3, 0],
  },
  'unary abs': {
    op: 'unary',
    shape: { op: 'abs', n: 4 },
    inputs: { input: [-3, 4, -5, 0] },
    output: 'output',
    want: [3, 4, 5, 0],
  },
  'binary add': {
    op: 'binary',
    shape: { op: 'add', n: 4 },
    inputs: { a: [1, 2, 3, 4], b: [10, 20, 30, 40] },
    output: 'output',
    want: [11, 22, 33, 44],
  },
  'binary mul': {
    op: 'binary',
    shape: { op: 'mul', n: 4 },
    inputs: { a: [2, 3, 4, 5], b: [10, 10, 10, 10] },
    output: 'output',
    want: [20, 30, 40, 50],
  },
  'reduce sum': {
    op: 'reduce',
    shape: { op: 'sum', shape: [4], axis: 0 },
    inputs: { input: [1, 2, 3, 4] },
    output: 'output',
    want: [10],
  },
  'reduce max': {
    op: 'reduce',
    shape: { op: 'max', shape: [4], axis: 0 },
    inputs: { input: [1, 5, 3, 2] },
    output: 'output',
    want: [5],
  },
  'reduce mean': {
    op: 'reduce',
    shape: { op: 'mean', shape: [4], axis: 0 },
    inputs: { input: [2, 4, 6, 8] },
    output: 'output',
    want: [5],
    ulps: 4,
  },
  'gemm times I': {
    op: 'gemm',
    shape: { m: 2, n: 2, k: 2 },
    inputs: { a: [1, 2, 3, 4], b: IDENTITY },
    output: 'c',
    want: [1, 2, 3, 4],
  },
  'gemm 2x3 times 3x2': {
    op: 'gemm',
    shape: { m: 2, n: 2, k: 3 },
    inputs: { a: ramp(6, 1), b: ramp(6, 7) },
    output: 'c',
    want: [58, 64, 139, 154],
  },
  'gemm alpha 2 beta 3': {
    op: 'gemm',
    shape: { m: 2, n: 2, k: 2, alpha: 2, beta: 3 },
    inputs: { a: IDENTITY, b: IDENTITY },
    output: 'c',
    before: [1, 1, 1, 1],
    want: [5, 3, 3, 5],
  },
  'gemm k 0': {
    op: 'gemm',
    shape: { m: 2, n: 2, k: 0, beta: 3 },
    inputs: { a: [0], b: [0] },
    output: 'c',
    before: [1, 2, 3, 4],
    want: [3, 6, 9, 12],
  },
  'batchedGemm times I': {
    op: 'batchedGemm',
    shape: { m: 2, n: 2, k: 2, strideA: 4, strideB: 4, strideC: 4, batchCount: 2 },
    inputs: { a: ramp(8, 1), b: [...IDENTITY, ...IDENTITY] },
    output: 'c',
    want: ramp(8, 1),
  },
  'conv2d 1x1 filter': {
    op: 'conv2dForward',
    shape: conv(3, 1, 0),
    inputs: { input: ramp(9), filter: [2] },
    output: 'output',
    want: ramp(9).map((x) => 2 * x),
  },
  'conv2d 4x4 ramp, 3x3 ones': {
    op: 'conv2dForward',
    shape: conv(4, 3, 0),
    inputs: { input: ramp(16), filter: NINE },
    output: 'output',
    want: [45, 54, 81, 90],
  },
  'conv2d 2x2, padding 1': {
    op: 'conv2dForward',
    shape: conv(2, 3, 1),
    inputs: { input: [1, 2, 3, 4], filter: NINE },
    output: 'output',
    want: [10, 10, 10, 10],
  },
  'conv2d 3x3, padding 1': {
    op: 'conv2dForward',
    shape: conv(3, 3, 1),
    inputs: { input: ramp(9, 1), filter: NINE },
    output: 'output',
    want: [12, 21, 16, 27, 45, 33, 24, 39, 28],
  },
  'attention equal keys': {
    op: 'attention',
    shape: attend(1, 2, 2),
    inputs: { q: [1, 0], k: [1, 0, 1, 0], v: [1, 2, 3, 4] },
    output: 'o',
    want: [2, 3],
    ulps: 4,
  },
  'attention causal, headDim 1': {
    op: 'attention',
    shape: attend(2, 2, 1, true),
    inputs: { q: [1, 1], k: [1, 1], v: [10, 20] },
    output: 'o',
    want: [10, 15],
    ulps: 4,
  },
  'attention zeros, causal': {
    op: 'attention',
    shape: attend(2, 2, 2, true),
    inputs: { q: [0, 0, 0, 0], k: [0, 0, 0, 0], v: [1, 2, 3, 4] },
    output: 'o',
    want: [1, 2, 2, 3],
    ulps: 4,
  },
  'attention zeros': {
    op: 'attention',
    shape: attend(2, 2, 2),
    inputs: { q: [0, 0, 0, 0], k: [0, 0, 0, 0], v: [1, 2, 3, 4] },
    output: 'o',
    want: [2, 3, 2, 3],
    ulps: 4,
  },
  'attention one key wins': {
    op: 'attention',
    shape: attend(1, 2, 2),
    inputs: { q: [1, 0], k: [10, 0, 0, 0], v: [100, 200, 0, 0] },
    output: 'o',
    want: [100, 200],
    within: 0.1,
  },
  'attention sharp softmax': {
    op: 'attention',
    shape: attend(1, 3, 2),
    inputs: { q: [10, 0], k: [10, 0, 0, 0, 0, 0], v: [1, 0, 0, 1, 0, 0] },
    output: 'o',
    want: [1, 0],
    within: 0.01,
  },
  ...Object.fromEntries(
    (
      [
        ['sum', [0]],
        ['max', [-Infinity]],
        ['min', [Infinity]],
        ['mean', [Number.NaN]],
      ] as const
    ).map(([op, [value]]) => [
      `reduce ${op} of an empty axis`,
      {
        op: 'reduce',
        shape: { op, shape: [2, 0], axis: 1 },
        inputs: { input: [0] },
        output: 'output',
        want: [value, value],
      },
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
  const cases: Record<string, NumberCase> = {};
  for (const [op, axes] of Object.entries(byAxis)) {
    for (const [axis, want] of axes.entries()) {
      cases[`reduce ${op} of a ramp, axis ${axis}`] = {
        op: 'reduce',
        shape: { op, shape: [2, 3, 4], axis },
        inputs: { input: ramp(24) },
        output: 'output',
        want,
        ...(op === 'mean' ? { ulps: 4 } : {}),
      };
    }
  }
  return cases;
}

/** Inputs and outputs as written down in BEHAVIOUR. */
export const fixedNumberCases: readonly ConformanceCase[] = [
  ...Object.entries(NUMBERS).map(([id, { op, shape, inputs, output, before, want, ulps = 0, within }]) => ({
    id: `fixed/number/${id}`,
    op,
    params: {},
    needs: { op, dtype: 'f32' as const, shape: { ...shape } },
    about: (): CaseText => ({
      does: `Calls ${op} on numbers worked out by hand: ${id}.`,
      inputs: Object.entries(inputs)
        .map(([name, values]) => `${name} = [${values.join(', ')}]`)
        .concat(before === undefined ? [] : [`${output} before = [${before.join(', ')}]`])
        .join('; '),
      kind: 'fixed values',
      passes: `${output} is [${want.join(', ')}]. ${UNTOUCHED}`,
      ...(within === undefined && ulps === 0
        ? {}
        : { bound: { formula: within === undefined ? `${ulps} ulp` : String(within), where: {} } }),
    }),
    run: async ({ backend }: Parameters<ConformanceCase['run']>[0]) => {
      const workspace = new Workspace(backend);
      const slots = Object.entries(inputs).map(([name, values]) => [name, workspace.input(values)] as const);
      const result = before === undefined ? workspace.output(want.length) : workspace.inOut(before);
      await workspace.run(() => {
        const pointers = Object.fromEntries(slots.map(([name, slot]) => [name, slot.ptr]));
        callOp(backend, op, { ...shape, ...pointers, [output]: result.ptr });
      });
      compareAll(output, result.values(), want, { bound: (i) => within ?? ulps * ulpF32(want[i] as number) });
    },
  })),
  {
    id: 'fixed/number/64 bytes up and down',
    op: 'memory',
    params: {},
    about: behaviour('Sends 64 bytes to the device and back.', 'They come back unchanged.'),
    run: async ({ backend }) => {
      const sent = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) & 255);
      const ptr = backend.alloc(64);
      backend.copyHtod(ptr, sent);
      const received = new Uint8Array(64);
      await backend.copyDtoh(received, ptr);
      backend.free(ptr);
      expectThat(String(received) === String(sent), `got ${String(received)}`);
    },
  },
  {
    id: 'fixed/number/upload and download',
    op: 'memory',
    params: {},
    about: behaviour('Sends numbers up and down with the typed helpers, in f32 and f16.', 'They come back unchanged.'),
    run: async ({ backend }) => {
      const ptr = upload(backend, [1, 2, 3, 4]);
      const half = upload(backend, [1, -2.5, 65504], { dtype: 'f16' });
      compareAll('f32', await download(backend, ptr, 4), [1, 2, 3, 4], { bound: () => 0 });
      compareAll('f16', await download(backend, half, 3, { dtype: 'f16' }), [1, -2.5, 65504], { bound: () => 0 });
      backend.free(ptr);
      backend.free(half);
    },
  },
];
