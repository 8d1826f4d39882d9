import type { DevicePtr } from '@concord/backend-core';
import { profile } from '@concord/backend-core/profile';
import { describe, expect, it } from 'vitest';
import { WasmBackend } from '../src/index.ts';

const N = 256;

describe.each([
  [{ threads: 2 }, 'threads', 'host'],
  [{ mode: 'inline' }, 'inline', 'host'],
  [{ mode: 'worker' }, 'worker', undefined],
] as const)('with %o', (options, mode, clock) => {
  it(`launches have the time of the ${clock ?? 'queueing alone'}`, async () => {
    await using backend = await WasmBackend.create(options);
    expect(backend.native.mode).toBe(mode);
    const [a, b, c] = [0, 1, 2].map(() => backend.alloc(4 * N * N)) as [DevicePtr, DevicePtr, DevicePtr];
    const recording = backend.record(() => backend.gemm({ m: N, n: N, k: N, a, b, c }));
    const work = (): void => {
      backend.binary({ op: 'add', n: 4, a, b, output: c });
      recording.replay();
    };
    await profile(backend, work);
    const { launches, wallMs } = await profile(backend, work);
    const [, large] = launches;
    expect(launches.map(({ kernel, isReplay }) => [kernel, isReplay])).toEqual([
      ['add', false],
      ['gemm', true],
    ]);
    expect(launches.map((launch) => launch.clock)).toEqual([clock, clock]);
    if (clock === undefined) return;
    expect(large?.ms).toBeLessThan(wallMs);
    // 33 million operations take longer than four: the least of some, as a launch may wait for a busy machine.
    const least = launches.map(({ ms }) => ms ?? Infinity);
    for (let round = 0; round < 20; round++) {
      const again = (await profile(backend, work)).launches;
      for (const [index, { ms }] of again.entries()) least[index] = Math.min(least[index] as number, ms ?? Infinity);
    }
    expect(least[1]).toBeGreaterThan(least[0] as number);
    expect(least[1]).toBeGreaterThan(0.1);
  });
});
