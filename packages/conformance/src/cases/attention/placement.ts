import { type AttentionCall, type DevicePtr, type HeadStrides, offsetPtr } from '@concord/backend-core';
import { nameSlots, type Slot, type Slots } from '../../harness/workspace.ts';
import { type AttentionParams, dtypeKvOf, kvHeadsOf, maskDtypeOf, valueDimOf, viewsOf } from './suite.ts';

/** The input of a case: packed, also where the case lays them out otherwise. */
export interface AttentionOperands {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  /** The mask as it is stored, with the strides of `maskStridesOf`. */
  readonly mask: Float32Array | undefined;
  /** The numbers of keys of each batch, or of all. */
  readonly lengths?: readonly number[] | undefined;
  readonly starts?: readonly number[] | undefined;
}

/** The operands that a call may leave out. */
type PlacedViews = Pick<AttentionCall, 'mask' | 'lengths' | 'starts' | 'lse'>;

/** The operands in a workspace. Pointers are valid while the op runs. */
export interface PlacedAttention {
  readonly strides: { readonly [Name in 'q' | 'k' | 'v' | 'o']?: HeadStrides };
  pointers(): { q: DevicePtr; k: DevicePtr; v: DevicePtr; o: DevicePtr } & PlacedViews;
  /** O after the op, packed. */
  output(): Float32Array;
  /** The logarithms after the op, where they are wanted. */
  readonly lse: Slot | undefined;
}

/** Elements after each row, head and batch of `padded`; in the inputs they are NaN. */
const GAPS = { row: { q: 3, k: 3, v: 4, o: 7 }, head: 5, batch: 2 };

/**
 * Puts the operands into a workspace. `packed`: as the defaults have it. `interleaved`: `[batch, seq, heads, dim]`.
 * `padded`: with gaps after each row, head and batch. `joined`: Q, K and V in one operand, `[batch, seq, heads of all
 * three, dim]`, which needs as many queries as keys. `only q`: Q interleaved, the others packed, and the call says the strides of Q alone.
 */
export function placeAttention(
  workspace: Slots,
  params: AttentionParams,
  operands: AttentionOperands,
): PlacedAttention {
  const { batch, seqQ, headDim, dtype, layout, heads } = params;
  const kvHeads = kvHeadsOf(params);
  const extents = extentsOf(params);
  const views = viewsOf(params);
  const given = Object.entries({ mask: maskDtypeOf(params), lengths: 'u32', starts: 'i32' } as const).flatMap(
    ([name, type]) => {
      const values = operands[name as 'mask' | 'lengths' | 'starts'];
      return values === undefined ? [] : [{ name, slot: workspace.input(values, type) }];
    },
  );
  const lse = params.lse ? workspace.output(batch * heads * seqQ, 'f32') : undefined;
  const viewFields = (): PlacedViews =>
    Object.fromEntries(
      [...given, ...(lse === undefined ? [] : [{ name: 'lse', slot: lse }])].map(({ name, slot }) => [
        name,
        { ptr: slot.ptr, ...views[name as keyof PlacedViews] },
      ]),
    ) as PlacedViews;
  const outputStrides = stridesOf(extents.o, layout, 'o');
  const outputAt = (): Slot => {
    const o = workspace.output(lengthOf(extents.o, outputStrides), dtype);
    nameSlots({ o });
    return o;
  };

  if (layout === 'joined') {
    const row = (heads + kvHeads) * headDim + kvHeads * valueDimOf(params);
    const strides: HeadStrides = [seqQ * row, headDim, row];
    const vStrides: HeadStrides = [seqQ * row, valueDimOf(params), row];
    const all = new Float32Array(batch * seqQ * row).fill(Number.NaN);
    const starts = { q: 0, k: heads * headDim, v: (heads + kvHeads) * headDim };
    spread(all.subarray(starts.q), operands.q, extents.q, strides);
    spread(all.subarray(starts.k), operands.k, extents.k, strides);
    spread(all.subarray(starts.v), operands.v, extents.v, vStrides);
    const slot = workspace.input(all, dtype);
    const o = outputAt();
    const bytes = dtype === 'f16' ? 2 : 4;
    const at = (start: number): DevicePtr => offsetPtr(slot.ptr, bytes * start);
    return {
      strides: { q: strides, k: strides, v: vStrides, o: outputStrides },
      pointers: () => ({ q: at(starts.q), k: at(starts.k), v: at(starts.v), o: o.ptr, ...viewFields() }),
      output: () => o.rows(startsOf(extents.o, outputStrides), valueDimOf(params)),
      lse,
    };
  }
  const slots = (['q', 'k', 'v'] as const).map((name) => {
    const extent = extents[name];
    const strides = stridesOf(extent, layout, name);
    const all = new Float32Array(lengthOf(extent, strides)).fill(Number.NaN);
    spread(all, operands[name], extent, strides);
    return { slot: workspace.input(all, name === 'q' ? dtype : dtypeKvOf(params)), strides };
  });
  const [q, k, v] = slots as [(typeof slots)[0], (typeof slots)[0], (typeof slots)[0]];
  const o = outputAt();
  return {
    strides: saidStrides(layout, { q: q.strides, k: k.strides, v: v.strides, o: outputStrides }),
    pointers: () => ({ q: q.slot.ptr, k: k.slot.ptr, v: v.slot.ptr, o: o.ptr, ...viewFields() }),
    output: () => o.rows(startsOf(extents.o, outputStrides), valueDimOf(params)),
    lse,
  };
}

/** The axes of an operand. */
export type Extent = readonly [batch: number, heads: number, rows: number, columns: number];

/** The axes of each operand. */
export function extentsOf(params: AttentionParams): Readonly<Record<'q' | 'k' | 'v' | 'o', Extent>> {
  const { batch, heads, seqQ, seqKv, headDim } = params;
  const [kvHeads, valueDim] = [kvHeadsOf(params), valueDimOf(params)];
  return {
    q: [batch, heads, seqQ, headDim],
    k: [batch, kvHeads, seqKv, headDim],
    v: [batch, kvHeads, seqKv, valueDim],
    o: [batch, heads, seqQ, valueDim],
  };
}

/** The strides that a call says: all, none, or those of one operand. */
export function saidStrides(
  layout: AttentionParams['layout'],
  all: PlacedAttention['strides'],
): PlacedAttention['strides'] {
  const isSaid = (name: string): boolean =>
    layout !== 'packed' && (!layout.startsWith('only') || layout === `only ${name}`);
  return Object.fromEntries(Object.entries(all).filter(([name]) => isSaid(name)));
}

/** Strides of an operand in each layout but `joined`. */
export function stridesOf(
  [, heads, rows, headDim]: Extent,
  layout: AttentionParams['layout'],
  name: keyof (typeof GAPS)['row'],
): HeadStrides {
  if (layout === 'packed' || (layout.startsWith('only') && layout !== `only ${name}`)) {
    return [heads * rows * headDim, rows * headDim, headDim];
  }
  if (layout !== 'padded') return [rows * heads * headDim, headDim, heads * headDim];
  const row = headDim + GAPS.row[name];
  const head = rows * row + GAPS.head;
  return [heads * head + GAPS.batch, head, row];
}

/** Elements from the first to the last. */
export function lengthOf([batch, heads, rows, headDim]: Extent, strides: HeadStrides): number {
  return (batch - 1) * strides[0] + (heads - 1) * strides[1] + (rows - 1) * strides[2] + headDim;
}

/** Returns the start of each row, in the order of a packed operand. */
export function startsOf([batch, heads, rows]: Extent, strides: HeadStrides): number[] {
  return Array.from({ length: batch * heads * rows }, (_, index) => {
    const row = index % rows;
    const head = Math.floor(index / rows) % heads;
    return Math.floor(index / rows / heads) * strides[0] + head * strides[1] + row * strides[2];
  });
}

function spread(to: Float32Array, packed: Float32Array, extent: Extent, strides: HeadStrides): void {
  const headDim = extent[3];
  for (const [index, start] of startsOf(extent, strides).entries()) {
    to.set(packed.subarray(index * headDim, (index + 1) * headDim), start);
  }
}
