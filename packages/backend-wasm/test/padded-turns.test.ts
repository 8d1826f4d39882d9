import { download, upload } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { WasmBackend } from '../src/index.ts';

// Images are padded in turns of 64 MiB; each of these takes 36 MB, and has another number in each channel.
it('a padded convolution with groups takes its images in turns', async () => {
  const [images, channels, groups, size] = [3, 4, 2, 1500];
  const plane = size * size;
  const input = new Float32Array(images * channels * plane);
  for (let i = 0; i < images * channels; i++) input.fill(i + 1, i * plane, (i + 1) * plane);
  await using backend = await WasmBackend.create();
  const output = backend.alloc(4 * images * groups * 9);
  backend.conv2dForward({
    inputShape: [images, channels, size, size],
    filterShape: [groups, channels / groups, 3, 3],
    outputShape: [images, groups, 3, 3],
    groups,
    stride: [500, 500],
    padding: [1, 1],
    input: upload(backend, input),
    filter: upload(backend, new Float32Array(groups * (channels / groups) * 9).fill(1)),
    output,
  });
  // The first row and column of windows have one row and column of zeros.
  const seen = [2, 3, 3];
  const expected = Array.from({ length: images * groups }, (_, group) => 4 * group + 3).flatMap((sum) =>
    seen.flatMap((rows) => seen.map((columns) => rows * columns * sum)),
  );
  expect([...(await download(backend, output, expected.length))]).toEqual(expected);
});
