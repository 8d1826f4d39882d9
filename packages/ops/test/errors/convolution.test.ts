import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conv1d, conv2d, convTranspose1d, convTranspose2d, memory, type Tensor, tidy, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const x = (...shape: number[]): Tensor => zeros(backend, shape);

test.each<[string, () => unknown, RegExp]>([
  ['too few axes', () => conv2d(x(3, 3), x(1, 1, 3, 3)), /conv2d: x \[3, 3\] does not fit w \[1, 1, 3, 3\]/],
  ['other channels', () => conv2d(x(1, 3, 4, 4), x(2, 2, 1, 1)), /x \[1, 3, 4, 4\] does not fit .* with 1 groups/],
  ['groups that do not divide', () => conv2d(x(1, 4, 4, 4), x(3, 2, 1, 1), { groups: 2 }), /with 2 groups/],
  ['no groups', () => conv2d(x(1, 0, 4, 4), x(3, 2, 1, 1), { groups: 0 }), /with 0 groups/],
  [
    'a filter larger than the image',
    () => conv2d(x(1, 1, 2, 2), x(1, 1, 3, 1)),
    /larger .* the result is \[1, 1, 0, 2\]/,
  ],
  ['a stride of 0', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { stride: 0 }), /stride .* at least 1, got 0/],
  ['a dilation for one axis', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { dilation: [1] as never }), /got \[1\]/],
  ['negative padding', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { padding: [0, -1] }), /padding .* got \[0, -1\]/],
  ['unknown padding', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { padding: 'full' as 'same' }), /got full/],
  [
    'a bias of another length',
    () => conv2d(x(1, 1, 2, 2), x(3, 1, 1, 1), { bias: x(2) }),
    /bias must be \[3\], got \[2\]/,
  ],
  [
    'a residual of another shape',
    () => conv2d(x(1, 1, 2, 2), x(3, 1, 1, 1), { residual: x(2, 2, 2) }),
    /residual \[2, 2, 2\]/,
  ],
  ['an unknown activation', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { activation: 'elu' as 'relu' }), /got elu/],
  ['an out of another shape', () => conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { out: x(1, 1, 2) }), /out is f32\[1, 1, 2\]/],
  ['conv1d of images', () => conv1d(x(1, 1, 2, 2), x(1, 1, 1)), /conv1d: x \[1, 1, 2, 2\] does not fit w \[1, 1, 1\]/],
  ['conv1d with other channels', () => conv1d(x(1, 2, 2), x(1, 1, 1)), /conv1d: x \[1, 2, 1, 2\] does not fit/],
  ['transposed, other channels', () => convTranspose2d(x(1, 3, 4, 4), x(2, 3, 1, 1)), /w \[c, k \/ groups, ...size\]/],
  [
    'padding same of transposed ones',
    () => convTranspose2d(x(1, 1, 2, 2), x(1, 1, 2, 2), { padding: 'same' as never }),
    /same/,
  ],
  [
    'an output padding of a stride',
    () => convTranspose2d(x(1, 1, 2, 2), x(1, 1, 2, 2), { stride: 2, outputPadding: 2 }),
    /outputPadding\[0\] must be below 2/,
  ],
  ['nothing left', () => convTranspose2d(x(1, 1, 1, 1), x(1, 1, 2, 2), { padding: 1 }), /is \[1, 1, 0, 0\]/],
  ['convTranspose1d of images', () => convTranspose1d(x(1, 1, 2, 2), x(1, 1, 1)), /does not fit w \[1, 1, 1\]/],
])('%s is refused, with the shapes', (_, call, message) => {
  const before = memory();
  expect(() => tidy(call)).toThrow(message);
  expect(memory()).toEqual(before);
});
