import { invalid } from '../../errors/invalid.ts';
import { type CheckedCall, checkBoolean, checkDType, checkFloat32, checkSize, packedExtent } from '../checks.ts';
import type { AttentionShape } from './attention.ts';

/** An attention with its defaults filled in. */
export interface CheckedAttention extends CheckedCall {
  readonly batch: number;
  readonly heads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  /** float32 */
  readonly scale: number;
  readonly causal: boolean;
}

/**
 * The rules of `attention`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkAttention(shape: AttentionShape): CheckedAttention | null {
  const { batch, heads, seqQ, seqKv, headDim } = shape;
  checkSize('batch', batch);
  checkSize('heads', heads);
  checkSize('seqQ', seqQ);
  checkSize('seqKv', seqKv);
  checkSize('headDim', headDim);
  const scale = checkFloat32('scale', shape.scale);
  const causal = checkBoolean('causal', shape.causal, false);
  const dtype = checkDType(shape.dtype);

  if (seqQ === 0 || seqKv === 0 || headDim === 0) throw invalid('seq_q, seq_kv, and head_dim must all be > 0');
  // Judged after rounding: a scale that float32 turns into 0 or Infinity is as useless as one given so.
  if (!(scale > 0 && scale < Infinity)) {
    throw invalid(`scale must be a positive finite number, got ${String(shape.scale)}`);
  }
  if (batch === 0 || heads === 0) return null;

  const query = packedExtent('q', [batch, heads, seqQ, headDim]);
  const key = packedExtent('k', [batch, heads, seqKv, headDim]);
  const operands = [
    { name: 'q', elements: query },
    { name: 'k', elements: key },
    { name: 'v', elements: key },
    { name: 'o', elements: query, output: true },
  ];
  return { batch, heads, seqQ, seqKv, headDim, scale, causal, dtype, operands };
}
