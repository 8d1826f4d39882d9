import type { AttentionCall, ComputeBackend, DType, TopKCall } from '@concord/backend-core';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { matmul, pack, reshape, run, scatterAdd, type Tensor, transpose, zeros } from '@concord/ops';
import { denseStrides, Kernels } from '@concord/ops/listen';
import { floatOf } from './products.ts';
import type { Entry, Tape } from './tape.ts';

type Float = Value<'f32'>;

/** The entry of an attention: its probabilities are computed again, which are in memory meanwhile. */
export function entryOfAttention(tape: Tape, backend: ComputeBackend, call: AttentionCall): Entry {
  const {
    batch,
    heads,
    kvHeads = heads,
    seqQ,
    seqKv,
    headDim,
    valueDim = headDim,
    dtype = 'f32',
    dtypeKv = dtype,
  } = call;
  type Head = readonly [number, number, number] | undefined;
  const head = (ptr: typeof call.q, shape: readonly number[], strides: Head, type: DType): Tensor =>
    tape.at(backend, ptr, shape, strides === undefined ? denseStrides(shape) : [...strides, 1], type);
  const { strides = {}, mask, lengths, starts, lse } = call;
  const scores = [batch, heads, seqQ, seqKv];
  const each = [batch, 1, 1, 1];
  const operands: Record<string, Tensor> = {
    q: head(call.q, [batch, heads, seqQ, headDim], strides.q, dtype),
    k: head(call.k, [batch, kvHeads, seqKv, headDim], strides.k, dtypeKv),
    v: head(call.v, [batch, kvHeads, seqKv, valueDim], strides.v, dtypeKv),
  };
  if (mask !== undefined) {
    operands['mask'] = tape.at(backend, mask.ptr, scores, mask.strides ?? denseStrides(scores), mask.dtype ?? 'f32');
  }
  if (lengths !== undefined)
    operands['lengths'] = tape.at(backend, lengths.ptr, each, [...(lengths.strides ?? [1]), 0, 0, 0], 'u32');
  if (starts !== undefined)
    operands['starts'] = tape.at(backend, starts.ptr, each, [...(starts.strides ?? [1]), 0, 0, 0], 'i32');
  const outputs = [head(call.o, [batch, heads, seqQ, valueDim], strides.o, dtype)];
  const rows = [batch, heads, seqQ];
  if (lse !== undefined) outputs.push(tape.at(backend, lse.ptr, rows, denseStrides(rows), 'f32'));
  const kept = Object.values(operands);
  if (!kept.some((operand) => tape.wants(operand))) {
    for (const operand of kept) operand.dispose();
    return { op: 'attention', outputs };
  }
  const backward = (gradients: readonly (Tensor | undefined)[]): void => passAttention(tape, operands, call, gradients);
  return { op: 'attention', outputs, kept, backward };
}

/** `dV = P^T dO`, `dP = dO V^T`; from those of P follow the gradients of queries and keys. */
function passAttention(
  tape: Tape,
  operands: Readonly<Record<string, Tensor>>,
  call: AttentionCall,
  [gradient, ofSums]: readonly (Tensor | undefined)[],
): void {
  const { batch, heads, kvHeads = heads, seqQ, seqKv, headDim, valueDim = headDim } = call;
  const v = operands['v'] as Tensor;
  // Queries of heads that share keys are rows of one product; dense operands make it one launch.
  const rows = (x: Tensor, columns: number): Tensor =>
    reshape(pack(x), [batch, kvHeads, (heads / kvHeads) * seqQ, columns]);
  const given = gradient && rows(gradient, valueDim);
  tape.again(
    () => {
      const s = matmul(
        rows(floatOf(operands['q'] as Tensor), headDim),
        transpose(pack(floatOf(operands['k'] as Tensor))),
      );
      return probabilities(reshape(s, [batch, heads, seqQ, seqKv]), operands, call);
    },
    ([p]) => {
      if (given === undefined) return [undefined, ofSums];
      if (tape.wants(v)) tape.give(v, matmul(transpose(rows(p as Tensor, seqKv)), given));
      const ofP = reshape(matmul(given, transpose(pack(floatOf(v)))), [batch, heads, seqQ, seqKv]);
      return [ofP, ofSums];
    },
  );
}

/**
 * Returns the probability that a query gives each key, by its scores, and the log of the sum that they were divided by,
 * if it is asked for.
 */
function probabilities(s: Tensor, operands: Readonly<Record<string, Tensor>>, call: AttentionCall): readonly Tensor[] {
  const { causal = false } = call;
  const { mask, lengths, starts } = operands;
  const { scale, softcap, window, causalOffset = 0, lse } = call;
  const form = { mask: mask?.dtype, lengths: lengths !== undefined, starts: starts !== undefined, causal };
  const params = {
    scale,
    ...(softcap === undefined ? {} : { softcap }),
    ...(window === undefined ? {} : { window: Math.min(window, FAR) }),
    ...((causal || window !== undefined) && starts === undefined
      ? { offset: Math.max(-FAR, Math.min(FAR, causalOffset)) }
      : {}),
  };
  const kernel = kernelOf({ ...form, lse: lse !== undefined, params: Object.keys(params) });
  const inputs = {
    s,
    ...(mask && { mask }),
    ...(lengths && { lengths }),
    ...(starts && (causal || window !== undefined) ? { starts } : {}),
  };
  const { p, lse: sums } = run(kernel, inputs, { shape: s.shape, params }) as Record<string, Tensor>;
  return sums === undefined ? [p as Tensor] : [p as Tensor, sums];
}

/** Places beyond are as good. */
const FAR = 2 ** 30;

interface Form {
  readonly mask: DType | undefined;
  readonly lengths: boolean;
  readonly starts: boolean;
  readonly causal: boolean;
  readonly lse: boolean;
  readonly params: readonly string[];
}

const kernels = new Kernels();

const kernelOf = (form: Form): Kernel => kernels.of(JSON.stringify(form), () => define(form));

/** The softmax of the scores that a query sees, as attention computes it; its greatest one is subtracted as a constant. */
function define({ mask, lengths, starts, causal, lse, params }: Form): Kernel {
  const isPlaced = causal || params.includes('window');
  const inputs: Record<string, NumberType> = {
    s: 'f32',
    ...(mask === undefined ? {} : { mask: mask === 'u8' ? 'u32' : 'f32' }),
    ...(lengths ? { lengths: 'u32' } : {}),
    ...(starts && isPlaced ? { starts: 'i32' } : {}),
  };
  const types = Object.fromEntries(
    params.map((name) => [name, name === 'scale' || name === 'softcap' ? 'f32' : 'i32'] as const),
  );
  return defineKernel('attention by parts', { inputs, params: types }, (symbols, k) => {
    const all = symbols as unknown as Record<string, Value<'i32'>>;
    const at = (name: string): Float => all[name] as unknown as Float;
    let score = k.mul(at('s'), at('scale'));
    if (params.includes('softcap')) score = k.mul(k.tanh(k.div(score, at('softcap'))), at('softcap'));
    if (mask === 'u8')
      score = k.add(score, k.select(k.eq(all['mask'] as unknown as Value<'u32'>, 0), k.f32(-Infinity), 0));
    else if (mask !== undefined) score = k.add(score, at('mask'));
    const visible = visibility(k, all, { lengths, starts, causal, isPlaced });
    if (visible !== undefined) score = k.select(visible, score, -Infinity);
    // Its gradient cancels; bits have none.
    const highest = k.bitcast('f32', k.bitcast('i32', k.fold('max', score)));
    const e = k.select(k.eq(score, -Infinity), 0, k.exp(k.sub(score, highest)));
    const total = k.fold('sum', e);
    const p = k.select(k.eq(total, 0), 0, k.div(e, total));
    const sums = k.select(k.eq(total, 0), -Infinity, k.add(highest, k.log(total)));
    return (lse ? { p, lse: sums } : { p }) as { p: Float };
  }) as Kernel;
}

function visibility(
  k: KernelBuilder,
  all: Readonly<Record<string, Value<'i32'>>>,
  { lengths, starts, causal, isPlaced }: Pick<Form, 'lengths' | 'starts' | 'causal'> & { readonly isPlaced: boolean },
): Value<'bool'> | undefined {
  const key = k.toI32(k.index(-1));
  const keys = lengths ? k.toI32(k.min(all['lengths'] as unknown as Value<'u32'>, k.extent(-1))) : undefined;
  const seen: Value<'bool'>[] = keys === undefined ? [] : [k.lt(key, keys)];
  if (isPlaced) {
    const query = k.toI32(k.index(-2));
    const start = starts ? k.clamp(all['starts'] as Value<'i32'>, -FAR, FAR) : (all['offset'] as Value<'i32'>);
    const first = starts || keys === undefined ? start : k.add(k.sub(keys, k.toI32(k.extent(-2))), start);
    const place = k.add(first, query);
    if (causal) seen.push(k.le(key, place));
    if (all['window'] !== undefined) seen.push(k.gt(key, k.sub(place, all['window'])));
  }
  return seen.length === 0 ? undefined : seen.reduce((both, each) => k.and(both, each));
}

/** The entry of topK: each value's gradient goes to its place. */
export function entryOfTopK(
  tape: Tape,
  backend: ComputeBackend,
  { rows, columns, k, input, values, indices }: TopKCall,
): Entry {
  const at = (ptr: typeof input, width: number, dtype: DType): Tensor =>
    tape.at(backend, ptr, [rows, width], [width, 1], dtype);
  const x = at(input, columns, 'f32');
  const outputs = [at(values, k, 'f32'), at(indices, k, 'u32')];
  const isWanted = tape.wants(x);
  x.dispose();
  if (!isWanted) return { op: 'topK', outputs };
  const places = at(indices, k, 'u32');
  const backward = ([gradient]: readonly (Tensor | undefined)[]): void => {
    if (gradient !== undefined) tape.give(x, scatterAdd(zeros(backend, [rows, columns]), 1, places, gradient));
  };
  return { op: 'topK', outputs, results: [places], backward };
}
