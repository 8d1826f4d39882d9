import type { AttentionCall, ComputeBackend, DType, TopKCall } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { matmul, pack, reshape, run, scatterAdd, slice, type Tensor, tidy, transpose, zeros } from '@concord/ops';
import { denseStrides, Kernels } from '@concord/ops/listen';
import { floatOf } from './products.ts';
import type { Entry, Tape } from './tape.ts';

type Float = Value<'f32'>;

/** The entry of an attention: its probabilities are computed again, some queries at a time. */
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

/** The queries at a time for each float of a key and a value: their scores take as many times the memory of keys and values. */
const ROWS = 4;

/** `dV = P^T dO`, `dP = dO V^T`; from those of P follow the gradients of queries and keys. Some queries at a time. */
function passAttention(
  tape: Tape,
  operands: Readonly<Record<string, Tensor>>,
  call: AttentionCall,
  gradients: readonly (Tensor | undefined)[],
): void {
  const { batch, heads, kvHeads = heads, seqQ, seqKv, headDim, valueDim = headDim, causalOffset = 0 } = call;
  const { q, k, v, mask, lengths, starts } = operands as Record<'q' | 'k' | 'v', Tensor> & Record<string, Tensor>;
  const isCausal = call.causal === true && lengths === undefined && starts === undefined;
  const atOnce = ROWS * (headDim + valueDim);
  for (let first = 0; first < seqQ; first += atOnce) {
    const count = Math.min(atOnce, seqQ - first);
    // The keys that the last of them sees.
    const seen = isCausal ? Math.max(1, Math.min(seqKv, first + count + causalOffset)) : seqKv;
    const scores = [batch, heads, count, seen];
    const queries = (x: Tensor): Tensor => slice(x, [null, null, [first, first + count]]);
    const keys = (x: Tensor): Tensor => slice(x, [null, null, [0, seen]]);
    // Queries of heads that share keys are rows of one product; dense operands make it one launch.
    const rows = (x: Tensor, columns: number): Tensor =>
      reshape(pack(x), [batch, kvHeads, (heads / kvHeads) * count, columns]);
    const columns = (x: Tensor): Tensor => transpose(pack(floatOf(keys(x))));
    const work = (): readonly Tensor[] => {
      const s = reshape(matmul(rows(floatOf(queries(q)), headDim), columns(k)), scores);
      const own = mask && slice(mask, [null, null, [first, first + count], [0, seen]]);
      return probabilities(s, { ...operands, ...(own && { mask: own }) }, call, first);
    };
    tidy(() => {
      const [gradient, ofSums] = gradients.map((each) => each && queries(each));
      const given = gradient && rows(gradient, valueDim);
      tape.again(work, ([p]) => {
        if (given === undefined) return [undefined, ofSums];
        if (tape.wants(v)) tape.give(keys(v), matmul(transpose(rows(p as Tensor, seen)), given));
        return [reshape(matmul(given, columns(v)), scores), ofSums];
      });
    });
  }
}

/**
 * Returns the probability that queries from `first` on give each key, by their scores, and the log of the sum that they
 * were divided by, if it is asked for.
 */
function probabilities(
  s: Tensor,
  operands: Readonly<Record<string, Tensor>>,
  call: AttentionCall,
  first: number,
): readonly Tensor[] {
  const { causal = false, scale, softcap, window, causalOffset = 0, lse, seqQ } = call;
  const { mask, lengths, starts } = operands;
  const isPlaced = causal || window !== undefined;
  const params: Record<string, number> = { scale };
  if (softcap !== undefined) params['softcap'] = softcap;
  if (window !== undefined) params['window'] = Math.min(window, FAR);
  if (isPlaced) params['first'] = first;
  if (isPlaced && starts === undefined) {
    params['offset'] = Math.max(-FAR, Math.min(FAR, causalOffset));
    if (lengths !== undefined) params['queries'] = seqQ;
  }
  const inputs = { s, ...(mask && { mask }), ...(lengths && { lengths }), ...(starts && isPlaced ? { starts } : {}) };
  const types = Object.entries(inputs).map(([name, x]) => [name, ELEMENT_TYPES[x.dtype].value] as const);
  const form = [Object.fromEntries(types), Object.keys(params), causal, lse !== undefined] as const;
  const kernel = kernels.of(JSON.stringify(form), () => define(...form));
  return Object.values(run(kernel, inputs, { shape: s.shape, params }));
}

/** Places beyond are as good. */
const FAR = 2 ** 30;

const kernels = new Kernels();

/** The softmax of the scores that a query sees, as attention computes it; its greatest one is subtracted as a constant. */
function define(
  inputs: Record<string, NumberType>,
  params: readonly string[],
  isCausal: boolean,
  hasSums: boolean,
): Kernel {
  const types = params.map((name) => [name, name === 'scale' || name === 'softcap' ? 'f32' : 'i32'] as const);
  return defineKernel('attention by parts', { inputs, params: Object.fromEntries(types) }, (symbols, k) => {
    const all = symbols as unknown as Readonly<Record<string, Value<'i32'> | undefined>>;
    const at = (name: string): Float => all[name] as unknown as Float;
    let score = k.mul(at('s'), at('scale'));
    if (all['softcap'] !== undefined) score = k.mul(k.tanh(k.div(score, at('softcap'))), at('softcap'));
    const bits = all['mask'] as unknown as Value<'u32'>;
    if (inputs['mask'] === 'u32') score = k.add(score, k.select(k.eq(bits, 0), k.f32(-Infinity), 0));
    else if (inputs['mask'] !== undefined) score = k.add(score, at('mask'));
    const seen = visibility(k, all, isCausal);
    if (seen.length > 0)
      score = k.select(
        seen.reduce((both, each) => k.and(both, each)),
        score,
        -Infinity,
      );
    // Its gradient cancels; bits have none.
    const highest = k.bitcast('f32', k.bitcast('i32', k.fold('max', score)));
    const e = k.select(k.eq(score, -Infinity), 0, k.exp(k.sub(score, highest)));
    const total = k.fold('sum', e);
    const p = k.select(k.eq(total, 0), 0, k.div(e, total));
    const sums = k.select(k.eq(total, 0), -Infinity, k.add(highest, k.log(total)));
    return (hasSums ? { p, lse: sums } : { p }) as { p: Float };
  }) as Kernel;
}

/** The truths that a key is seen by a query, which all have to hold. */
function visibility(
  k: KernelBuilder,
  { lengths, starts, offset, window, first, queries }: Readonly<Record<string, Value<'i32'> | undefined>>,
  isCausal: boolean,
): Value<'bool'>[] {
  const key = k.toI32(k.index(-1));
  const keys = lengths && k.toI32(k.min(lengths as unknown as Value<'u32'>, k.extent(-1)));
  const seen = keys === undefined ? [] : [k.lt(key, keys)];
  if (first === undefined) return seen;
  const start = starts ? k.clamp(starts, -FAR, FAR) : (offset as Value<'i32'>);
  const query = k.add(k.toI32(k.index(-2)), first);
  const place = k.add(keys && queries ? k.add(k.sub(keys, queries), start) : start, query);
  if (isCausal) seen.push(k.le(key, place));
  if (window !== undefined) seen.push(k.gt(key, k.sub(place, window)));
  return seen;
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
