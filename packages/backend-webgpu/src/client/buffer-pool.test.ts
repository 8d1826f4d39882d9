import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BufferPool, sizeClass } from './buffer-pool.ts';

it('a size class holds the size, wastes at most an eighth or 256 bytes, and is its own class', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 32 }), (bytes) => {
      const size = sizeClass(bytes);
      expect(size).toBeGreaterThanOrEqual(bytes);
      expect(size - bytes).toBeLessThanOrEqual(Math.max(bytes / 8, 256));
      expect(size % 4).toBe(0);
      expect(sizeClass(size)).toBe(size);
    }),
  );
});

it('who waits also waits for what the device makes of an allocation', async () => {
  const scopes: ((error: { message: string } | null) => void)[] = [];
  const device = {
    limits: { maxBufferSize: 2 ** 30 },
    pushErrorScope: () => undefined,
    popErrorScope: () => new Promise((resolve) => void scopes.push(resolve)),
    createBuffer: () => ({}),
  } as unknown as GPUDevice;
  const checks: Promise<void>[] = [];
  const errors: unknown[] = [];
  const pool = new BufferPool({
    context: { device, awaiting: (start) => start() },
    maxPooledBytes: 0,
    onError: (error) => errors.push(error),
    onCheck: (check) => checks.push(check),
    flush: () => undefined,
  });
  pool.take(8192, 'weights');
  expect(checks).toHaveLength(1);
  // Popped in reverse: internal, out-of-memory, validation.
  for (const [index, resolve] of scopes.entries()) resolve(index === 1 ? { message: 'no room' } : null);
  await Promise.all(checks);
  expect(errors).toMatchObject([{ code: 'OUT_OF_MEMORY', detail: '8192 bytes for weights: no room', op: 'alloc' }]);
});
