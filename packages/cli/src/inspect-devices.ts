import {
  type Attempt,
  type BackendProvider,
  type Capabilities,
  type ComputeBackend,
  type DeviceInfo,
  isBackendError,
  type ExcludedVariant,
  type Limits,
  printable,
  selectBackend,
  type UnavailableReason,
} from '@concord/backend-core';
import type { ProfileState } from '@concord/variants';
import { messageOf } from './command-error.ts';
import { BENCH_OPS } from './bench/bench-ops.ts';
import { tuneCases } from './bench/cases/case-lists.ts';
import { isTunable, type TunableBackend } from './tune/tune-run.ts';

/** One entry of {@link DevicesReport}. */
export type BackendReport =
  | {
      readonly name: string;
      readonly available: true;
      readonly device: DeviceInfo;
      readonly limits: Limits;
      readonly dtypes: Capabilities['dtypes'];
      readonly features: Capabilities['features'];
      /** The kernels that `run` takes; absent if there is no `run`. */
      readonly run?: 'all' | 'some';
      readonly numerics: Capabilities['numerics'];
      /** The state of the device's tuning profile, for a backend that has kernel variants. */
      readonly tuning?: ProfileState;
      /** The kernel variants that the device builds, with `--verbose`. */
      readonly variants?: VariantTrial;
    }
  | {
      readonly name: string;
      readonly available: false;
      readonly reason: UnavailableReason;
      readonly message: string;
      readonly hint: string | null;
    };

/** The JSON that `concord devices --json` prints. */
export interface DevicesReport {
  /** The backend that `selectBackend` takes here, or null. */
  readonly picked: string | null;
  /** The value of `CONCORD_BACKEND`, or null where it is unset or empty. */
  readonly concordBackend: string | null;
  /** Every known backend, in order of preference. */
  readonly backends: readonly BackendReport[];
  /** The outcome of `selectBackend` for each, in the same order. */
  readonly attempts: readonly Attempt[];
}

/** Options of {@link inspectDevices}. */
interface Inspection {
  readonly signal: AbortSignal;
  /** True to build the kernels of every variant, which takes seconds. */
  readonly triesVariants: boolean;
}

/**
 * Opens every backend once, and lets the registry choose as it would for an application.
 *
 * @throws {BackendError} INVALID_ARGUMENT when `CONCORD_BACKEND` names an unknown backend
 */
export async function inspectDevices(
  providers: readonly BackendProvider[],
  inspection: Inspection,
): Promise<DevicesReport> {
  const reports = new Map<string, BackendReport>();
  const { picked, attempts } = await choose(providers, reports, inspection);
  // One after the other: two APIs that open one GPU at once are no fair test of either.
  for (const provider of providers) {
    inspection.signal.throwIfAborted();
    if (!reports.has(provider.name)) reports.set(provider.name, await inspect(provider, inspection));
  }
  return {
    picked,
    concordBackend: process.env['CONCORD_BACKEND'] || null,
    backends: attempts.flatMap(({ provider }) => reports.get(provider) ?? []),
    attempts,
  };
}

async function choose(
  providers: readonly BackendProvider[],
  reports: Map<string, BackendReport>,
  inspection: Inspection,
): Promise<Pick<DevicesReport, 'picked' | 'attempts'>> {
  try {
    const { backend, attempts } = await selectBackend(providers);
    reports.set(backend.name, await describeAndDispose(backend, inspection));
    return { picked: backend.name, attempts };
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return { picked: null, attempts: error.attempts ?? [] };
  }
}

/** Asks the registry for this one backend, which covers probes that throw or hang and the self test. */
async function inspect(provider: BackendProvider, inspection: Inspection): Promise<BackendReport> {
  try {
    const { backend } = await selectBackend([provider], { prefer: [provider.name] });
    return await describeAndDispose(backend, inspection);
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    const attempt = error.attempts?.[0];
    return {
      name: provider.name,
      available: false,
      reason: attempt?.reason ?? 'failed',
      message: attempt?.message ?? error.detail,
      hint: attempt?.hint ?? null,
    };
  }
}

async function describeAndDispose(backend: ComputeBackend, inspection: Inspection): Promise<BackendReport> {
  try {
    return await describe(backend, inspection);
  } finally {
    await backend.dispose();
  }
}

async function describe(backend: ComputeBackend, { signal, triesVariants }: Inspection): Promise<BackendReport> {
  const { name, capabilities } = backend;
  const { vendor, name: called, driver } = backend.device;
  // Of a backend that does not stand on ours, they have not been looked at.
  const texts = { vendor: printable(vendor), name: printable(called), driver: printable(driver) };
  const device = { ...backend.device, ...texts };
  const { limits, dtypes, features, run, numerics } = capabilities;
  const common = { name, available: true, device, limits, dtypes, features, numerics } as const;
  const report = run === undefined ? common : { ...common, run };
  if (!isTunable(backend)) return report;
  const tuned = { ...report, tuning: backend.native.tuning.profile };
  return triesVariants ? { ...tuned, variants: await tryVariants(backend, signal) } : tuned;
}

/** The kernel variants that a device builds. */
export interface VariantTrial {
  /** Variants that were built for one of some small calls. */
  readonly built: readonly string[];
  /** Variants that do not work here. */
  readonly excluded: readonly ExcludedVariant[];
}

/** Builds the kernels of every variant that some small calls of each op could take, and runs none. */
async function tryVariants(backend: TunableBackend, signal: AbortSignal): Promise<VariantTrial> {
  const { tuning } = backend.native;
  const before = backend.variants?.().forced ?? [];
  const tried = new Set<string>();
  const refused = new Map<string, ExcludedVariant>();
  try {
    for (const benchCase of tuneCases('small', BENCH_OPS)) {
      signal.throwIfAborted();
      const { plan } = benchCase.prepare();
      if (plan === undefined || !backend.supports(plan.op, plan.call).ok) continue;
      for (const id of tuning.choices(plan.op, plan.call).flatMap(({ candidates }) => candidates)) {
        tried.add(id);
        tuning.force([id]);
        const reason = await backend.prepare([plan]).then(() => undefined, messageOf);
        if (reason !== undefined) refused.set(id, { id, reason });
      }
    }
  } finally {
    tuning.force(before);
  }
  // What the backend itself says of a variant says more.
  for (const variant of backend.variants?.().excluded ?? []) refused.set(variant.id, variant);
  return { built: [...tried].filter((id) => !refused.has(id)), excluded: [...refused.values()] };
}
