import { madeOnce } from '../made-once.ts';
import {
  BYTES_OF,
  type CheckedAttention,
  type CheckedBlocks,
  type CheckedGemm,
  type Feature,
} from '@concord/backend-core/implement';
import {
  type CheckedRun,
  checkedRun,
  defineKernel,
  type Kernel,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { WEIGHT_BITS, type WeightDType } from '@concord/backend-core';

/** Every type of B, as a feature of the kernel `gemm`: for backends that decode what they cannot read. */
export const WEIGHT_FEATURES: readonly Feature<'gemm'>[] = (Object.keys(WEIGHT_BITS) as WeightDType[]).map(
  (dtype) => `dtypeB ${dtype}` as const,
);

/** A `run` that writes B in the dtype of A and C, float32 where that is bf16, for a product that reads that. */
export interface DecodeStep {
  readonly geometry: CheckedRun;
  /** Names of the call's operands, in the order of the kernel's inputs. */
  readonly inputs: readonly ('b' | 'quantB.scales' | 'quantB.zeros' | 'quantB.offsets')[];
  /** Bytes that it writes. */
  readonly bytes: number;
  /** The changes of the call whose B that is. */
  readonly call: Pick<CheckedGemm, 'dtypeB' | 'quantB' | 'ldb' | 'strideB'>;
}

/** Rows begin at multiples of this many elements, for vectors. */
const ROW_MULTIPLE = 8;

/** The facts about a product that tell how its B is decoded. */
export type StoredB = Pick<
  CheckedGemm,
  'n' | 'k' | 'transB' | 'batchCount' | 'dtype' | 'dtypeB' | 'quantB' | 'ldb' | 'strideB'
>;

/** Returns the step that decodes a B of a different type; rows that lie side by side stay so. */
export function decodeStep(call: StoredB): DecodeStep {
  const { n, k, transB, batchCount, dtypeB = call.dtype, quantB, strideB } = call;
  // Decoded weights have more bits than bf16 keeps.
  const dtype = call.dtype === 'bf16' ? 'f32' : call.dtype;
  const [rows, columns] = transB ? [n, k] : [k, n];
  const batches = strideB === 0 ? 1 : batchCount;
  const ldb = Math.ceil(columns / ROW_MULTIPLE) * ROW_MULTIPLE;
  const own = batches === 1 ? 0 : rows * ldb;
  const isNibble = WEIGHT_BITS[dtypeB] === 4;
  const divided = isNibble ? 2 : 1;
  // The second half of the last byte may be of no element: it goes where a row is padded.
  const pair = isNibble ? [Math.ceil(columns / 2), 2] : [columns];
  const stored = { strides: [strideB / divided, call.ldb / divided, 1], dtype: isNibble ? 'u8' : dtypeB };
  const views: Record<string, object> = {
    b: isNibble ? { ...stored, strides: [...stored.strides, 0] } : stored,
  };
  for (const name of ['scales', 'zeros', 'offsets'] as const) {
    const blocks = quantB?.[name];
    if (blocks !== undefined) views[name] = blocksView(blocks, [batches, n, quantB?.blocks as number]);
  }
  const kernel = quantB === undefined ? cast : dequantizing(call);
  const geometry = checkedRun(kernel, {
    shape: [batches, rows, ...pair],
    inputs: views,
    outputs: { y: { strides: [own, ldb, ...(isNibble ? [2, 1] : [1])], dtype } },
  });
  return {
    geometry,
    inputs: kernel.inputs.map(({ name }) => (name === 'b' ? 'b' : `quantB.${name}`) as DecodeStep['inputs'][number]),
    bytes: batches * rows * ldb * BYTES_OF[dtype],
    call: { dtypeB: dtype === call.dtype ? undefined : dtype, quantB: undefined, ldb, strideB: own },
  };
}

const cast: Kernel = defineKernel('decode', { inputs: { b: 'f32' } }, ({ b }) => ({ y: b }));

/** Numbers of blocks by batch, row and block; of 4 bits by the byte that they are in. */
function blocksView({ dtype, strides }: CheckedBlocks, shape: readonly [number, number, number]): object {
  const [batch, row, block] = strides;
  if (WEIGHT_BITS[dtype] !== 4) return { shape, strides, dtype };
  const bytes = Math.floor(((shape[2] - 1) * block) / 2) + 1;
  return { shape: [shape[0], shape[1], bytes], strides: [Math.floor(batch / 2), Math.floor(row / 2), 1], dtype: 'u8' };
}

type Gathered = { readonly type: NumberType; readonly access: 'gather'; readonly rank: 3 };

const kernels = new Map<string, Kernel>();

/** The kernel for a type of integers, a length of blocks and what is known of them: the same one each time. */
function dequantizing({ dtype, dtypeB = dtype, quantB }: StoredB): Kernel {
  const { block, zero, zeros, offsets } = quantB as NonNullable<CheckedGemm['quantB']>;
  const step = zeros?.strides[2] ?? 0;
  const key = [dtypeB, block, zero, zeros?.dtype, step, offsets === undefined].join(' ');
  return madeOnce(kernels, key, () => define(dtypeB, block, zero, zeros?.dtype, step, offsets !== undefined));
}

function define(
  dtypeB: WeightDType,
  block: number,
  zero: number,
  zeros: WeightDType | undefined,
  step: number,
  hasOffsets: boolean,
): Kernel {
  const inputs: Record<string, NumberType | Gathered> = {
    b: valueType(dtypeB),
    scales: gathered('f32'),
    ...(zeros === undefined ? {} : { zeros: gathered(valueType(zeros)) }),
    ...(hasOffsets ? { offsets: gathered('f32') } : {}),
  };
  return defineKernel('decode', { inputs }, (symbols, k) => {
    const all = symbols as Record<string, never>;
    const [batch, row] = [k.index(0), k.index(1)];
    const isNibble = WEIGHT_BITS[dtypeB] === 4;
    const column = isNibble ? k.add(k.mul(k.index(2), 2), k.index(3)) : k.index(2);
    const group = k.div(column, block);
    const nibble = (byte: Value<'u32'>, half: Value<'u32'>, dtype: WeightDType): Value<'f32'> => {
      const bits = k.and(k.shr(byte, k.mul(half, 4)), 15);
      return k.toF32(dtype === 'i4' ? k.sub(k.toI32(k.xor(bits, 8)), 8) : bits);
    };
    const float = (name: string): Value<'f32'> => k.gather(all[name] as never, [batch, row, group] as never, 0);
    const integer = (): Value<'f32'> => {
      if (zeros === 'f32' || zeros === 'f16') return float('zeros');
      if (zeros === undefined) return k.f32(zero);
      if (WEIGHT_BITS[zeros] !== 4) return k.toF32(float('zeros') as never);
      const at = k.mul(group, step);
      const byte = k.gather(all['zeros'] as never, [batch, row, k.shr(at, 1)] as never, 0);
      return nibble(byte as never, k.and(at, 1), zeros);
    };
    const q = isNibble ? nibble(all['b'] as never, k.index(3), dtypeB) : k.toF32(all['b'] as never);
    if (hasOffsets) return { y: k.add(k.mul(q, float('scales')), float('offsets')) };
    return { y: k.mul(zeros === undefined && zero === 0 ? q : k.sub(q, integer()), float('scales')) };
  }) as Kernel;
}

function valueType(dtype: WeightDType): NumberType {
  if (dtype === 'f32' || dtype === 'f16' || dtype === 'bf16') return 'f32';
  return dtype === 'i8' ? 'i32' : 'u32';
}

const gathered = (type: NumberType): Gathered => ({ type, access: 'gather', rank: 3 });

/** A `run` that writes the mask of an attention as float32, packed over the axes along which it varies. */
export interface MaskStep {
  /** The geometry of the input `mask`. */
  readonly geometry: CheckedRun;
  /** Bytes that it writes. */
  readonly bytes: number;
  /** The changes of the call whose mask that is. */
  readonly call: Pick<CheckedAttention, 'maskStrides' | 'maskDtype'>;
}

/** Returns the step that writes the mask of a call as float32; undefined if it is, or if there is none. */
export function maskStep(call: CheckedAttention): MaskStep | undefined {
  const { batch, heads, seqQ, seqKv, maskStrides, maskDtype } = call;
  if (maskStrides === undefined || maskDtype === 'f32') return undefined;
  const shape = [batch, heads, seqQ, seqKv].map((size, axis) => (maskStrides[axis] === 0 ? 1 : size));
  const elements = shape.reduce((product, size) => product * size, 1);
  const packed = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
  const geometry = checkedRun(maskDtype === 'u8' ? ofBytes : ofFloats, {
    shape,
    inputs: { mask: { strides: maskStrides, dtype: maskDtype } },
    outputs: { added: { strides: packed, dtype: 'f32' } },
  });
  const strides = packed.map((stride, axis) => (maskStrides[axis] === 0 ? 0 : stride));
  return { geometry, bytes: 4 * elements, call: { maskStrides: strides, maskDtype: 'f32' } };
}

const ofFloats: Kernel = defineKernel('mask', { inputs: { mask: 'f32' } }, ({ mask }) => ({ added: mask }));
const ofBytes: Kernel = defineKernel('mask', { inputs: { mask: 'u32' } }, ({ mask }, k) => ({
  added: k.select(k.eq(mask, 0), k.f32(-Infinity), k.f32(0)),
}));
