import type { LaunchTrace, TracedLaunch, TracedPass } from '../contract/launch-trace.ts';
import { invalid } from '../errors/invalid.ts';
import type { Launch } from './backend-kernels.ts';
import type { Sequence } from './capture.ts';

/** Times what a backend launches, from when it is made: see {@link BaseBackend.startTimer}. */
export interface LaunchTimer {
  /** Grows with each kernel that is launched; `stop` adds their times. */
  readonly passes: readonly TracedPass[];
  /** Waits for a launch, so that the host's clock times it. Default: nothing waits. */
  readonly wait?: () => void;
  /** Ends it, and resolves when the passes have their times. */
  stop(): Promise<void>;
}

/** The methods of a backend through which all launches go. */
export interface LaunchMethods<Buffer> {
  doLaunch(launch: Launch<Buffer>): void;
  doSequence(calls: readonly Launch<Buffer>[]): Sequence;
  runSequence(sequence: Sequence, calls: readonly Launch<Buffer>[]): void;
}

/**
 * Puts methods that tell `onLaunch` in the place of a backend's own, on the object: who does not trace pays nothing.
 *
 * @param makeTimer - called once nothing else can fail
 * @throws {BackendError} INVALID_ARGUMENT for a second trace of one object
 */
export function traceLaunches<Buffer>(
  backend: LaunchMethods<Buffer>,
  makeTimer: () => LaunchTimer | undefined,
  onLaunch: (launch: TracedLaunch) => void,
): LaunchTrace {
  if (Object.hasOwn(backend, 'doLaunch')) {
    throw invalid('the launches of this backend are traced already', { hint: 'end that profile first' });
  }
  const [doLaunch, doSequence] = [backend.doLaunch.bind(backend), backend.doSequence.bind(backend)];
  const timer = makeTimer();
  let state: 'launching' | 'replaying' | 'preparing' = 'launching';
  const during = <T>(next: typeof state, work: () => T): T => {
    const before = state;
    state = next;
    try {
      return work();
    } finally {
      state = before;
    }
  };
  const own: LaunchMethods<Buffer> = {
    doLaunch(launch) {
      // A recording that is made may call its launches to list their commands.
      if (state === 'preparing') return doLaunch(launch);
      const { opName: op, kernel, call } = launch;
      const first = timer?.passes.length;
      const startMs = performance.now();
      doLaunch(launch);
      timer?.wait?.();
      const hostMs = performance.now() - startMs;
      const passes = timer?.passes.slice(first) ?? [];
      const isReplay = state === 'replaying';
      onLaunch({ op, kernel, call, isReplay, startMs, hostMs, isDone: timer?.wait !== undefined, passes });
    },
    doSequence: (calls) => during('preparing', () => doSequence(calls)),
    // One by one: each is timed, and known by its call.
    runSequence: (_, calls) => during('replaying', () => calls.forEach((launch) => own.doLaunch(launch))),
  };
  Object.assign(backend, own);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const name of Object.keys(own)) delete (backend as Partial<LaunchMethods<Buffer>>)[name as keyof typeof own];
    await timer?.stop().catch(() => undefined);
  };
  return { stop: () => (stopped ??= stop()) };
}
