import { expect, it } from 'vitest';
import {
  matchesGlob,
  NOTHING_TUNED,
  pickVariant,
  sizeStep,
  type VariantPick,
  type VariantPreferences,
} from './variant-choice.ts';

const [small, large] = [{ id: 'gemm/tiled-32x32' }, { id: 'gemm/tiled-128x128' }];

function picked(given: Partial<VariantPreferences>, note?: (pick: VariantPick) => void): string {
  const preferences = { forced: [], tuned: NOTHING_TUNED, ...given };
  const chooser = { traits: { preferences }, ...(note === undefined ? {} : { notePick: note }) };
  return pickVariant(chooser, { shapeClass: () => 'gemm 10', candidates: [small, large], preferred: small }).id;
}

it('is the forced one, else the measured one, else what the plan prefers', () => {
  const tuned = { 'gemm 10': large.id };
  expect(picked({})).toBe(small.id);
  expect(picked({ tuned })).toBe(large.id);
  expect(picked({ tuned, forced: [small.id] })).toBe(small.id);
  expect(picked({ tuned: { 'gemm 11': large.id } })).toBe(small.id);
});

it('passes over what cannot compute the call', () => {
  expect(picked({ forced: ['conv2d/*', 'gemm/none', 'gemm/*-128x*'] })).toBe(large.id);
  expect(picked({ tuned: { 'gemm 10': 'gemm/gone' } })).toBe(small.id);
});

it('tells what was asked', () => {
  const picks: VariantPick[] = [];
  picked({ forced: [large.id] }, (pick) => picks.push(pick));
  const candidates = [small.id, large.id];
  expect(picks).toEqual([{ shapeClass: 'gemm 10', candidates, preferred: small.id, picked: large.id }]);
});

const excluded = (...ids: readonly string[]): NonNullable<VariantPreferences['excluded']> =>
  new Map(ids.map((id) => [id, { id, reason: `kernel ${id} f32 does not build`, log: `log of ${id}` }]));

it('is none that is excluded, whatever asks for it', () => {
  expect(picked({ excluded: excluded(small.id) })).toBe(large.id);
  expect(picked({ excluded: excluded(large.id), forced: [large.id, 'gemm/*'], tuned: { 'gemm 10': large.id } })).toBe(
    small.id,
  );
  const picks: VariantPick[] = [];
  picked({ excluded: excluded(small.id) }, (pick) => picks.push(pick));
  expect(picks).toEqual([{ shapeClass: 'gemm 10', candidates: [large.id], preferred: large.id, picked: large.id }]);
});

it('says why of each when none is left', () => {
  const message =
    /no kernel variant works for gemm 10: gemm\/tiled-32x32: kernel .* does not build: log of .*; gemm\/tiled-128x128: /;
  expect(() => picked({ excluded: excluded(small.id, large.id) })).toThrow(message);
});

it.each([
  ['gemm/tiled-64x64x16', true],
  ['gemm/*', true],
  ['*64x64*', true],
  ['*', true],
  ['gemm/tiled', false],
  ['gemm.tiled-64x64x16', false],
  ['conv2d/*', false],
])('%s', (pattern, isMatch) => {
  expect(matchesGlob('gemm/tiled-64x64x16', pattern)).toBe(isMatch);
});

it('sizes of a class are up to the next power of two', () => {
  expect([1, 2, 3, 4, 5, 4095, 4096, 4097, 0].map(sizeStep)).toEqual([0, 1, 2, 2, 3, 12, 12, 13, 0]);
});
