import { BINARY_OPS, type DevicePtr, isBackendError, offsetPtr, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allKernels } from '../src/kernels/families.ts';
import { conv2dShape } from '../../backend-cpu/test/op-memory.ts';
import { PlanningBackend } from './support/planning-backend.ts';
import { double, lookUp, softmax, sums } from './support/run-kernels.ts';
import { TEST_DEVICES } from './support/traits.ts';

// Random calls of every op, planned for devices of all kinds: no launch breaks a rule of WebGPU (the recorder throws),
// and every kernel is among those that `kernels-compile.test.ts` compiles, unless it was made for a graph.

/** A call without its pointers, and the names of those. */
interface Drawn {
  readonly op: 'gemm' | 'batchedGemm' | 'conv2dForward' | 'attention' | 'topK' | 'reduce' | 'unary' | 'binary' | 'run';
  /** Of a `run`; its operands are an input `x`, and perhaps a table, and an output `y`. */
  readonly kernel?: Kernel;
  readonly operands: readonly string[];
  readonly call: Readonly<Record<string, unknown>>;
  /** Which place each operand goes to. Default: the first to the first, and so on. */
  readonly places?: readonly number[];
}

const FLOATS = fc.constantFrom('f32' as const, 'f16' as const);

/** Sizes up to `most`, the small ones and the multiples of a tile as often as the others. */
function size(most: number): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: 1, max: Math.min(9, most) }),
    fc.integer({ min: 1, max: most }),
    fc.integer({ min: 1, max: Math.max(1, Math.floor(most / 64)) }).map((tiles) => Math.min(64 * tiles, most)),
  );
}

function drawProduct(most: number): fc.Arbitrary<Drawn> {
  const words = fc.constantFrom('N', 'T');
  const scalar = fc.constantFrom(0, 1, -2.5);
  const pad = fc.constantFrom(0, 0, 3);
  return fc
    .record({
      m: size(most),
      n: size(most),
      k: size(most),
      transA: words,
      transB: words,
      alpha: fc.constantFrom(1, 1, 1, 0, 2),
      beta: scalar,
      dtype: FLOATS,
      batchCount: fc.constantFrom(0, 0, 1, 3, 40),
      pads: fc.tuple(pad, pad, pad),
    })
    .map(({ batchCount, pads, ...call }) => {
      const lda = (call.transA === 'N' ? call.k : call.m) + pads[0];
      const ldb = (call.transB === 'N' ? call.n : call.k) + pads[1];
      const ldc = call.n + pads[2];
      const strideC = ldc * call.m;
      const shape = { ...call, lda, ldb, ldc };
      const operands = ['a', 'b', 'c'];
      if (batchCount === 0) return { op: 'gemm', operands, call: shape };
      const strides = { strideA: lda * Math.max(call.m, call.k), strideB: pads[1], strideC };
      return { op: 'batchedGemm', operands, call: { ...shape, ...strides, batchCount } };
    });
}

function drawConv2d(most: number): fc.Arbitrary<Drawn> {
  const few = fc.integer({ min: 1, max: 3 });
  return fc
    .record({
      n: few,
      channels: size(Math.min(most, 130)),
      filters: size(Math.min(most, 130)),
      height: size(Math.min(most, 70)),
      width: size(Math.min(most, 70)),
      r: few,
      s: few,
      groups: few,
      stride: fc.tuple(few, few),
      padding: fc.tuple(fc.nat(2), fc.nat(2)),
      dilation: fc.tuple(few, few),
      dtype: FLOATS,
    })
    .map(({ n, dtype, channels, filters, height, width, r, s, groups, stride, padding, dilation }) => {
      const call = conv2dShape({
        input: [n, channels * groups, height, width],
        filter: [filters * groups, r, s],
        ...{ stride, padding, dilation, groups },
      });
      return { op: 'conv2dForward' as const, operands: ['input', 'filter', 'output'], call: { ...call, dtype } };
    })
    .filter(({ call }) => call.outputShape.every((extent) => extent > 0));
}

function drawAttention(most: number): fc.Arbitrary<Drawn> {
  return fc
    .record({
      batch: fc.integer({ min: 1, max: 3 }),
      heads: fc.integer({ min: 1, max: 3 }),
      seqQ: size(most),
      seqKv: size(most),
      headDim: fc.oneof(
        size(Math.min(most, 256)),
        fc.constantFrom(32, 64, 128).filter((dim) => dim <= most),
      ),
      scale: fc.constant(0.125),
      causal: fc.boolean(),
      dtype: FLOATS,
      masked: fc.constantFrom('no', 'once', 'each'),
      window: fc.constantFrom(undefined, 1, 5, 20),
    })
    .map(({ masked, window, ...drawn }) => {
      const call = { ...drawn, ...(drawn.causal && window !== undefined ? { window } : {}) };
      const { heads, seqQ, seqKv } = call;
      const each = masked === 'each' ? [heads * seqQ * seqKv, seqQ * seqKv] : [0, 0];
      const mask = masked === 'no' ? {} : { mask: { strides: [...each, seqKv, 1] } };
      return { op: 'attention', operands: ['q', 'k', 'v', 'o'], call: { ...call, ...mask } };
    });
}

function drawTopK(most: number): fc.Arbitrary<Drawn> {
  // Of the smallest windows no part has room for more.
  const k = fc.integer({ min: 1, max: Math.min(256, 2 * most) });
  return fc
    .record({ rows: size(30), columns: fc.oneof(size(most), size(40 * most)), k, largest: fc.boolean() })
    .map(({ rows, columns, k: wanted, largest }) => {
      const call = { rows, columns, k: Math.min(wanted, columns), largest };
      return { op: 'topK', operands: ['input', 'values', 'indices'], call };
    });
}

function drawReduce(most: number): fc.Arbitrary<Drawn> {
  const extent = fc.oneof(size(most), fc.constant(0), size(40 * most));
  return fc
    .record({ op: fc.constantFrom(...REDUCE_OPS), shape: fc.tuple(size(30), extent, size(most)), axis: fc.nat(2) })
    .map((call) => ({ op: 'reduce', operands: ['input', 'output'], call }));
}

/** Also in place: the output may be one of the inputs, and those may be the same. */
function drawElementwise(most: number): fc.Arbitrary<Drawn> {
  const n = size(most ** 2);
  const unary = fc.record({ op: fc.constantFrom(...UNARY_OPS), n });
  const binary = fc.record({ op: fc.constantFrom(...BINARY_OPS), n });
  const place = fc.nat(2);
  return fc.oneof(
    fc
      .tuple(unary, fc.tuple(place, place))
      .map(([call, places]): Drawn => ({ op: 'unary', operands: ['input', 'output'], call, places })),
    fc
      .tuple(binary, fc.tuple(place, place, place))
      .map(([call, places]): Drawn => ({ op: 'binary', operands: ['a', 'b', 'output'], call, places })),
  );
}

/** Graphs of rows, of points and of tables, packed and transposed. */
function drawRun(most: number): fc.Arbitrary<Drawn> {
  const kernel = fc.constantFrom(softmax, sums, double, lookUp);
  return fc.record({ kernel, rows: size(most), columns: size(10 * most), isAcross: fc.boolean() }).map((drawn) => {
    const { rows, columns, isAcross } = drawn;
    const call = { shape: [rows, columns], ...(drawn.kernel.hasRows ? { folded: 1 } : {}) };
    const strides = isAcross ? [1, rows] : [columns, 1];
    const views =
      drawn.kernel === lookUp ? { at: { strides: [1, 0] }, table: { shape: [50, columns] } } : { x: { strides } };
    return { op: 'run', kernel: drawn.kernel, operands: [...Object.keys(views), 'y'], call: { ...call, views } };
  });
}

/** Bytes from one operand to the next. */
const ROOM = 2 ** 36;

/** The place of a mask. */
const MASK = 4;

/** Where the operands of a call go: all in one allocation, or each in its own. */
interface Places {
  readonly together: readonly DevicePtr[];
  readonly apart: readonly DevicePtr[];
}

function makePlaces(backend: PlanningBackend): Places {
  const shared = backend.alloc(5 * ROOM);
  const numbers = [0, 1, 2, 3, MASK];
  return {
    together: numbers.map((number) => offsetPtr(shared, number * ROOM)),
    apart: numbers.map(() => backend.alloc(ROOM)),
  };
}

/**
 * Makes the call, its operands `offset` elements further into their places each; whether the device has room for it.
 */
function makeCall(backend: PlanningBackend, drawn: Drawn, places: readonly DevicePtr[], offset: number): boolean {
  const { op, operands, call } = drawn;
  const elementBytes = call['dtype'] === 'f16' ? 2 : 4;
  const pointers = operands.map((name, index) => {
    const number = drawn.places?.[index] ?? index;
    return [name, offsetPtr(places[number] as DevicePtr, number * offset * elementBytes)];
  });
  try {
    if (drawn.kernel === undefined) {
      const method = backend[op].bind(backend) as (args: unknown) => void;
      const mask = call['mask'] === undefined ? {} : { mask: { ...call['mask'], ptr: places[MASK] } };
      method({ ...call, ...mask, ...Object.fromEntries(pointers) });
    } else {
      const { views, ...domain } = call as {
        readonly views: Readonly<Record<string, object>>;
        readonly shape: number[];
      };
      const operand = ([name, ptr]: readonly unknown[]): [string, object] => [
        name as string,
        { ptr, ...views[name as string] },
      ];
      const inputs = Object.fromEntries(pointers.slice(0, -1).map(operand));
      const outputs = Object.fromEntries(pointers.slice(-1).map(operand));
      backend.run(drawn.kernel, { ...domain, inputs, outputs } as Parameters<typeof backend.run>[1]);
    }
    return true;
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) return false;
    throw error;
  }
}

const { tiny, ...real } = TEST_DEVICES;
const cases = [
  ...Object.entries(real).map(([name, traits]) => ({ name, traits, most: 700 })),
  { name: 'windows of 64 KiB', traits: { ...tiny, maxBindingBytes: 65_536 }, most: 200 },
  { name: 'windows of 1 KiB', traits: tiny, most: 40 },
];

/** The queries behind the first ones see more keys than those: a wider piece of the mask. */
const laterQueries: Drawn = {
  op: 'attention',
  operands: ['q', 'k', 'v', 'o'],
  call: {
    ...{ batch: 1, heads: 1, seqQ: 40, seqKv: 30, headDim: 1, scale: 0.125, causal: true, dtype: 'f32' },
    mask: { strides: [0, 0, 30, 1] },
  },
};

it.each(cases)('plans for $name', async ({ traits, most }) => {
  const backend = new PlanningBackend({ ...traits, maxBufferBytes: 2 ** 41 });
  await backend.init();
  const places = makePlaces(backend);
  const compiled = new Set(allKernels(traits).map(({ code }) => code));
  const calls = [drawProduct, drawConv2d, drawAttention, drawTopK, drawReduce, drawElementwise, drawRun].map((draw) =>
    draw(most),
  );
  let refused = 0;
  fc.assert(
    fc.property(
      fc.oneof(...calls),
      fc.constantFrom('together' as const, 'apart' as const),
      fc.constantFrom(0, 1, 2, 4),
      (drawn, place, offset) => {
        if (!makeCall(backend, drawn, places[place], offset)) refused++;
        else {
          for (const { kernel } of backend.recorder.launches) {
            if (!/^(?:map|rows) /.test(kernel.name)) expect(compiled.has(kernel.code), kernel.name).toBe(true);
          }
        }
      },
    ),
    {
      examples: [[laterQueries, 'together', 0]],
      // In small windows a long axis makes thousands of launches.
      numRuns: most < 100 ? 100 : most < 700 ? 300 : 1000,
    },
  );
  if (most === 700) expect(refused).toBe(0);
  await backend.dispose();
});
