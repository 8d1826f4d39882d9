import type { CheckedAttention } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, defineKernel, type Kernel } from '@concord/backend-core/kernel';

/** A `run` that writes the mask of an attention as float32, packed over the axes along which it varies. */
export interface MaskStep {
  /** Of the input `mask`. */
  readonly geometry: CheckedRun;
  /** Bytes that it writes. */
  readonly bytes: number;
  /** The changes of the call whose mask that is. */
  readonly call: Pick<CheckedAttention, 'maskStrides' | 'maskDtype'>;
}

/** How to write the mask of a call as float32; undefined where it is, or where there is none. */
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
