import type { FloatDType } from '@concord/backend-core';
import { compareWithOracle } from '../cases/attention/checks.ts';
import { type AttentionParams, kvHeadsOf, maskStridesOf, shapeOf } from '../cases/attention/params.ts';
import { type Extent, lengthOf, saidStrides, startsOf, stridesOf } from '../cases/attention/placement.ts';
import { bytesOf } from '../run/storage.ts';
import { elementsAt, inOrder, plainValues } from './expected.ts';
import type { ProgramCall, ProgramOperand } from './program-call.ts';

/** The call of attention with these parameters, in each layout but `joined`. Its results are judged, and not known. */
export function planAttentionCall(given: AttentionParams): ProgramCall {
  const params: AttentionParams = { ...given, layout: given.layout === 'joined' ? 'padded' : given.layout };
  const { batch, heads, seqQ, seqKv, headDim, dtype, layout, mask } = params;
  const queries: Extent = [batch, heads, seqQ, headDim];
  const keys: Extent = [batch, kvHeadsOf(params), seqKv, headDim];
  const laid = (
    [
      ['q', queries],
      ['k', keys],
      ['v', keys],
      ['o', queries],
    ] as const
  ).map(([name, extent]) => {
    const strides = stridesOf(extent, layout, name);
    return { name, strides, elements: lengthOf(extent, strides), at: rowsAt(startsOf(extent, strides), headDim) };
  });
  const maskStrides = maskStridesOf(params);
  const sizes = [batch, heads, seqQ, seqKv];
  const maskElements = sizes.reduce((sum, size, axis) => sum + (size - 1) * (maskStrides[axis] as number), 1);
  const regions: number[] = [];
  const operand = (name: string, elements: number, own: FloatDType, writes?: Uint32Array): ProgramOperand => ({
    ...{ name, dtype: own, elements, region: regions.push(elements * bytesOf(own)) - 1, at: 0 },
    ...{ reads: writes === undefined, writes, data: 'unit' },
  });
  const operands = [
    ...laid.slice(0, 3).map(({ name, elements }) => operand(name, elements, dtype)),
    ...(mask === 'none' ? [] : [operand('mask', maskElements, 'f32')]),
    ...laid.slice(3).map(({ name, elements, at }) => operand(name, elements, dtype, at)),
  ];
  const shape = {
    ...shapeOf(params),
    ...(layout === 'packed'
      ? {}
      : { strides: saidStrides(layout, Object.fromEntries(laid.map(({ name, strides }) => [name, strides]))) }),
  };
  const masked = (ptr: unknown): object => (mask === 'none' ? {} : { mask: { ptr, strides: maskStrides } });
  return {
    op: 'attention',
    shape: mask === 'none' ? shape : { ...shape, mask: { strides: maskStrides } },
    regions,
    operands,
    argumentsOf: (ptrOf) => {
      const pointers = Object.fromEntries(operands.map(({ name }, index) => [name, ptrOf(index)]));
      return [{ ...shape, ...pointers, ...masked(pointers['mask']) }];
    },
    evaluate: (_, bytes) => {
      const values = bytes.map((own, index) => plainValues((operands[index] as ProgramOperand).dtype, own));
      if (values.some((own) => own === undefined || own.some((x) => Math.abs(x) > 100))) return undefined;
      const [q, k, v] = laid
        .slice(0, 3)
        .map(({ at }, index) =>
          Float32Array.from(at, (distance) => (values[index] as Float64Array)[distance] as number),
        ) as [Float32Array, Float32Array, Float32Array];
      const own = values[3] === undefined ? undefined : Float32Array.from(values[3]);
      const output = laid[3] as (typeof laid)[number];
      return [
        {
          bitsOf: () => undefined,
          judge: (after) =>
            compareWithOracle(params, Float32Array.from(elementsAt(dtype, after, output.at)), { q, k, v, mask: own }),
        },
      ];
    },
  };
}

/** The distances of the elements of rows, from where each begins. */
function rowsAt(starts: readonly number[], headDim: number): Uint32Array {
  const inRow = inOrder(headDim);
  return Uint32Array.from(starts.flatMap((start) => [...inRow].map((at) => start + at)));
}
