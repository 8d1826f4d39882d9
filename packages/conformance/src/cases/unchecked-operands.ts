import { type ComputeBackend, type DevicePtr, NULL_PTR, offsetPtr, REDUCE_OPS } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import {
  attentionReference,
  batchedGemmReference,
  conv2dReference,
  gemmReference,
  reduceReference,
} from '@concord/backend-cpu/reference';
import { attentionBound, compareAll } from '../checks/compare.ts';
import { caseOf, type ConformanceCase } from '../harness/case.ts';
import { callOp, needsOf, sampleOf } from '../harness/planned-call.ts';
import { type Slot, Workspace } from '../harness/workspace.ts';
import { roundingTo } from '../run/placement.ts';

const PRODUCTS = ['gemm', 'batchedGemm', 'gemmF16'] as const;

/** @param called - the op, with its function where that is not the sample's, as `binary sub` */
function orderCase(
  called: DefinedOp | `${DefinedOp} ${string}`,
  what: string,
  run: ConformanceCase['run'],
): ConformanceCase {
  const [op, fn] = called.split(' ') as [DefinedOp, string?];
  const { shape, ...needs } = needsOf({ op });
  const whole = { ...shape, ...(fn === undefined ? {} : { op: fn }) };
  return caseOf(`${op}/order/${what}`, op, run, { ...needs, shape: whole });
}

/** `1, 2, ..., 7, 1, ...`: small integers, whose sums and products are exact, also in f16. */
const integers = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => (i % 7) + 1);

/** Products without A and B, as k = 0: whatever stands in their place, C is scaled. */
const emptyInputs: readonly ConformanceCase[] = PRODUCTS.flatMap((op) =>
  (
    [
      ['null A and B', () => ({ a: NULL_PTR, b: NULL_PTR })],
      ['misaligned A and B', (c: DevicePtr) => ({ a: offsetPtr(c, 1), b: offsetPtr(c, 3) })],
      ['A and B in C', (c: DevicePtr) => ({ a: c, b: c })],
    ] as const
  ).flatMap(([what, pointers]) =>
    [0, 2].map((beta) =>
      orderCase(op, `k 0, beta ${beta} with ${what}`, async ({ backend }) => {
        const { shape } = sampleOf(op);
        const before = integers(op === 'batchedGemm' ? 24 : 12);
        const workspace = new Workspace(backend);
        const c = workspace.inOut(before, needsOf({ op }).dtype);
        await workspace.run(() => callOp(backend, op, { ...shape, k: 0, beta, c: c.ptr, ...pointers(c.ptr) }));
        compareAll(
          'c',
          c.values(),
          before.map((x) => beta * x),
          { bound: () => 0, format: needsOf({ op }).dtype },
        );
      }),
    ),
  ),
);

/** An empty axis has no input: whatever stands in its place, the output is written. */
const emptyAxes: readonly ConformanceCase[] = REDUCE_OPS.flatMap((op) =>
  (
    [
      ['a null input', () => NULL_PTR],
      ['a misaligned input', (output: DevicePtr) => offsetPtr(output, 1)],
      ['its output as input', (output: DevicePtr) => output],
    ] as const
  ).map(([what, input]) =>
    orderCase(`reduce ${op}`, `${op} of an empty axis with ${what}`, async ({ backend }) => {
      const shape = { op, shape: [3, 0, 5], axis: 1 };
      const workspace = new Workspace(backend);
      const output = workspace.output(15);
      await workspace.run(() => backend.reduce({ ...shape, input: input(output.ptr), output: output.ptr }));
      compareAll('output', output.values(), reduceReference(shape, []).value, { bound: () => 0 });
    }),
  ),
);

/** Runs an op whose inputs are all in one operand of `length` small integers, and gives what it wrote. */
async function onOneInput(
  backend: ComputeBackend,
  op: DefinedOp,
  values: Float32Array,
  outputs: number,
  call: (input: DevicePtr, output: DevicePtr) => unknown,
): Promise<Float32Array> {
  const workspace = new Workspace(backend);
  const input: Slot = workspace.input(values, needsOf({ op }).dtype);
  const output = workspace.output(outputs, needsOf({ op }).dtype);
  await workspace.run(() => callOp(backend, op, call(input.ptr, output.ptr)));
  return output.values();
}

/** Inputs may overlap each other, exactly or in part. */
const sharedInputs: readonly ConformanceCase[] = [
  ...[0, 1].flatMap((shift) => {
    const where = shift === 0 ? 'is' : 'starts one element into';
    return [
      ...PRODUCTS.map((op) =>
        orderCase(op, `B ${where} A`, async ({ backend }) => {
          const size = { m: 4, n: 4, k: 4, transB: 'T' as const };
          const batch = { strideA: 16, strideB: 16, strideC: 16, batchCount: 2 };
          const shape = op === 'batchedGemm' ? { ...size, ...batch } : size;
          const count = op === 'batchedGemm' ? 32 : 16;
          const values = integers(count + shift);
          const elementBytes = op === 'gemmF16' ? 2 : 4;
          const got = await onOneInput(backend, op, values, count, (a, c) => ({
            ...shape,
            a,
            b: offsetPtr(a, shift * elementBytes),
            c,
          }));
          const other = values.subarray(shift);
          const { value } =
            op === 'batchedGemm'
              ? batchedGemmReference({ ...size, ...batch }, values, other)
              : gemmReference(size, values, other);
          const { dtype } = needsOf({ op });
          compareAll('c', got, value.map(roundingTo(dtype)), { bound: () => 0, format: dtype });
        }),
      ),
      orderCase('conv2dForward', `the filter ${where} the input`, async ({ backend }) => {
        const shape = {
          inputShape: [2, 2, 3, 3],
          filterShape: [2, 2, 3, 3],
          outputShape: [2, 2, 3, 3],
          stride: [1, 1],
          padding: [1, 1],
        } as const;
        const values = integers(36 + shift);
        const got = await onOneInput(backend, 'conv2dForward', values, 36, (input, output) => ({
          ...shape,
          input,
          filter: offsetPtr(input, shift * 4),
          output,
        }));
        const { value } = conv2dReference(shape, values, values.subarray(shift));
        compareAll('output', got, value, { bound: () => 0 });
      }),
      orderCase('attention', `V ${where} K`, async ({ backend }) => {
        const shape = { batch: 1, heads: 2, seqQ: 4, seqKv: 4, headDim: 5, scale: 0.125 };
        const values = integers(40 + shift);
        // Q too is in the same memory.
        const got = await onOneInput(backend, 'attention', values, 40, (k, o) => ({
          ...shape,
          q: k,
          k,
          v: offsetPtr(k, shift * 4),
          o,
        }));
        const { value, magnitude, scoreMagnitude, spread } = attentionReference(
          shape,
          values,
          values,
          values.subarray(shift),
        );
        compareAll('o', got, value, {
          bound: (i) =>
            attentionBound({
              headDim: 5,
              keys: 4,
              scoreMagnitude: scoreMagnitude[Math.floor(i / 5)] as number,
              magnitude: magnitude[i] as number,
              spread: spread[i] as number,
            }),
        });
      }),
      orderCase('binary sub', `b ${where} a`, async ({ backend }) => {
        const values = integers(33 + shift);
        const got = await onOneInput(backend, 'binary', values, 33, (a, output) => ({
          op: 'sub',
          n: 33,
          a,
          b: offsetPtr(a, shift * 4),
          output,
        }));
        const want = got.map((_, i) => (values[i] as number) - (values[i + shift] as number));
        compareAll('output', got, want, { bound: () => 0 });
      }),
    ];
  }),
  orderCase('binary mul', 'a, b and output are one', async ({ backend }) => {
    const values = integers(33);
    const workspace = new Workspace(backend);
    const all = workspace.inOut(values);
    await workspace.run(() => backend.binary({ op: 'mul', n: 33, a: all.ptr, b: all.ptr, output: all.ptr }));
    compareAll(
      'output',
      all.values(),
      values.map((x) => x * x),
      { bound: () => 0 },
    );
  }),
];

/** Operands that no check may refuse: those of zero extent, and inputs that overlap each other. */
export const uncheckedOperandsCases: readonly ConformanceCase[] = [...emptyInputs, ...emptyAxes, ...sharedInputs];
