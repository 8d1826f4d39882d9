import type { DevicePtr } from '@concord/backend-core';
import { profile, type ProfiledLaunch, traceEvents } from '@concord/backend-core/profile';
import { type CaseContext, type ConformanceCase, expectThat } from '../harness/case.ts';
import { behaviour } from '../harness/case-text.ts';
import { expectRejects } from '../harness/expect-error.ts';
import { BYTES, expectNumbers, filled, INVALID, N, withMemory } from './recordings.ts';

function profileCase(id: string, does: string, run: (context: CaseContext) => Promise<void>): ConformanceCase {
  return {
    id: `lifecycle/profile: ${id}`,
    op: 'lifecycle',
    params: {},
    needs: { op: 'binary', dtype: 'f32' },
    about: behaviour(does, 'A profile tells of each launch once, of no other, and says which clock its time is of.'),
    run,
  };
}

/** Milliseconds: devices count from when they were switched on. */
const ROUNDING = 1e-3;

function checkTimes(launches: readonly ProfiledLaunch[]): void {
  let before = 0;
  for (const { startMs, hostMs, ms, clock, passes, kernel } of launches) {
    expectThat(startMs >= before && hostMs >= 0, `${kernel} began at ${startMs} ms and took ${hostMs}`);
    before = startMs;
    const took = passes.reduce((sum, pass) => sum + (pass.ms ?? NaN), 0);
    const want = clock === 'device' ? took : clock === 'host' ? hostMs : undefined;
    expectThat(
      ms === want && (ms === undefined || ms >= 0),
      `${kernel} took ${ms} ms by the clock ${clock}, not ${want}`,
    );
    for (const pass of passes) {
      expectThat(
        pass.startMs === undefined || pass.startMs > startMs - ROUNDING,
        `a pass of ${kernel} began before it was queued`,
      );
    }
  }
}

/** What {@link profile} tells of a backend, and that it leaves it as it was. */
export const profileCases: readonly ConformanceCase[] = [
  profileCase(
    'launches of calls, plans and recordings',
    'Profiles sums that are called, planned and replayed, some of them from before, and looks at each launch, its bytes, times and trace.',
    async ({ backend }) => {
      await withMemory(backend, 3, async (pointers) => {
        const [a, b, c] = pointers as [DevicePtr, DevicePtr, DevicePtr];
        for (const ptr of [a, b]) backend.copyHtod(ptr, filled(1));
        const call = (op: 'add' | 'mul'): void => backend.binary({ op, n: N, a, b, output: c });
        const tracesAll = backend.traceLaunches !== undefined;
        const plan = tracesAll ? backend.plan?.('binary', { op: 'mul', n: N }) : undefined;
        const recording = tracesAll ? backend.record?.(() => (call('add'), call('mul'))) : undefined;
        const profiled = await profile(backend, async (given) => {
          expectThat(given === backend, 'the program is given another object');
          call('add');
          await backend.synchronize();
          plan?.launch([a, b, c]);
          if (tracesAll) backend.record?.(() => call('add')).dispose();
          recording?.replay();
          await expectRejects('a profile in a profile', INVALID, () => profile(backend, () => undefined));
          return 3;
        });
        const { result, launches, sums, wallMs } = profiled;
        expectThat(result.status === 'fulfilled' && result.value === 3, `the program is ${result.status}`);
        const got = launches.map(({ kernel, isReplay }) => (isReplay ? `${kernel} again` : kernel)).join();
        const want = [
          'add',
          ...(plan === undefined ? [] : ['mul']),
          ...(recording === undefined ? [] : ['add', 'add again', 'mul again']),
        ].join();
        expectThat(got === want, `the launches are ${got}, not ${want}`);
        for (const { op, bytes, operations, size } of launches) {
          expectThat(
            op === 'binary' && bytes === 3 * BYTES && operations === N,
            `${op} ${size}: ${bytes} bytes, ${operations}`,
          );
        }
        checkTimes(launches);
        const counted = sums.reduce((sum, each) => sum + each.launches, 0);
        expectThat(counted === launches.length && wallMs > 0, `sums are of ${counted} launches`);
        const spans = traceEvents(profiled).traceEvents.filter(({ ph }) => ph === 'X');
        const timed = launches.flatMap(({ passes }) => passes.filter(({ ms }) => ms !== undefined)).length;
        expectThat(spans.length === launches.length + timed, `the trace has ${spans.length} spans`);
        recording?.replay();
        recording?.dispose();
        call('add');
        await expectNumbers('what is computed after it', backend, c, filled(2));
        const { launches: none } = await profile(backend, () => undefined);
        expectThat(none.length === 0, `a profile of nothing has ${none.length} launches`);
      });
    },
  ),
  profileCase(
    'a program that fails',
    'Profiles a program that throws after a sum, and one that is aborted while it waits for nothing.',
    async ({ backend }) => {
      await withMemory(backend, 1, async (pointers) => {
        const [a] = pointers as [DevicePtr];
        const add = (): void => backend.binary({ op: 'add', n: N, a, b: a, output: a });
        backend.copyHtod(a, filled(1));
        const reason = new Error('as it should');
        const failing = await profile(backend, () => {
          add();
          throw reason;
        });
        const abort = new AbortController();
        const endless = async (): Promise<void> => {
          add();
          abort.abort(reason);
          await new Promise(() => undefined);
        };
        const aborted = await profile(backend, endless, { signal: abort.signal });
        for (const { result, launches } of [failing, aborted]) {
          const isReason = result.status === 'rejected' && result.reason === reason;
          expectThat(isReason && launches.length === 1, `${result.status}, with ${launches.length} launches`);
          checkTimes(launches);
        }
        await expectNumbers('the sums', backend, a, filled(4));
      });
    },
  ),
];
