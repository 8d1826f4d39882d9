import { beforeEach, describe, expect, it } from 'vitest';
import { FakeDevice } from '../../test/support/fake-device.ts';
import { RESULTS } from '../ffi/result.ts';
import { MemoryPool } from './memory-pool.ts';
import { Submissions } from './submissions.ts';

describe('a pool', () => {
  let fake: FakeDevice;
  let submissions: Submissions;
  let pool: MemoryPool;
  beforeEach(() => {
    fake = new FakeDevice();
    submissions = new Submissions(fake.device, () => undefined);
    pool = new MemoryPool({
      ...{ device: fake.device, submissions, maxAllocationBytes: 2 ** 32, plainAllocationBytes: 2 ** 32 },
      ...{ maxPooledBytes: 2 ** 20, flush: () => submissions.submit('flush'), releaseHost: () => false },
    });
  });
  const LARGE = 2 ** 26 + 1;

  it('hands a block out once, and again when it came back', () => {
    const first = pool.take(1000, 'x');
    expect(pool.take(1000, 'y').address).not.toBe(first.address);
    pool.release(first);
    expect(pool.counters).toMatchObject({ live: 1, pooledBytes: 1024, allocatedBytes: 2048 });
    const again = pool.take(1020, 'z');
    expect(again.address).toBe(first.address);
    expect(again.id).not.toBe(first.id);
    expect(pool.counters).toMatchObject({ live: 2, pooledBytes: 0, allocatedBytes: 2048, peakBytes: 2048 });
    expect(pool.take(1020, 'w').address).not.toBe(first.address);
  });

  it.each([
    ['large', [LARGE]],
    ['beyond what is kept', [2 ** 19, 2 ** 19, 2 ** 19]],
  ])('frees memory when the work that uses it is done, not before: %s', (_, sizes) => {
    const taken = sizes.map((size) => pool.take(size, 'x'));
    void submissions.list;
    for (const each of taken) pool.release(each);
    expect(fake.count('zeMemFree')).toBe(0);
    submissions.submit('gemm');
    pool.collect();
    expect(fake.count('zeMemFree')).toBe(0);
    fake.finish();
    pool.collect();
    expect(fake.count('zeMemFree')).toBeGreaterThan(0);
    expect(pool.counters.retiredBytes).toBe(0);
    expect(pool.counters.allocatedBytes).toBe(pool.counters.pooledBytes);
  });

  it('makes room for an allocation that the device refuses, if it can', () => {
    pool.release(pool.take(2 ** 19, 'x'));
    fake.refusals['zeMemAllocDevice'] = [RESULTS.ERROR_OUT_OF_DEVICE_MEMORY];
    const y = pool.take(2 ** 20, 'y');
    expect(pool.counters).toMatchObject({ live: 1, pooledBytes: 0, allocatedBytes: y.block.size });
    fake.refusals['zeMemAllocDevice'] = [RESULTS.ERROR_OUT_OF_DEVICE_MEMORY];
    expect(() => pool.take(2 ** 19, 'weights')).toThrow(/524288 bytes for weights, 1048576 in use/);
  });

  it('frees everything at its end, what is handed out too', () => {
    const kept = [pool.take(100, 'x'), pool.take(LARGE, 'y')];
    pool.release(pool.take(5000, 'z'));
    pool.release(pool.take(LARGE, 'w'));
    pool.destroy(kept);
    expect(fake.allocations).toBe(0);
    expect(pool.counters).toMatchObject({ allocatedBytes: 0, pooledBytes: 0, retiredBytes: 0, live: 0 });
  });
});
