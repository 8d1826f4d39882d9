import { expect, it, vi } from 'vitest';
import { MAX_UNIFORM_BYTES, UniformRing } from './batch.ts';

it('uniforms of a batch lie apart, the largest too', () => {
  const writeBuffer = vi.fn();
  const device = { limits: { minUniformBufferOffsetAlignment: 256 }, queue: { writeBuffer }, createBuffer: vi.fn() };
  const ring = new UniformRing(device as unknown as GPUDevice);
  const count = MAX_UNIFORM_BYTES / 4;
  const all = [1, 2, 3].map((value) => new Uint32Array(count).fill(value));
  const offsets = all.map((words) => ring.write(words));
  ring.upload();
  const sent = (writeBuffer.mock.calls[0] as unknown[])[2] as Uint32Array;
  for (const [i, words] of all.entries()) {
    const start = (offsets[i] as number) / 4;
    expect(sent.slice(start, start + count)).toEqual(words);
  }
});
