import { defineKernel } from '@concord/backend-core/kernel';
import {
  add,
  attention,
  cast,
  concat,
  empty,
  linear,
  permute,
  reshape,
  run,
  slice,
  split,
  stack,
  type Tensor,
  transpose,
} from '@concord/ops';
import { refuse } from '../errors.ts';
import { type HostTensor, hostTensor } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { elements, type Formula } from './elements.ts';
import type { Operators } from './operator.ts';

/** The options by which a kernel reads rows of tables of cosines and sines; a position outside of them gives NaN. */
const TURNED = {
  a: 'f32',
  b: 'f32',
  place: 'i32',
  cos: { type: 'f32', access: 'gather', rank: 2 },
  sin: { type: 'f32', access: 'gather', rank: 2 },
} as const;

/** Pairs turned by the angles of the row's position: `place`, with `steps` so many places on as the row is along axis 2. */
const turns = [false, true].map((steps) =>
  defineKernel(`rotary ${steps}`, { inputs: TURNED }, ({ a, b, place, cos, sin }, k) => {
    const at = [steps ? k.add(place, k.toI32(k.index(2))) : place, k.toI32(k.index(3))];
    const [c, s] = [k.gather(cos, at, NaN), k.gather(sin, at, NaN)];
    return { first: k.sub(k.mul(a, c), k.mul(b, s)), second: k.add(k.mul(a, s), k.mul(b, c)) };
  }),
);

const copied = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));

/** Tables of cosines and sines, `[positions, pairs]`, and where the rows of `[batch, heads, rows, dim]` are. */
interface Rotary {
  readonly cos: Tensor;
  readonly sin: Tensor;
  /** `[batch, rows]`: of each row. One number, or `[batch]`: of the first. */
  readonly positions: Tensor;
  readonly interleaved: boolean;
}

/** `[batch, heads, rows, dim]` with the first elements of each row turned in pairs. */
function rotated(x: Tensor, { cos, sin, positions, interleaved }: Rotary): Tensor {
  const [batch = 0, heads = 0, rows = 0, dim = 0] = x.shape;
  const half = cos.shape[1] as number;
  if (2 * half > dim || sin.shape.join() !== cos.shape.join())
    throw refuse(`tables of [${cos.shape.join(', ')}] and [${sin.shape.join(', ')}] for rows of ${dim}`);
  const result = permute(empty(x.backend, [batch, rows, heads, dim], { dtype: x.dtype }), [0, 2, 1, 3]);
  if (x.size === 0) return result;
  const pair = (of: Tensor): Tensor[] =>
    [0, 1].map((i) => slice(of, [null, null, null, interleaved ? [i, 2 * half, 2] : [i * half, (i + 1) * half]]));
  const [[a, b], [first, second]] = [pair(x), pair(result)] as [[Tensor, Tensor], [Tensor, Tensor]];
  const isEach = positions.rank === 2 && positions.shape[1] === rows;
  const place = reshape(positions, isEach ? [positions.shape[0] as number, 1, rows, 1] : [positions.size, 1, 1, 1]);
  run(turns[isEach ? 0 : 1] as (typeof turns)[0], { a, b, place, cos, sin }, { out: { first, second } });
  const rest = [null, null, null, [2 * half, dim]] as const;
  if (2 * half < dim) run(copied, { x: slice(x, rest) }, { out: { y: slice(result, rest) } });
  return result;
}

/** `[batch, rows, heads dim]` as `[batch, heads, rows, dim]`. */
export function headsOf(x: Tensor, heads: number): Tensor {
  const [batch = 0, rows = 0, width = 0] = x.shape;
  if (width % heads !== 0) throw refuse(`${width} elements are not ${heads} heads`);
  return permute(reshape(x, [batch, rows, heads, width / heads]), [0, 2, 1, 3]);
}

export function merged(o: Tensor): Tensor {
  const [batch = 0, heads = 0, rows = 0, dim = 0] = o.shape;
  return reshape(permute(o, [0, 2, 1, 3]), [batch, rows, heads * dim]);
}

const CACHE = { type: 'f32', access: 'gather', rank: 4 } as const;

const appends = [false, true].map((isRing) =>
  defineKernel('append', { inputs: { past: CACHE, fresh: CACHE, start: 'i32' } }, ({ past, fresh, start }, k) => {
    const [batch, head, column] = [k.index(0), k.index(1), k.index(3)];
    const old = k.gather(past, [batch, head, k.index(2), column], 0);
    const row = k.sub(k.toI32(k.index(2)), start);
    const rows = k.toI32(k.extent(2));
    const at = isRing ? k.rem(k.add(row, rows), rows) : row;
    return { y: k.gather(fresh, [batch, head, at, column], old) };
  }),
);

/** `[batch, heads, rows, dim]` of a cache with new rows from a place on; in a ring they go on at its front. */
export function appended(past: Tensor, fresh: Tensor, starts: Tensor, rows: number, isRing = false): Tensor {
  const [batch = 0, heads = 0, , dim = 0] = past.shape;
  const start = reshape(starts, [batch, 1, 1, 1]);
  const options = { shape: [batch, heads, rows, dim], dtypes: { y: past.dtype } };
  return run(appends[Number(isRing)] as (typeof appends)[0], { past, fresh, start }, options).y;
}

/** A cache of so many rows, that of each batch with new ones from its place on. */
function withRows(past: Tensor | undefined, fresh: Tensor, starts: Tensor, rows: number): Tensor {
  if (past === undefined || past.size === 0) {
    if (rows !== fresh.shape[2]) throw refuse(`${fresh.shape[2]} rows and no cache make no ${rows}`);
    return fresh;
  }
  return appended(past, fresh, starts, rows);
}

/** The scale of an attribute that is 0 or missing where it is the usual one. */
const scaleOf = (call: Call, dim: number): number => call.float('scale', 0) || 1 / Math.sqrt(dim);

/** A sink beside the keys of a head: it takes its part of the softmax and gives nothing. */
function sunk(o: Tensor, lse: Tensor, sink: Tensor | undefined): Tensor {
  const sums = reshape(lse, [...lse.shape, 1]);
  if (sink === undefined) return elements('Sink0', (k, x, sum) => k.mul(x, k.sigmoid(sum)), [o, sums]);
  const sinks = reshape(sink, [1, sink.size, 1, 1]);
  return elements('Sink', (k, x, sum, s) => k.mul(x, k.sigmoid(k.sub(sum, s))), [o, sums, sinks]);
}

function groupQuery(call: Call): Results {
  const kinds = [call.text('k_quant_type', 'NONE'), call.text('v_quant_type', 'NONE')];
  if (kinds.some((kind) => kind !== 'NONE')) call.refuse('a quantised cache');
  if (call.int('qk_output', 0) !== 0 || call.node.outputs[3]) call.refuse('scores as a result');
  call.floats(0);
  const [heads, kvHeads] = [call.int('num_heads'), call.int('kv_num_heads')];
  const given = call.x(0);
  const [batch = 0, rows = 0, width = 0] = given.shape;
  const isPacked = !call.has(1);
  const dim = isPacked ? width / (heads + 2 * kvHeads) : width / heads;
  const part = (from: number, count: number): Tensor =>
    headsOf(slice(given, [null, null, [from * dim, (from + count) * dim]]), count);
  const q = isPacked ? part(0, heads) : headsOf(given, heads);
  const key = isPacked ? part(heads, kvHeads) : headsOf(call.x(1), kvHeads);
  const value = isPacked ? part(heads + kvHeads, kvHeads) : headsOf(call.x(2), kvHeads);

  const total = call.scalar(6);
  const lengths = reshape(call.x(5), [-1]);
  if (lengths.size !== batch) throw refuse(`${lengths.size} lengths for a batch of ${batch}`);
  // A first run starts at 0 also where texts are shorter than the batch's longest.
  const isFirst = total === rows;
  const starts = call.derived(5, `starts ${isFirst || rows}`, () =>
    elements(
      `Starts ${isFirst || rows}`,
      (k, last) => (isFirst ? k.mul(last, 0) : k.add(last, (1 - rows) as never)),
      [lengths],
      'i32',
    ),
  );
  const withPositions = (x: Tensor): Tensor => {
    if (call.int('do_rotary', 0) === 0) return x;
    const positions = call.has(9) ? call.x(9) : starts;
    const interleaved = call.int('rotary_interleaved', 0) === 1;
    return rotated(x, { cos: call.x(7), sin: call.x(8), positions, interleaved });
  };
  const room = Math.max(total, call.has(3) ? (call.dims(3)[2] as number) : 0);
  const keys = withRows(call.maybe(3), withPositions(key), starts, room);
  const values = withRows(call.maybe(4), value, starts, room);
  const window = call.int('local_window_size', -1);
  const softcap = call.float('softcap', 0);
  const seen = [null, null, [0, total]] as const;
  const hasSink = call.has(11) || call.int('smooth_softmax', 0) > 0;
  const lse = hasSink ? empty(call.backend, [batch, heads, rows]) : undefined;
  const bias = call.maybe(10);
  const o = attention(withPositions(q), slice(keys, seen), slice(values, seen), {
    ...{ scale: scaleOf(call, dim), causal: true, starts, lse },
    lengths: call.derived(5, 'lengths', () =>
      elements('Lengths', (k, last) => k.toU32(k.add(last as never, 1 as never)), [lengths], 'u32'),
    ),
    ...(window > 0 && { window }),
    ...(softcap > 0 && { softcap }),
    ...(bias && { mask: slice(bias, [null, null, null, [0, total]]) }),
  });
  return [merged(lse ? sunk(o, lse, call.maybe(11)) : o), keys, values];
}

const upTo = (count: number): HostTensor => hostTensor('int32', [count], [...Array(count).keys()]);

/** What is added to scores where 0 hides a key. */
export function hiding(mask: Tensor, filter: number): Tensor {
  return elements(`Mask ${filter}`, (k, each) => k.select(k.ne(each, 0), k.f32(0), filter), [mask], 'f32');
}

/** What is added to scores: input 5, and of a mask of integers `filter` where 0 hides a key. */
function maskOf(call: Call, index: number, keys: number): Tensor | undefined {
  const bias = call.maybe(5);
  if (!call.has(index)) return bias;
  const plus = (mask: Tensor): Tensor => (bias ? add(mask, cast(bias, 'f32')) : mask);
  const [mask, dims] = [call.x(index), call.dims(index)];
  const filter = call.float('mask_filter_value', -10000);
  const [batch = 0, rows = 0] = dims;
  if (dims.length === 1 && batch === call.dims(0)[0]) {
    const places = call.toDevice(upTo(keys));
    const formula: Formula = (k, place, length) => k.select(k.lt(place, length), k.f32(0), filter);
    return plus(elements(`LengthMask ${filter}`, formula, [places, reshape(mask, [batch, 1, 1, 1])], 'f32'));
  }
  if (dims.length < 2 || dims.length > 3 || dims.at(-1) !== keys) call.refuse(`a mask of [${dims.join(', ')}]`);
  return plus(reshape(hiding(mask, filter), [batch, 1, dims.length === 3 ? rows : 1, keys]));
}

/** Attention, with a mask that is input `index`. */
function masked(call: Call, index: number, q: Tensor, k: Tensor, v: Tensor): Tensor {
  const [causal, scale] = [call.int('unidirectional', 0) === 1, scaleOf(call, q.shape[3] as number)];
  return merged(attention(q, k, v, { scale, causal, mask: maskOf(call, index, k.shape[2] as number) }));
}

/** Rows after those of a cache. */
export function afterPast(past: Tensor | undefined, fresh: Tensor): Tensor {
  return past === undefined || past.shape[2] === 0 ? fresh : concat([past, fresh], { axis: 2 });
}

function multiHead(call: Call): Results {
  call.floats(0);
  if (call.node.outputs[3]) call.refuse('scores as a result');
  const heads = call.int('num_heads');
  const given = call.x(0);
  const packed = given.rank === 5 ? given : call.x(1);
  const isPacked = packed.rank === 5;
  // [batch, rows, heads, 2 or 3, dim]
  const part = (i: number): Tensor => permute(slice(packed, [null, null, null, i]), [0, 2, 1, 3]);
  if (isPacked && call.has(3)) call.refuse('a bias of packed heads');
  const bias = call.maybe(3);
  const width = given.shape[2] as number;
  const own = (x: Tensor, from: number): Tensor => {
    if (x.rank === 4) return x;
    return headsOf(bias ? add(x, slice(bias, [[from, from + (x.shape[2] as number)]])) : x, heads);
  };
  const q = given.rank === 5 ? part(0) : own(given, 0);
  const last = given.rank === 5 ? 1 : 0;
  const k = afterPast(call.maybe(6), isPacked ? part(last) : own(call.x(1), width));
  const v = afterPast(call.maybe(7), isPacked ? part(last + 1) : own(call.x(2), 2 * width));
  return [masked(call, 4, q, k, v), k, v];
}

/** com.microsoft Attention: its products, then attention. */
function selfAttention(call: Call): Results {
  call.floats(0, 1);
  if (call.int('do_rotary', 0) !== 0) call.refuse('do_rotary');
  const heads = call.int('num_heads');
  const weights = call.x(1);
  const all = weights.shape[1] as number;
  const sizes = call.list('qkv_hidden_sizes') ?? [all / 3, all / 3, all / 3];
  const product = linear(call.x(0), transpose(weights), { bias: call.maybe(2) });
  const [q, key, value] = split(product, sizes, 2).map((each) => headsOf(each, heads)) as [Tensor, Tensor, Tensor];
  const past = call.maybe(4);
  const [k, v] = [key, value].map((each, i) => afterPast(past && slice(past, [i]), each)) as [Tensor, Tensor];
  const o = masked(call, 3, q, k, v);
  return call.node.outputs[1] ? [o, stack([k, v])] : o;
}

/** RotaryEmbedding of com.microsoft and of ONNX, which differ in the order of their inputs. */
function rotary(call: Call, isOwn: boolean): Results {
  call.floats(0);
  if (call.int('is_packed_batching', 0) === 1) call.refuse('packed batches');
  const x = call.x(0);
  const [cos, sin] = isOwn ? [call.x(1), call.x(2)] : [call.x(2), call.x(3)];
  const positions = isOwn ? call.maybe(3) : call.x(1);
  const rotaryDim = call.int('rotary_embedding_dim', 0);
  const isFlat = x.rank === 3;
  const width = cos.shape.at(-1) as number;
  const heads = call.int('num_heads', 0) || (isFlat ? (x.shape[2] as number) / (2 * width) : 0);
  const rows = isFlat ? headsOf(x, heads) : x;
  if (rotaryDim !== 0 && rotaryDim !== 2 * width)
    throw refuse(`tables of ${width} for a rotary_embedding_dim of ${rotaryDim}`);
  const interleaved = call.int('interleaved', 0) === 1;
  const [batch = 0, , count = 0] = rows.shape;
  // Without positions there is a row of the tables for each of x.
  const places = positions ?? reshape(call.toDevice(upTo(batch * count)), [batch, count]);
  const tables = [cos, sin].map((each) => reshape(each, [-1, width])) as [Tensor, Tensor];
  const result = rotated(rows, { cos: tables[0], sin: tables[1], positions: places, interleaved });
  return isFlat ? merged(result) : result;
}

/** Attention, and what turns its rows. */
export const ATTENTION: Operators = {
  RotaryEmbedding: (call) => rotary(call, true),
  'com.microsoft.RotaryEmbedding': (call) => rotary(call, false),
  'com.microsoft.GroupQueryAttention': { needs: [6], run: groupQuery },
  'com.microsoft.MultiHeadAttention': multiHead,
  'com.microsoft.Attention': selfAttention,
};
