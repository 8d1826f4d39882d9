import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  concat,
  flip,
  memory,
  pad,
  slice,
  stack,
  type Tensor,
  tensor,
  tidy,
  tile,
  tril,
  triu,
  unsqueeze,
  zeros,
} from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const x = (...shape: number[]): Tensor => zeros(backend, shape);

test.each<[string, () => unknown, RegExp]>([
  ['concat of nothing', () => concat([]), /concat: takes at least one tensor/],
  ['concat of other sizes', () => concat([x(2, 3), x(2, 4)]), /but for axis 0, got \[2, 3\], \[2, 4\]/],
  ['concat of other ranks', () => concat([x(2, 3), x(2)]), /got \[2, 3\], \[2\]/],
  ['concat of numbers without axes', () => concat([tensor(backend, 1)]), /\[\] has no axis 0/],
  ['concat of kinds', () => concat([x(2), tensor(backend, Int32Array.of(1))]), /f32\[2\], i32\[1\]/],
  ['concat along no axis', () => concat([x(2)], { axis: 1 }), /\[2\] has no axis 1/],
  ['stack of shapes', () => stack([x(2), x(3)]), /stack: shapes must be the same .* got \[1, 2\], \[1, 3\]/],
  ['stack of ranks', () => stack([x(2), tensor(backend, 1)]), /stack: shapes must be the same/],
  ['pads of too few axes', () => pad(x(2, 3), [[1, 1]]), /of each axis of \[2, 3\], got \[\[1, 1\]\]/],
  ['negative pads', () => pad(x(2), [[-1, 1]]), /got \[\[-1, 1\]\]/],
  [
    'an unknown mode',
    () => pad(x(2), [[1, 1]], { mode: 'mirror' as 'edge' }),
    /constant, reflect, edge, symmetric, wrap, got mirror/,
  ],
  [
    'an edge of nothing',
    () =>
      pad(
        x(2, 0),
        [
          [0, 0],
          [1, 0],
        ],
        { mode: 'edge' },
      ),
    /axis 1 of \[2, 0\] has no edge/,
  ],
  ['a repetition of nothing', () => pad(x(0), [[0, 1]], { mode: 'wrap' }), /axis 0 of \[0\] has no edge for mode wrap/],
  ['negative repeats', () => tile(x(2), [-1]), /tile: shape \[-1\] has -1/],
  ['too many repeats', () => tile(x(2, 2, 2, 2, 2), [2, 2, 2, 2, 2]), /tile: \[2, 2, 2, 2, 2\] by .* more than 8/],
  ['flip of no axis', () => flip(x(2), { axis: 1 }), /\[2\] has no axis 1/],
  ['a step of 0', () => slice(x(2), [[null, null, 0]]), /slice: step 0 of axis 0 is no step/],
  ['half a step', () => slice(x(2), [[null, null, -0.5]]), /step -0.5 of axis 0/],
  ['a place backwards', () => slice(x(2), [[0.5, null, -1]]), /place 0.5 of axis 0/],
  ['new axes at one place', () => unsqueeze(x(2, 3), [1, -3]), /unsqueeze: axes \[1, 1\] name one twice/],
  ['a new axis beyond the end', () => unsqueeze(x(2, 3), [0, 4]), /unsqueeze: \[2, 3, 1, 1\] has no axis 4/],
  ['more axes than 8', () => unsqueeze(x(2, 3, 4, 5, 6, 7), [0, 1, 2]), /unsqueeze: .* has more than 8 axes/],
  ['new axes of no list', () => unsqueeze(x(2), undefined as never), /unsqueeze: axes must be a list, got undefined/],
  ['a triangle of a row', () => triu(x(3)), /triu: takes matrices \[..., m, n\], got f32\[3\]/],
  ['half a diagonal', () => tril(x(2, 2), { diagonal: 0.5 }), /tril: diagonal of \[2, 2\] must be an integer, got 0.5/],
  ['no last diagonal', () => triu(x(2, 2), { diagonal: -Infinity }), /triu: diagonal .* got -Infinity/],
  ['a triangle in another out', () => triu(x(2, 2), { out: x(2, 3) }), /out is f32\[2, 3\], the result f32\[2, 2\]/],
  ['an out of another shape', () => pad(x(2), [[1, 1]], { out: x(3) }), /out is f32\[3\], the result f32\[4\]/],
])('%s is refused, with the shapes', (_, call, message) => {
  const before = memory();
  expect(() => tidy(call)).toThrow(message);
  expect(memory()).toEqual(before);
});
