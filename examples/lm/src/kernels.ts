import type { FloatDType } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { empty, QuantizedTensor, run, slice, type Tensor, unsqueeze } from '@concord/ops';
import type { Config } from './config.ts';
import type { Matrix } from './weights.ts';

const places = defineKernel('positions', { inputs: { lengths: 'u32' } }, ({ lengths }, k) => ({
  positions: k.add(lengths, k.index(-1)),
}));

/** The positions of new tokens `[batch, length]`, after texts of some lengths `[batch]`: u32 `[batch, length]`. */
export function positionsOf(lengths: Tensor, ids: Tensor): Tensor {
  return run(places, { lengths: unsqueeze(lengths, -1) }, { shape: ids.shape }).positions;
}

const TABLE = { type: 'f32', access: 'gather', rank: 2 } as const;

const rows = defineKernel('embed', { inputs: { ids: 'u32', tokens: TABLE } }, ({ ids, tokens }, k) => ({
  x: k.gather(tokens, [ids, k.index(-1)], 0),
}));

const rowsAt = defineKernel(
  'embed at positions',
  { inputs: { ids: 'u32', positions: 'u32', tokens: TABLE, table: TABLE } },
  ({ ids, positions, tokens, table }, k) => ({
    x: k.add(k.gather(tokens, [ids, k.index(-1)], 0), k.gather(table, [positions, k.index(-1)], 0)),
  }),
);

const CODES = { type: 'i32', access: 'gather', rank: 2 } as const;

const rowsOfBytes = defineKernel(
  'embed bytes',
  { inputs: { ids: 'u32', codes: CODES, scales: TABLE }, params: { block: 'u32' } },
  ({ ids, codes, scales, block }, k) => {
    const code = k.toF32(k.gather(codes, [ids, k.index(-1)], 0));
    return { x: k.mul(code, k.gather(scales, [ids, k.div(k.index(-1), block)], 0)) };
  },
);

const rowsOfNibbles = defineKernel(
  'embed nibbles',
  {
    inputs: { ids: 'u32', codes: { ...CODES, type: 'u32' }, scales: TABLE, offsets: TABLE },
    params: { block: 'u32', zero: 'f32', slope: 'f32' },
  },
  ({ ids, codes, scales, offsets, block, zero, slope }, k) => {
    const both = k.gather(codes, [ids, k.shr(k.index(-1), 1)], 0);
    const code = k.toF32(k.and(k.shr(both, k.mul(k.and(k.index(-1), 1), 4)), 15));
    const at = [ids, k.div(k.index(-1), block)] as const;
    return { x: k.add(k.mul(k.sub(code, zero), k.gather(scales, at, 0)), k.mul(slope, k.gather(offsets, at, 0))) };
  },
);

/** The rows of tokens, and of their positions where a model has learned some: `[batch, length, width]`. */
export function embed(
  ids: Tensor,
  positions: Tensor,
  tokens: Matrix,
  table: Tensor | undefined,
  dtype: FloatDType,
): Tensor {
  const shape = [...ids.shape, tokens.shape[1] ?? 0];
  const x = empty(ids.backend, shape, { dtype });
  const to = { shape, out: { x } };
  const given = { ids: unsqueeze(ids, -1) };
  if (!(tokens instanceof QuantizedTensor)) {
    if (table === undefined) run(rows, { ...given, tokens }, to);
    else run(rowsAt, { ...given, tokens, positions: unsqueeze(positions, -1), table }, to);
    return x;
  }
  const { data: codes, scales, offsets, block } = tokens;
  if (codes.dtype === 'i8') run(rowsOfBytes, { ...given, codes, scales }, { ...to, params: { block } });
  else {
    const how = offsets === undefined ? { zero: 8, slope: 0 } : { zero: 0, slope: 1 };
    run(rowsOfNibbles, { ...given, codes, scales, offsets: offsets ?? scales }, { ...to, params: { block, ...how } });
  }
  return x;
}

const TO_CACHE = { type: 'f32', access: 'scatter', rank: 4, mode: 'set' } as const;

const rotations = defineKernel(
  'rotations',
  { inputs: { frequencies: 'f32', positions: 'u32' } },
  ({ frequencies, positions }, k) => {
    const angle = k.mul(k.toF32(positions), frequencies);
    return { cos: k.cos(angle), sin: k.sin(angle) };
  },
);

/** Cosines and sines of the rotations of elements, `[batch, length, heads, headDim]` each. */
export interface Rotations {
  readonly cos: Tensor;
  readonly sin: Tensor;
}

/** The rotations of new tokens at their positions, of elements with {@link frequenciesOf}. */
export function rotationsOf(frequencies: Tensor, positions: Tensor): Rotations {
  const shape = [...positions.shape, ...frequencies.shape];
  return run(rotations, { frequencies, positions: unsqueeze(positions, [2, 3]) }, { shape });
}

const rotateRows = defineKernel(
  'rotate and append',
  {
    inputs: { x: 'f32', rows: { type: 'f32', access: 'gather', rank: 4 }, cos: 'f32', sin: 'f32', positions: 'u32' },
    outputs: { keys: TO_CACHE, values: TO_CACHE },
    params: { heads: 'u32', kvHeads: 'u32', distance: 'u32' },
  },
  ({ x, rows, cos, sin, positions, heads, kvHeads, distance }, k) => {
    const [text, row, head, at] = [k.index(0), k.index(1), k.index(-2), k.index(-1)];
    const other = k.select(k.eq(k.and(k.div(at, distance), 1), 0), k.add(at, distance), k.sub(at, distance));
    const rotated = k.add(k.mul(x, cos), k.mul(k.gather(rows, [text, row, head, other], 0), sin));
    // Heads that are of something else are outside, and not stored.
    const key = k.sub(head, heads);
    return {
      rotated,
      keys: k.scatter(rotated, [text, positions, key, at]),
      values: k.scatter(x, [text, positions, k.sub(key, kvHeads), at]),
    };
  },
);

/**
 * Rotations queries and keys of new tokens, and writes keys and values at their positions: one launch.
 *
 * @param rows - queries, keys and values, `[batch, length, heads, headDim]`
 * @returns the queries
 */
export function rotateAndAppend(
  rows: Tensor,
  positions: Tensor,
  { cos, sin }: Rotations,
  interleaved: boolean,
  [keys, values]: readonly [Tensor, Tensor],
): Tensor {
  const { shape, dtype, backend } = rows;
  const [kvHeads = 1, headDim = 1] = keys.shape.slice(2);
  const heads = (shape[2] ?? 0) - 2 * kvHeads;
  const rotated = empty(backend, shape, { dtype });
  const params = { heads, kvHeads, distance: interleaved ? 1 : headDim / 2 };
  const given = { x: rows, rows, cos, sin, positions: unsqueeze(positions, [2, 3]) };
  run(rotateRows, given, { shape, params, out: { rotated, keys, values } });
  return slice(rotated, [null, null, [0, heads]]);
}

/**
 * What each element of queries, keys and values is rotated by, `[heads + 2 kvHeads, headDim]`, in radians per position: the first of
 * a pair backwards, as it takes the other with a minus; 0 for values.
 *
 * @param frequencies - of pairs; undefined: nothing is rotated
 */
export function frequenciesOf(frequencies: Float32Array | undefined, config: Config): Float32Array {
  const { heads, kvHeads, headDim, interleaved } = config;
  const row = Array.from({ length: headDim }, (_, at) => {
    const [pair, isSecond] = interleaved ? [at >> 1, at % 2] : [at % (headDim / 2), Number(2 * at >= headDim)];
    return (2 * isSecond - 1) * (frequencies?.[pair] ?? 0);
  });
  return Float32Array.from({ length: (heads + 2 * kvHeads) * headDim }, (_, at) =>
    at < (heads + kvHeads) * headDim ? (row[at % headDim] as number) : 0,
  );
}
