import { expect, it } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

const poolOf = (device: object, options: Partial<ConstructorParameters<typeof BufferPool>[0]> = {}): BufferPool =>
  new BufferPool({
    context: {
      device: { limits: { maxBufferSize: 2 ** 30 }, ...device } as unknown as GPUDevice,
      awaiting: (start) => start(),
    },
    ...{ maxPooledBytes: 0, onError: () => undefined, onCheck: () => undefined, flush: () => undefined },
    ...options,
  });

it('who waits also waits for what the device makes of an allocation', async () => {
  const scopes: ((error: { message: string } | null) => void)[] = [];
  const device = {
    pushErrorScope: () => undefined,
    popErrorScope: () => new Promise((resolve) => void scopes.push(resolve)),
    createBuffer: () => ({}),
  };
  const checks: Promise<void>[] = [];
  const errors: unknown[] = [];
  const pool = poolOf(device, {
    onError: (error) => errors.push(error),
    onCheck: (check) => checks.push(check),
  });
  pool.take(8192, 'weights');
  expect(checks).toHaveLength(1);
  // Popped in reverse: internal, out-of-memory, validation.
  for (const [index, resolve] of scopes.entries()) resolve(index === 1 ? { message: 'no room' } : null);
  await Promise.all(checks);
  expect(errors).toMatchObject([{ code: 'OUT_OF_MEMORY', detail: '8192 bytes for weights: no room', op: 'alloc' }]);
});

it('large memory that work asks for again is not given up for other memory each time', () => {
  const made: number[] = [];
  const device = {
    pushErrorScope: () => undefined,
    popErrorScope: async () => null,
    createBuffer: ({ size }: { size: number }) => {
      made.push(size);
      return { destroy: () => undefined };
    },
    queue: { submit: () => undefined },
  };
  const pool: BufferPool = poolOf(device, { maxPooledBytes: 2 ** 29, flush: () => pool.destroyRetired() });
  const [small, large] = [75, 100].map((megabytes) => megabytes * 2 ** 20) as [number, number];
  for (let turn = 0; turn < 3; turn++) {
    for (const size of [small, large]) pool.release(pool.take(size, 'work'));
  }
  // The second made room for itself once.
  expect(made).toEqual([small, large, small]);
});
