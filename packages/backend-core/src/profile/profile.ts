import type { ComputeBackend } from '../contract/backend.ts';
import type { DeviceInfo } from '../contract/capabilities.ts';
import { checkOptions, describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import type { LaunchTrace, TracedLaunch, TracedPass } from '../contract/launch-trace.ts';
import { invalid } from '../errors/invalid.ts';
import { reading } from '../errors/reading.ts';
import { checkBackend } from '../host/check-backend.ts';
import { factsOf, type LaunchFacts } from './launch-facts.ts';
import { traceCalls } from './trace-calls.ts';

/** The peaks of a device: measured, or from its data sheet. */
export interface DeviceLimits {
  /** Gigabytes a second of memory. */
  readonly gbs?: number;
  /** Billions of operations a second. */
  readonly gflops?: number;
}

/** Options of {@link profile}. */
export interface ProfileOptions {
  /** Limits of the device, for shares of the roofline. */
  readonly limits?: DeviceLimits;
  /** Ends the profile, not the work: `result` is rejected with the signal's reason then. */
  readonly signal?: AbortSignal;
  /** Launches that are kept; those after them are not seen. Default: 100,000. */
  readonly maxLaunches?: number;
}

/** One launch, and how long it took. */
export interface ProfiledLaunch extends LaunchFacts, Pick<TracedLaunch, 'op' | 'isReplay' | 'hostMs'> {
  /** Milliseconds since the profile began. */
  readonly startMs: number;
  /** Milliseconds that the work took; missing where nothing timed it: then only `hostMs`, that of queueing, is known. */
  readonly ms?: number;
  /** The clock of `ms`. */
  readonly clock?: 'device' | 'host';
  /**
   * The kernels that it launched. Their `startMs` are since the profile began, with the device's clock as early as it can be: no
   * pass before its launch.
   */
  readonly passes: readonly Readonly<TracedPass>[];
}

/** Launches that something is common to, together. */
export interface LaunchSum {
  readonly name: string;
  readonly launches: number;
  /** The number of launches that recordings queued. */
  readonly replayed: number;
  readonly hostMs: number;
  /** Time as for a launch; absent if the launches are of any kind. */
  readonly ms?: number;
  /** `mixed` where not all launches have the same. */
  readonly clock?: 'device' | 'host' | 'mixed';
  readonly bytes?: number;
  readonly operations?: number;
  readonly gbs?: number;
  readonly gflops?: number;
  /**
   * The least time of the roofline model over the time taken, 0 to 1: of each launch the larger one of its bytes and its operations over what
   * the device reaches. Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009.
   */
  readonly share?: number;
}

/** The work that ran, and how long it took: see {@link profile}. */
export interface Profile<T = unknown> {
  readonly backend: string;
  readonly device: DeviceInfo;
  readonly limits: DeviceLimits;
  /** The result of the work. Rejects too where queued work failed on the device. */
  readonly result: PromiseSettledResult<T>;
  /** Milliseconds of the work, including the wait for its launches. */
  readonly wallMs: number;
  /** Milliseconds of `performance.now()` when it began. */
  readonly startMs: number;
  /** Launches in the order in which they were queued. */
  readonly launches: readonly ProfiledLaunch[];
  /** False if there were more than `maxLaunches`. */
  readonly isComplete: boolean;
  /** Totals by op and kernel, the longest first. */
  readonly sums: readonly LaunchSum[];
}

const OPTIONS: readonly (keyof ProfileOptions)[] = ['limits', 'signal', 'maxLaunches'];
const MAX_LAUNCHES = 100_000;

/**
 * Runs `work`, waits for its launches, and tells of each what it was and how long it took. If the work fails or the
 * device is lost, the launches until then are told, and the error is in `result`.
 *
 * The work leaves the backend open. While it runs, GPUs run launches one by one and recordings queue theirs singly, so that each is timed: the whole is slower than without.
 *
 * @throws {BackendError} INVALID_ARGUMENT for arguments of other kinds, and while this backend is profiled already
 * @throws {BackendError} NOT_INITIALIZED, DISPOSED, DEVICE_LOST: as any method, when it begins
 */
export async function profile<T>(
  backend: ComputeBackend,
  work: (backend: ComputeBackend) => T | Promise<T>,
  options: ProfileOptions = {},
): Promise<Profile<Awaited<T>>> {
  checkBackend('profile', backend);
  if (typeof work !== 'function') throw invalid(`profile takes a function second, got ${describe(work)}`);
  const { limits, signal, maxLaunches } = reading('options', () => readOptions(options));
  const { name, device } = backend;
  const traced: TracedLaunch[] = [];
  let isComplete = true;
  const onLaunch = (launch: TracedLaunch): void => {
    if (traced.length < maxLaunches) traced.push(launch);
    else {
      isComplete = false;
      void trace.stop();
    }
  };
  const wait = signal === undefined ? { timeoutMs: Infinity } : { timeoutMs: Infinity, signal };
  // A host that waits for each launch would give the first one the time of all that was queued before.
  const [before] = await Promise.allSettled([backend.synchronize(wait)]);
  if (before.status === 'rejected' && signal?.aborted !== true) throw before.reason;
  const trace: LaunchTrace = backend.traceLaunches?.(onLaunch) ?? traceCalls(backend, onLaunch);
  const startMs = performance.now();
  let [result] = await Promise.allSettled([unlessAborted(async () => await work(backend), signal)]);
  const [waited] = await Promise.allSettled([backend.synchronize(wait)]);
  if (waited.status === 'rejected' && result.status === 'fulfilled') result = waited;
  const wallMs = performance.now() - startMs;
  await trace.stop();
  const launches = finished(traced, startMs);
  const sums = sumLaunches(launches, ({ op, kernel }) => (op === kernel ? op : `${op} ${kernel}`), limits);
  return { backend: name, device, limits, result, wallMs, startMs, launches, isComplete, sums };
}

/** Sums of the launches that `keyOf` gives one name, those that took longest first. */
export function sumLaunches(
  launches: readonly ProfiledLaunch[],
  keyOf: (launch: ProfiledLaunch) => string,
  limits: DeviceLimits = {},
): readonly LaunchSum[] {
  const groups = new Map<string, ProfiledLaunch[]>();
  for (const launch of launches) {
    const name = keyOf(launch);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [launch]);
    else group.push(launch);
  }
  const sums = [...groups].map(([name, group]) => sumOf(name, group, limits));
  return sums.sort((a, b) => (b.ms ?? b.hostMs) - (a.ms ?? a.hostMs));
}

function sumOf(name: string, group: readonly ProfiledLaunch[], { gbs, gflops }: DeviceLimits): LaunchSum {
  const total = (of: (launch: ProfiledLaunch) => number | undefined): number =>
    group.reduce((sum, launch) => sum + (of(launch) ?? NaN), 0);
  // A number that one of them lacks is none of the sum.
  const given = <Name extends string>(key: Name, value: number): { readonly [Key in Name]?: number } =>
    (Number.isFinite(value) ? { [key]: value } : {}) as { readonly [Key in Name]?: number };
  const [ms, bytes, operations] = [
    total((each) => each.ms),
    total((each) => each.bytes),
    total((each) => each.operations),
  ];
  const clocks = new Set(group.map(({ clock }) => clock));
  const [clock] = clocks.size > 1 ? (['mixed'] as const) : clocks;
  const least = total((each) => {
    const times = [
      gbs === undefined ? 0 : (each.bytes ?? NaN) / gbs,
      gflops === undefined ? 0 : (each.operations ?? NaN) / gflops,
    ];
    return Math.max(...times) / 1e6;
  });
  return {
    name,
    launches: group.length,
    replayed: group.filter(({ isReplay }) => isReplay).length,
    hostMs: total(({ hostMs }) => hostMs),
    ...given('ms', ms),
    ...(clock === undefined ? {} : { clock }),
    ...given('bytes', bytes),
    ...given('operations', operations),
    ...given('gbs', bytes / ms / 1e6),
    ...given('gflops', operations / ms / 1e6),
    ...(gbs === undefined && gflops === undefined ? {} : given('share', least / ms)),
  };
}

/** The launches with their times, all since `startMs`. */
function finished(traced: readonly TracedLaunch[], startMs: number): readonly ProfiledLaunch[] {
  const behind = traced.flatMap((launch) => {
    const [first] = launch.passes;
    return first?.startMs === undefined ? [] : launch.startMs - first.startMs;
  });
  const toHost = behind.reduce((most, each) => Math.max(most, each), -Infinity) - startMs;
  return traced.map((launch) => {
    const { op, isReplay, hostMs, isDone, passes } = launch;
    const isTimed = passes.length > 0 && passes.every(({ ms }) => ms !== undefined);
    const took = passes.reduce((sum, { ms = 0 }) => sum + ms, 0);
    return {
      op,
      ...factsOf(launch),
      isReplay,
      startMs: launch.startMs - startMs,
      hostMs,
      ...(isTimed ? { ms: took, clock: 'device' } : isDone ? { ms: hostMs, clock: 'host' } : {}),
      passes: passes.map((pass) => (pass.startMs === undefined ? pass : { ...pass, startMs: pass.startMs + toHost })),
    };
  });
}

async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw signal.reason;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => (onAbort = () => reject(signal.reason)));
  signal.addEventListener('abort', onAbort);
  return Promise.race([work(), aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

function readOptions(
  options: ProfileOptions,
): Required<Pick<ProfileOptions, 'limits' | 'maxLaunches'>> & ProfileOptions {
  checkOptions(options);
  checkFields('profile', options, OPTIONS);
  const { limits = {}, signal, maxLaunches = MAX_LAUNCHES } = options;
  checkOptions(limits);
  checkFields('limits', limits, ['gbs', 'gflops']);
  for (const [name, value] of Object.entries({ ...limits, maxLaunches })) {
    if (value !== undefined && !(typeof value === 'number' && value > 0)) {
      throw invalid(`${name} must be a number above 0, got ${describe(value)}`);
    }
  }
  return { limits: { ...limits }, maxLaunches, ...(signal === undefined ? {} : { signal }) };
}
