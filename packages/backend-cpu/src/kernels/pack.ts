/**
 * Packing for the tile kernel: copies a block of a strided matrix into the planes of tile.ts and converts it to
 * float64 on the way, so that the inner loop reads consecutive float64 only.
 *
 * A block is seen as `vectors` (rows of A, columns of B) of `depth` elements. One of the two directions is contiguous
 * in memory. Along the depth that is a plain copy; across the vectors four of them are filled at a time, so that a
 * cache line of the source is not fetched once per element.
 */

import { decodeBlock, type Storage } from './half.ts';

/**
 * Packs element `source[start + v * vectorStride + p * depthStride]` to
 * `planes[v % T][offset + floor(v / T) * depth + p]`, T being the number of planes. One of the strides must be 1, or
 * the direction only one element long.
 */
export function packPanels(
  planes: readonly Float64Array[],
  source: Storage,
  start: number,
  vectorStride: number,
  depthStride: number,
  vectors: number,
  depth: number,
  offset = 0,
): void {
  const alongDepth = depthStride === 1;
  if (source instanceof Uint16Array) {
    if (alongDepth) {
      const decoded = decodeBlock(source, start, vectorStride, vectors, depth);
      packAlongDepth(planes, decoded, 0, depth, vectors, depth, offset);
    } else {
      const decoded = decodeBlock(source, start, depthStride, depth, vectors);
      packAcross(planes, decoded, 0, vectors, vectors, depth, offset);
    }
  } else if (alongDepth) {
    packAlongDepth(planes, source, start, vectorStride, vectors, depth, offset);
  } else {
    packAcross(planes, source, start, depthStride, vectors, depth, offset);
  }
}

/** Where vector `v` starts in its plane. */
export function panelStart(v: number, tile: number, depth: number): number {
  return Math.floor(v / tile) * depth;
}

function packAlongDepth(
  planes: readonly Float64Array[],
  source: Float32Array,
  start: number,
  stride: number,
  vectors: number,
  depth: number,
  offset: number,
): void {
  const tile = planes.length;
  for (let v = 0; v < vectors; v++) {
    const plane = planes[v % tile] as Float64Array;
    const to = offset + panelStart(v, tile, depth);
    const from = start + v * stride;
    for (let p = 0; p < depth; p++) plane[to + p] = source[from + p] as number;
  }
}

function packAcross(
  planes: readonly Float64Array[],
  source: Float32Array,
  start: number,
  stride: number,
  vectors: number,
  depth: number,
  offset: number,
): void {
  const tile = planes.length;
  const plane = (v: number): Float64Array => planes[v % tile] as Float64Array;
  let v = 0;
  for (; v + 4 <= vectors; v += 4) {
    const plane0 = plane(v);
    const plane1 = plane(v + 1);
    const plane2 = plane(v + 2);
    const plane3 = plane(v + 3);
    const to0 = offset + panelStart(v, tile, depth);
    const to1 = offset + panelStart(v + 1, tile, depth);
    const to2 = offset + panelStart(v + 2, tile, depth);
    const to3 = offset + panelStart(v + 3, tile, depth);
    for (let p = 0, from = start + v; p < depth; p++, from += stride) {
      plane0[to0 + p] = source[from] as number;
      plane1[to1 + p] = source[from + 1] as number;
      plane2[to2 + p] = source[from + 2] as number;
      plane3[to3 + p] = source[from + 3] as number;
    }
  }
  for (; v < vectors; v++) {
    const last = plane(v);
    const to = offset + panelStart(v, tile, depth);
    for (let p = 0, from = start + v; p < depth; p++, from += stride) last[to + p] = source[from] as number;
  }
}
