import { expect, it } from 'vitest';
import { philox4x32, randomWord, type Words } from './philox.ts';

// Random123, examples/kat_vectors: philox4x32 10.
it.each<[Words, readonly [number, number], Words]>([
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
])('philox4x32(%j, %j)', (counter, key, want) => {
  expect(philox4x32(counter, key)).toEqual(want);
});

it('four neighbours share a block; the stream is another', () => {
  expect([0, 1, 2, 3].map((index) => randomWord(0, index, 0))).toEqual(philox4x32([0, 0, 0, 0], [0, 0]));
  expect(randomWord(7, 0xfffffffe, 5)).toBe(philox4x32([0x3fffffff, 5, 0, 0], [7, 0])[2]);
});
