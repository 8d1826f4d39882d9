import { expect, it } from 'vitest';
import type { Backing } from '../kernels/recorder.ts';
import { MAX_PIECE, SLAB_BYTES, Slabs } from './slabs.ts';

/** Slabs of buffers that are nothing but themselves, and counts of how many were taken and given back. */
function made(): { slabs: Slabs; counts: { taken: number; given: number } } {
  const counts = { taken: 0, given: 0 };
  const slabs = new Slabs(
    () => ({ gpu: { number: ++counts.taken } }) as unknown as Backing,
    () => void counts.given++,
  );
  return { slabs, counts };
}

it.each([1, 256, 300, MAX_PIECE])('pieces of %d bytes fill a buffer without lying in one another', (bytes) => {
  const { slabs, counts } = made();
  const piece = Math.max(256, 2 ** Math.ceil(Math.log2(bytes)));
  const perSlab = SLAB_BYTES / piece;
  const backings = Array.from({ length: 2 * perSlab }, () => slabs.take(bytes));
  expect(counts.taken).toBe(2);
  for (const gpu of new Set(backings.map((backing) => backing.gpu))) {
    const starts = backings.filter((backing) => backing.gpu === gpu).map(({ start }) => start);
    expect(starts.sort((a, b) => a - b)).toEqual(Array.from({ length: perSlab }, (_, i) => i * piece));
  }
});

it('a piece that came back is handed out before another buffer is taken', () => {
  const { slabs, counts } = made();
  const backings = Array.from({ length: SLAB_BYTES / 256 }, () => slabs.take(256));
  const { start, slab } = backings[7] as (typeof backings)[number];
  slabs.release(start, slab);
  expect(slabs.take(200)).toEqual({ gpu: slab.whole.gpu, start, slab });
  expect(counts.taken).toBe(1);
  slabs.take(256);
  expect(counts.taken).toBe(2);
});

it('a buffer goes back with its last piece', () => {
  const { slabs, counts } = made();
  const backings = Array.from({ length: 3 }, () => slabs.take(1024));
  for (const [index, { start, slab }] of backings.entries()) {
    expect(counts.given).toBe(0);
    slabs.release(start, slab);
    expect(counts.given).toBe(index === 2 ? 1 : 0);
  }
  slabs.take(1024);
  expect(counts.taken).toBe(2);
});
