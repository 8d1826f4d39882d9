import {
  type Attempt,
  type BackendProvider,
  type Capabilities,
  type ComputeBackend,
  type DeviceInfo,
  isBackendError,
  type Limits,
  selectBackend,
  type UnavailableReason,
} from '@concord/backend-core';
import type { ProfileState } from '@concord/backend-webgpu';
import { isTunable } from './tune/tune-run.ts';

/** One entry of {@link DevicesReport}. */
export type BackendReport =
  | {
      readonly name: string;
      readonly available: true;
      readonly device: DeviceInfo;
      readonly limits: Limits;
      readonly dtypes: Capabilities['dtypes'];
      readonly numerics: Capabilities['numerics'];
      /** What became of the device's tuning profile, for a backend that has kernel variants. */
      readonly tuning?: ProfileState;
    }
  | {
      readonly name: string;
      readonly available: false;
      readonly reason: UnavailableReason;
      readonly message: string;
      readonly hint: string | null;
    };

/** What `concord devices --json` prints. */
export interface DevicesReport {
  /** The backend that `selectBackend` takes here, or null. */
  readonly picked: string | null;
  /** The value of `CONCORD_BACKEND`, or null where it is unset or empty. */
  readonly concordBackend: string | null;
  /** Every known backend, in order of preference. */
  readonly backends: readonly BackendReport[];
  /** What `selectBackend` did with each, in the same order. */
  readonly attempts: readonly Attempt[];
}

/**
 * Opens every backend once, and lets the registry choose as it would for an application.
 *
 * @throws {BackendError} INVALID_ARGUMENT when `CONCORD_BACKEND` names an unknown backend
 */
export async function inspectDevices(
  providers: readonly BackendProvider[],
  signal: AbortSignal,
): Promise<DevicesReport> {
  const reports = new Map<string, BackendReport>();
  const { picked, attempts } = await choose(providers, reports);
  // One after the other: two APIs that open one GPU at once are no fair test of either.
  for (const provider of providers) {
    signal.throwIfAborted();
    if (!reports.has(provider.name)) reports.set(provider.name, await inspect(provider));
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
): Promise<Pick<DevicesReport, 'picked' | 'attempts'>> {
  try {
    const { backend, attempts } = await selectBackend(providers);
    reports.set(backend.name, describe(backend));
    await backend.dispose();
    return { picked: backend.name, attempts };
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return { picked: null, attempts: error.attempts ?? [] };
  }
}

/** Asks the registry for this one backend, which covers probes that throw or hang and the self test. */
async function inspect(provider: BackendProvider): Promise<BackendReport> {
  try {
    const { backend } = await selectBackend([provider], { prefer: [provider.name] });
    const report = describe(backend);
    await backend.dispose();
    return report;
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

function describe(backend: ComputeBackend): BackendReport {
  const { name, device, capabilities } = backend;
  const { limits, dtypes, numerics } = capabilities;
  const report = { name, available: true, device, limits, dtypes, numerics } as const;
  return isTunable(backend) ? { ...report, tuning: backend.native.tuning.profile } : report;
}
