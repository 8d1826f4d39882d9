import type { FloatDType } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { empty, QuantizedTensor, run, type Tensor, unsqueeze } from '@concord/ops';
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

const appendRows = defineKernel(
  'append',
  { inputs: { k: 'f32', v: 'f32', positions: 'u32' }, outputs: { keys: TO_CACHE, values: TO_CACHE } },
  ({ k: key, v: value, positions }, k) => {
    const at = [k.index(0), positions, k.index(-2), k.index(-1)] as const;
    return { keys: k.scatter(key, at), values: k.scatter(value, at) };
  },
);

/** Writes the keys and values of new tokens, `[batch, length, heads, headDim]`, at their positions. */
export function append(k: Tensor, v: Tensor, positions: Tensor, keys: Tensor, values: Tensor): void {
  run(appendRows, { k, v, positions: unsqueeze(positions, [2, 3]) }, { shape: k.shape, out: { keys, values } });
}
