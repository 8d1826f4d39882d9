import type { Profile, ProfiledLaunch } from './profile.ts';

/** An event of Chrome's trace format. */
export interface TraceEvent {
  readonly name: string;
  /** `X`: with a duration; `M`: names a thread. */
  readonly ph: 'X' | 'M';
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One span of a profile: a launch on the host's track, a pass on the device's. */
interface Span {
  readonly track: 'host' | 'device';
  readonly name: string;
  readonly startMs: number;
  readonly ms: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * A profile in the JSON object format of Chrome's traces, which Perfetto and `chrome://tracing` open: launches on the host's track, the
 * kernels that the device timed on another. Source: Trace Event Format, Google, 2016.
 */
export function traceEvents(profile: Profile): {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: 'ms';
} {
  const spans = spansOf(profile);
  const place = (track: Span['track']) => ({ pid: 1, tid: track === 'host' ? 1 : 2 });
  const tracks = [...new Set(spans.map(({ track }) => track))];
  const named = [
    {
      name: 'process_name',
      ph: 'M' as const,
      pid: 1,
      tid: 0,
      args: { name: `${profile.backend} on ${profile.device.name}` },
    },
    ...tracks.map((name) => ({ name: 'thread_name', ph: 'M' as const, ...place(name), args: { name } })),
  ];
  const events = spans.map(({ track, name, startMs, ms, args }): TraceEvent => {
    return { name, ph: 'X', ...place(track), ts: startMs * 1000, dur: ms * 1000, cat: track, args };
  });
  return { traceEvents: [...named, ...events], displayTimeUnit: 'ms' };
}

/**
 * Adds a profile to the page's own measurements, `performance.measure`: the browser's tools show it beside all else, Chrome on tracks of
 * its own (`detail.devtools`).
 */
export function measureProfile(profile: Profile): void {
  for (const { track, name, startMs, ms, args } of spansOf(profile)) {
    const devtools = { dataType: 'track-entry', track, trackGroup: `Concord ${profile.backend}` };
    const start = profile.startMs + startMs;
    performance.measure(name, { start, duration: ms, detail: { ...args, devtools } });
  }
}

function spansOf({ launches }: Profile): readonly Span[] {
  return launches.flatMap((launch, index) => {
    const { startMs, hostMs, passes } = launch;
    const own: Span = {
      track: 'host',
      name: nameOf(launch),
      startMs,
      ms: hostMs,
      args: { launch: index, ...argsOf(launch) },
    };
    const timed = passes.flatMap((pass): Span[] => {
      if (pass.startMs === undefined || pass.ms === undefined) return [];
      const { kernel, variant = kernel } = pass;
      return [{ track: 'device', name: variant, startMs: pass.startMs, ms: pass.ms, args: { launch: index, kernel } }];
    });
    return [own, ...timed];
  });
}

const nameOf = ({ op, kernel, size }: ProfiledLaunch): string =>
  [op === kernel ? op : `${op} ${kernel}`, size].join(' ').trim();

function argsOf({ op, shape, bytes, operations, isReplay, ms, clock }: ProfiledLaunch): Record<string, unknown> {
  return { op, isReplay, ...(ms === undefined ? {} : { ms, clock }), bytes, operations, shape };
}
