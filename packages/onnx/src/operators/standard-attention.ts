import * as ops from '@concord/ops';
import type { Tensor } from '@concord/ops';
import { hostTensor, sizeOf } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { afterPast, appended, headsOf, hiding, merged } from './attention.ts';
import { elements, type Formula } from './elements.ts';
import type { Operators } from './operator.ts';

/** What attention in pieces is made of: heads, and where the first query of each batch is among the keys, `[batch, 1, 1, 1]`. */
interface Pieces {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly starts: Tensor;
  /** `[batch, 1, 1, 1]` */
  readonly lengths: Tensor | undefined;
  readonly mask: Tensor | undefined;
  readonly scale: number;
  readonly softcap: number;
  /** How many keys before and after its place a query sees; -1 is all. */
  readonly left: number;
  readonly right: number;
}

/** Attention whose scores are a result too: as they are, capped, hidden or as shares, by `mode`; or with what kernels do not have. */
function inPieces({ q, k, v, starts, lengths, mask, scale, softcap, left, right }: Pieces, mode: number): Tensor[] {
  const [batch = 0, heads = 0] = q.shape;
  const whole = (x: Tensor): Tensor => {
    const [, own = 1, rows = 0, dim = 0] = x.shape;
    if (own === heads) return ops.cast(x, 'f32');
    const repeated = ops.expand(ops.unsqueeze(x, 2), [batch, own, heads / own, rows, dim]);
    return ops.cast(ops.reshape(repeated, [batch, heads, rows, dim]), 'f32');
  };
  const products = ops.matmul(ops.cast(q, 'f32'), ops.transpose(whole(k)));
  const raw = ops.mul(products, scale);
  const soft: Formula = (b, x) => b.mul(b.tanh(b.div(x, softcap)), softcap);
  const capped = softcap > 0 ? elements(`Softcap ${softcap}`, soft, [raw], 'f32') : raw;
  const added = mask === undefined || mask.dtype === 'u8' ? mask && hiding(mask, -Infinity) : ops.cast(mask, 'f32');
  const biased = added ? ops.add(capped, added) : capped;
  const seen = elements(
    `Seen ${left} ${right} ${lengths !== undefined}`,
    (b, x, start, length) => {
      const key = b.toI32(b.index(3));
      const place = b.add(start as never, b.toI32(b.index(2)));
      let isSeen = b.ge(key, left < 0 ? b.min(place, 0) : b.sub(place, left));
      if (right >= 0) isSeen = b.and(isSeen, b.le(key, b.add(place, right)));
      if (length !== undefined) isSeen = b.and(isSeen, b.lt(key, length as never));
      return b.select(isSeen, x, -Infinity);
    },
    lengths ? [biased, starts, lengths] : [biased, starts],
    'f32',
  );
  // A query that sees nothing has no shares.
  const shares = elements('Shares', (b, x) => b.select(b.isNan(x), b.f32(0), x), [ops.softmax(seen)], 'f32');
  const o = ops.cast(ops.matmul(shares, whole(v)), q.dtype);
  return [o, ops.cast([raw, capped, seen, shares][mode] as Tensor, q.dtype)];
}

/** Attention of ONNX 23 and later. */
function standard(call: Call): Results {
  call.floats(0, 1, 2);
  const isFlat = call.dims(0).length === 3;
  const own = (index: number, heads: string): Tensor =>
    isFlat ? headsOf(call.x(index), call.int(heads)) : call.x(index);
  const q = own(0, 'q_num_heads');
  const k = afterPast(call.maybe(4), own(1, 'kv_num_heads'));
  const v = afterPast(call.maybe(5), own(2, 'kv_num_heads'));
  const scale = call.float('scale', 1 / Math.sqrt(q.shape[3] as number));
  const softcap = call.float('softcap', 0);
  const [batch = 0, , queries = 0] = q.shape;
  const keys = k.shape[2] as number;
  const given = call.maybe(3);
  const lack = given === undefined || given.shape.at(-1) === 1 ? 0 : keys - (given.shape.at(-1) as number);
  // What a mask does not reach is hidden.
  const around = given?.shape.map((_, axis) => [0, axis === given.rank - 1 ? lack : 0] as const) ?? [];
  const mask = given && lack > 0 ? ops.pad(given, around, { value: given.dtype === 'u8' ? 0 : -Infinity }) : given;
  const causal = call.int('is_causal', 0) === 1;
  const [left, right] = [call.int('left_window_size', -1), call.int('right_window_size', -1)];
  const offset = call.has(4) ? (call.dims(4)[2] as number) : 0;
  const finished = (o: Tensor): Tensor => (isFlat ? merged(o) : o);
  const isWhole = right < 0 || (causal && right >= 0);
  const fresh = call.dims(1).at(isFlat ? 1 : 2);
  const isKernel = q.dtype !== 'bf16' && !call.node.outputs[3] && isWhole && (left < 0 || causal);
  // The kernel has a query of its own at the last key.
  if (isKernel && !(causal && call.has(4) && queries === 1 && fresh !== 1)) {
    const lengths = call.has(6) ? { lengths: ops.cast(ops.reshape(call.x(6), [batch]), 'u32') } : { offset };
    const o = ops.attention(q, k, v, {
      ...{ causal, mask, scale, ...lengths },
      ...(left >= 0 && { window: left + 1 }),
      ...(softcap > 0 && { softcap }),
    });
    return [finished(o), k, v];
  }
  const lengths = call.has(6) ? ops.reshape(call.x(6), [batch, 1, 1, 1]) : undefined;
  const starts = lengths ? ops.sub(lengths, queries) : call.toDevice(hostTensor('int32', [1, 1, 1, 1], [offset]));
  const pieces = { q, k, v, starts, lengths, mask, scale, softcap, left, right: causal ? 0 : right };
  const [o, scores] = inPieces(pieces, call.int('qk_matmul_output_mode', 0)) as [Tensor, Tensor];
  return [finished(o), k, v, scores];
}

/** TensorScatter: new rows of a cache, along any axis. */
function scattered(call: Call): Tensor {
  const [past, fresh, dims] = [call.x(0), call.x(1), call.dims(0)];
  const axis = call.axis(call.int('axis', -2));
  const batch = dims[0] as number;
  const flat = (x: Tensor): Tensor =>
    ops.reshape(x, [batch, sizeOf(dims.slice(1, axis)), x.shape[axis] as number, sizeOf(dims.slice(axis + 1))]);
  const starts = call.has(2) ? call.x(2) : call.toDevice(hostTensor('int32', [batch], new Int32Array(batch)));
  const isRing = call.choice('mode', 'linear', 'circular') === 'circular';
  return ops.reshape(appended(flat(past), flat(fresh), starts, dims[axis] as number, isRing), dims);
}

/** ONNX's own attention, and what fills its caches. */
export const STANDARD_ATTENTION: Operators = { Attention: { run: standard }, TensorScatter: { run: scattered } };
