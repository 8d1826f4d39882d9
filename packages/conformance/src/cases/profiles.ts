import type { DevicePtr } from '@concord/backend-core';
import { profile, type Profile, traceEvents } from '@concord/backend-core/profile';
import { caseOf, type ConformanceCase, expectThat } from '../harness/case.ts';
import { expectRejects } from '../harness/planned-call.ts';
import { BYTES, expectNumbers, filled, INVALID, N, withMemory } from './recordings.ts';

/** Milliseconds: devices count from when they were switched on. */
const ROUNDING = 1e-3;

function checkLaunches(profiled: Profile): void {
  let before = 0;
  for (const { op, kernel, bytes, operations, startMs, hostMs, ms, clock, passes } of profiled.launches) {
    expectThat(op === 'binary' && bytes === 3 * BYTES && operations === N, `${kernel}: ${bytes} bytes, ${operations}`);
    expectThat(startMs >= before && hostMs >= 0, `${kernel} began at ${startMs} ms and took ${hostMs}`);
    before = startMs;
    const took = passes.reduce((sum, pass) => sum + (pass.ms ?? NaN), 0);
    const want = clock === 'device' ? took : clock === 'host' ? hostMs : undefined;
    expectThat(ms === want && !(Number(ms) < 0), `${kernel} took ${ms} ms by the clock ${clock}, not ${want}`);
    const isBefore = passes.some((pass) => Number(pass.startMs) < startMs - ROUNDING);
    expectThat(!isBefore, `a pass of ${kernel} began before it was queued`);
  }
  const spans = traceEvents(profiled).traceEvents.filter(({ ph }) => ph === 'X');
  const timed = profiled.launches.flatMap(({ passes }) => passes.filter(({ ms }) => ms !== undefined)).length;
  expectThat(spans.length === profiled.launches.length + timed, `the trace has ${spans.length} spans`);
}

/** Cases of {@link profile}: what it tells of a backend, and that it leaves the backend as it was. */
export const profileCases: readonly ConformanceCase[] = [
  caseOf(
    'lifecycle/profile',
    'lifecycle',
    ({ backend }) =>
      withMemory(backend, 3, async (pointers) => {
        const [a, b, c] = pointers as [DevicePtr, DevicePtr, DevicePtr];
        for (const ptr of [a, b]) backend.copyHtod(ptr, filled(1));
        const call = (op: 'add' | 'mul'): void => backend.binary({ op, n: N, a, b, output: c });
        const tracesAll = backend.traceLaunches !== undefined;
        const plan = tracesAll ? backend.plan?.('binary', { op: 'mul', n: N }) : undefined;
        const recording = tracesAll ? backend.record?.(() => (call('add'), call('mul'))) : undefined;
        const profiled = await profile(backend, async () => {
          call('add');
          await backend.synchronize();
          plan?.launch([a, b, c]);
          if (tracesAll) backend.record?.(() => call('add')).dispose();
          recording?.replay();
          await expectRejects('a profile in a profile', INVALID, () => profile(backend, () => undefined));
        });
        const got = profiled.launches.map(({ kernel, isReplay }) => (isReplay ? `${kernel} again` : kernel)).join();
        const recorded = recording === undefined ? '' : ',add,add again,mul again';
        const want = `add${plan === undefined ? '' : ',mul'}${recorded}`;
        expectThat(profiled.result.status === 'fulfilled' && got === want, `the launches are ${got}, not ${want}`);
        checkLaunches(profiled);
        recording?.replay();
        recording?.dispose();
        call('add');
        await expectNumbers('what is computed after it', backend, c, filled(2));

        const reason = new Error('as it should');
        const abort = new AbortController();
        const failing = await profile(backend, () => {
          call('add');
          throw reason;
        });
        const endless = async (): Promise<void> => {
          call('add');
          abort.abort(reason);
          await new Promise(() => undefined);
        };
        for (const part of [failing, await profile(backend, endless, { signal: abort.signal })]) {
          const { result, launches } = part;
          const isReason = result.status === 'rejected' && result.reason === reason;
          expectThat(isReason && launches.length === 1, `${result.status}, with ${launches.length} launches`);
          checkLaunches(part);
        }
      }),
    { op: 'binary', dtype: 'f32' },
  ),
];
