import { afterEach, describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import type { LaunchTimer } from '../implement/index.ts';
import type { ComputeBackend, DevicePtr, TracedPass } from '../index.ts';
import { defineKernel } from '../kernel/index.ts';
import { measureProfile, profile, sumLaunches, traceEvents } from './index.ts';

/** Times launches by a device's clock that stands at 5 s, a launch 2 ms each but for the first, which is not told. */
class TimedBackend extends MemoryBackend {
  readonly log: string[] = [];

  protected override startTimer(): LaunchTimer {
    this.log.push('started');
    const passes: TracedPass[] = [];
    const stop = async (): Promise<void> => {
      this.log.push('stopped');
      for (const [index, pass] of passes.entries()) {
        if (index > 0) Object.assign(pass, { startMs: 5_000 + 3 * index, ms: 2 });
      }
    };
    const { run } = this.kernels;
    Object.assign(run as object, { run: () => passes.push({ kernel: `k${passes.length}`, variant: 'run/any' }) });
    return { passes, stop };
  }
}

/** A backend of another author: an object that has the methods of the contract, and no trace. */
function foreign(backend: MemoryBackend): ComputeBackend {
  const methods = [
    'alloc',
    'copyHtod',
    'copyDtoh',
    'free',
    'gemm',
    'binary',
    'run',
    'plan',
    'record',
    'synchronize',
  ] as const;
  const own = Object.fromEntries(
    methods.map((name) => [name, (...args: never[]) => (backend[name] as Function)(...args)]),
  );
  const { name, device, contractVersion } = backend;
  return Object.assign(Object.create({ ...own, name, device, contractVersion }) as ComputeBackend);
}

async function opened<Of extends MemoryBackend>(backend: Of) {
  await backend.init();
  const [a, b, c] = [0, 1, 2].map(() => backend.alloc(4096)) as [DevicePtr, DevicePtr, DevicePtr];
  return { backend, a, b, c, add: () => backend.binary({ op: 'add', n: 8, a, b, output: c }) };
}

const gather = defineKernel(
  'look up',
  { inputs: { at: 'u32', table: { type: 'f32', access: 'gather', rank: 2 } } },
  ({ at, table }, k) => ({ y: k.fold('sum', k.gather(table, [at, k.index(-1)], 0)) }),
);

describe('a profile', () => {
  it('is of the device where it tells, and of nothing where it does not', async () => {
    const { backend, add } = await opened(new TimedBackend());
    const { launches, sums } = await profile(backend, () => [add(), add(), add()]);
    expect(launches.map(({ ms, clock }) => [ms, clock])).toEqual([
      [undefined, undefined],
      [2, 'device'],
      [2, 'device'],
    ]);
    const [first, second] = launches.flatMap(({ passes }) => passes).slice(1);
    expect(second?.startMs).toBeCloseTo((first?.startMs ?? 0) + 3, 6);
    for (const { startMs, passes } of launches) expect(passes[0]?.startMs ?? Infinity).toBeGreaterThan(startMs - 1e-3);
    // What one of them lacks is none of the sum.
    expect(sums).toMatchObject([{ name: 'binary add', launches: 3, replayed: 0, clock: 'mixed', bytes: 3 * 96 }]);
    expect(sums[0]?.ms).toBeUndefined();
    expect(backend.log).toEqual(['started', 'stopped']);
  });

  it('takes all passes of a launch, or the time of a host that waits; the longest come first', async () => {
    const { backend } = await opened(new MemoryBackend());
    const pass = { kernel: 'k', variant: 'any' };
    const launch = { isReplay: false, startMs: 0, hostMs: 1, isDone: false, passes: [] as TracedPass[] };
    backend.traceLaunches = (onLaunch) => {
      onLaunch({ ...launch, op: 'topK' });
      onLaunch({ ...launch, op: 'gemm', hostMs: 9, isDone: true });
      onLaunch({ ...launch, op: 'run', hostMs: 4 });
      onLaunch({
        ...launch,
        op: 'attention',
        passes: [
          { ...pass, ms: 5 },
          { ...pass, ms: 2 },
        ],
      });
      return { stop: async () => undefined };
    };
    const { sums } = await profile(backend, () => undefined);
    expect(sums.map(({ name, ms, clock }) => [name, ms, clock])).toEqual([
      ['gemm', 9, 'host'],
      ['attention', 7, 'device'],
      ['run', undefined, undefined],
      ['topK', undefined, undefined],
    ]);
  });

  it('has shares of the roofline: the larger of bytes and operations, of each launch', async () => {
    const { backend, a, b, c, add } = await opened(new TimedBackend());
    const limits = { gbs: 1e-4, gflops: 1e-3 };
    const work = (): void => {
      add();
      add();
      backend.run(gather, {
        ...{ shape: [2, 4], folded: 1 },
        inputs: { at: { ptr: a, strides: [4, 0] }, table: { ptr: b, shape: [100, 4] } },
        outputs: { y: { ptr: c } },
      });
    };
    const { launches } = await profile(backend, work, { limits });
    const sums = sumLaunches(launches.slice(1), ({ kernel }) => kernel, limits);
    // 96 bytes at 100 kB/s are 0.96 ms of 2; 8 operations at 1 Mflop/s 0.008.
    expect(sums).toMatchObject([
      { name: 'add', ms: 2, gbs: 48e-6, gflops: 4e-6, share: 0.48 },
      // 2 indices, 8 elements of the table at most, 2 results; a sum of each of 8.
      { name: 'look up', bytes: 8 + 32 + 8, operations: 8 },
    ]);
  });

  it('begins when what was queued before is done', async () => {
    const { backend, add } = await opened(new TimedBackend());
    const synchronize = backend.synchronize.bind(backend);
    backend.synchronize = async (wait) => {
      await synchronize(wait);
      backend.log.push('waited');
    };
    await profile(backend, add);
    expect(backend.log).toEqual(['waited', 'started', 'waited', 'stopped']);
  });

  it('counts a matrix that all batches share once', async () => {
    const { backend, a, b, c } = await opened(new MemoryBackend());
    const batch = { batchCount: 5, strideA: 8, strideB: 0, strideC: 6 };
    const { launches } = await profile(backend, () => backend.batchedGemm({ m: 2, n: 3, k: 4, a, b, c, ...batch }));
    expect(launches).toMatchObject([{ bytes: 4 * (5 * 8 + 12 + 5 * 6), operations: 5 * 48 }]);
  });

  it('counts what an epilogue reads', async () => {
    const { backend, a, b, c } = await opened(new MemoryBackend({ hasEpilogues: true }));
    const biased = defineKernel('biased', { inputs: { acc: 'f32', bias: 'f32' } }, ({ acc, bias }, k) => ({
      y: k.add(acc, bias),
    }));
    const epilogue = { kernel: biased, inputs: { bias: { ptr: a, strides: [0, 0, 1] } } };
    const { launches } = await profile(backend, () => backend.gemm({ m: 2, n: 3, k: 4, a, b, c, epilogue }));
    expect(launches).toMatchObject([{ size: 'm2 n3 k4 f32 + biased', bytes: 4 * (8 + 12 + 6 + 3), operations: 48 }]);
  });

  it('leaves a backend as it was, and refuses another one meanwhile', async () => {
    const { backend, add } = await opened(new MemoryBackend());
    const names = Object.keys(backend);
    let inner: Promise<unknown> = Promise.resolve();
    const { result } = await profile(backend, async () => {
      inner = profile(backend, add);
      await expect(inner).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        detail: expect.stringContaining('traced already'),
      });
    });
    expect(result.status).toBe('fulfilled');
    expect(Object.keys(backend)).toEqual(names);
  });

  it('of a program that fails has what ran until then, and its error', async () => {
    const { backend, add } = await opened(new MemoryBackend());
    const reason = new Error('of its own');
    const lost = await profile(backend, async () => {
      add();
      backend.lose('unplugged');
      throw reason;
    });
    expect(lost.result).toEqual({ status: 'rejected', reason });
    expect(lost.launches).toHaveLength(1);
    await expect(profile(backend, add)).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    const late = await opened(new MemoryBackend());
    const { result, launches } = await profile(late.backend, () => {
      late.add();
      late.backend.lose('unplugged');
      return 1;
    });
    // What is queued fails with the device, though the program is content.
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DEVICE_LOST' } });
    expect(launches).toHaveLength(1);
  });

  it('ends with the signal, and at the number of launches that it keeps', async () => {
    const { backend, add } = await opened(new MemoryBackend());
    const reason = new Error('enough');
    const aborted = await profile(backend, add, { signal: AbortSignal.abort(reason) });
    expect(aborted).toMatchObject({ result: { status: 'rejected', reason }, launches: [] });
    const few = await profile(backend, () => [add(), add(), add()], { maxLaunches: 2 });
    expect([few.launches.length, few.isComplete]).toEqual([2, false]);
    expect((await profile(backend, add)).isComplete).toBe(true);
  });

  it.each([
    [{ maxLaunches: 0 }, 'maxLaunches must be a number above 0, got 0'],
    [{ limits: { gbs: '1' } }, 'gbs must be a number above 0'],
    [{ limit: {} }, 'limit'],
  ])('refuses %j', async (options, detail) => {
    const { backend, add } = await opened(new MemoryBackend());
    await expect(profile(backend, add, options as never)).rejects.toMatchObject({
      detail: expect.stringContaining(detail),
    });
    await expect(profile(backend, 3 as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('a backend without a trace', () => {
  it('is profiled by its methods, with the time of queueing alone', async () => {
    const { backend, a, b, c } = await opened(new MemoryBackend());
    const other = foreign(backend);
    const { launches } = await profile(other, () => {
      expect(() => other.gemm({ m: -1, n: 3, k: 4, a, b, c })).toThrow('m must');
      other.gemm({ m: 2, n: 3, k: 4, a, b, c });
      other.plan?.('binary', { op: 'add', n: 8 }).launch([a, b, c]);
      const recording = other.record?.(() => other.binary({ op: 'mul', n: 8, a, b, output: c }));
      recording?.replay();
      recording?.dispose();
    });
    expect(launches.map(({ op, kernel, isReplay, ms }) => [op, kernel, isReplay, ms])).toEqual([
      ['gemm', 'gemm', false, undefined],
      ['binary', 'add', false, undefined],
      ['binary', 'mul', false, undefined],
      ['replay', 'replay', true, undefined],
    ]);
    expect(launches[0]).toMatchObject({ size: 'm2 n3 k4 f32', bytes: 4 * (8 + 12 + 6), operations: 48 });
    expect(launches[3]).not.toHaveProperty('bytes');
    expect(Object.keys(other)).toEqual([]);
    expectInvalid(() => other.gemm({ m: -1, n: 3, k: 4, a, b, c }));
  });

  it('is one whose methods are its own, too, and whose method that calls another is one launch', async () => {
    const { backend, a, b, c } = await opened(new MemoryBackend());
    const gemm: ComputeBackend['gemm'] = (call) => backend.gemm(call);
    const binary: ComputeBackend['binary'] = ({ a, b, output }) => other.gemm({ m: 2, n: 2, k: 2, a, b, c: output });
    const other = Object.assign(foreign(backend), { gemm, binary });
    const work = (): void => other.binary({ op: 'add', n: 4, a, b, output: c });
    for (const _ of [0, 1]) {
      const { launches } = await profile(other, async () => {
        work();
        await expect(profile(other, work)).rejects.toMatchObject({ detail: expect.stringContaining('traced already') });
      });
      expect(launches.map(({ op }) => op)).toEqual(['binary']);
    }
    expect([other.gemm, other.binary]).toEqual([gemm, binary]);
  });

  it('is refused where it is frozen', async () => {
    const { backend, add } = await opened(new MemoryBackend());
    await expect(profile(Object.freeze(foreign(backend)), add)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('what a profile becomes', () => {
  afterEach(() => performance.clearMeasures());

  it('is a trace of launches on one track and passes on another', async () => {
    const { backend, add } = await opened(new TimedBackend());
    const profiled = await profile(backend, () => [add(), add()]);
    const { traceEvents: events } = traceEvents(profiled);
    expect(events.filter(({ ph }) => ph === 'M').map(({ args }) => args['name'])).toEqual([
      'memory on memory',
      'host',
      'device',
    ]);
    const spans = events.filter(({ ph }) => ph === 'X');
    expect(spans.map(({ name, tid, cat }) => [name, tid, cat])).toEqual([
      ['binary add 8 f32', 1, 'host'],
      ['binary add 8 f32', 1, 'host'],
      ['run/any', 2, 'device'],
    ]);
    expect(spans[2]).toMatchObject({ dur: 2_000, args: { launch: 1, kernel: 'k1' } });
    expect(spans.every(({ ts = -1, pid }) => ts >= 0 && pid === 1)).toBe(true);
  });

  it('is entries of the timeline of a page', async () => {
    const { backend, add } = await opened(new TimedBackend());
    const profiled = await profile(backend, () => [add(), add()]);
    measureProfile(profiled);
    const entries = performance.getEntriesByType('measure') as PerformanceMeasure[];
    expect(entries.map(({ name }) => name).sort()).toEqual(['binary add 8 f32', 'binary add 8 f32', 'run/any']);
    const device = entries.find(({ name }) => name === 'run/any');
    expect(device?.duration).toBeCloseTo(2, 6);
    expect(device?.detail).toMatchObject({
      devtools: { dataType: 'track-entry', track: 'device', trackGroup: 'Concord memory' },
    });
    expect(device?.startTime).toBeGreaterThan(profiled.startMs - 1e-3);
  });
});
