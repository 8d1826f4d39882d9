import type { DeviceInfo, DeviceType } from '../contract/capabilities.ts';
import { isBackendError } from '../errors/backend-error.ts';
import type { BackendProvider, ProbeResult } from './provider.ts';

/** Version 2 has `run`, `topK` and epilogues; a backend of version 1 has none of them. */
const CONTRACT_VERSION = 2;

const PROBE_TIMEOUT_MS = 10_000;

/** Best first. Software devices come last: they are test equipment. */
const DEVICE_RANK: readonly DeviceType[] = ['discrete', 'integrated', 'unknown', 'cpu', 'software'];

/** A provider with what its probe found. */
export interface ProbedProvider {
  readonly provider: BackendProvider;
  readonly probe: ProbeResult;
}

/** Asks a provider for its devices; a probe that rejects or hangs is an answer too. */
export async function probeProvider(provider: BackendProvider): Promise<ProbedProvider> {
  if (provider.contractVersion !== CONTRACT_VERSION) {
    const message = `speaks contract version ${provider.contractVersion}, this registry speaks ${CONTRACT_VERSION}`;
    const hint = 'install versions of the backend and of @concord/backend-core that belong together';
    return { provider, probe: { available: false, reason: 'library-incompatible', message, hint } };
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<ProbeResult>((resolve) => {
    const message = `probe did not end within ${PROBE_TIMEOUT_MS / 1000} s`;
    timer = setTimeout(() => resolve({ available: false, reason: 'failed', message }), PROBE_TIMEOUT_MS);
  });
  try {
    const probe = await Promise.race([provider.probe(), deadline]);
    const empty = probe.available && probe.devices.length === 0;
    return { provider, probe: empty ? { available: false, reason: 'no-device', message: 'no device found' } : probe };
  } catch (error) {
    return { provider, probe: { available: false, ...failureOf(error) } };
  } finally {
    clearTimeout(timer);
  }
}

/** Why something failed, as the fields of an attempt. */
export function failureOf(error: unknown): Omit<ProbeResult & { available: false }, 'available'> {
  if (isBackendError(error)) {
    const message = error.code === 'BACKEND_UNAVAILABLE' ? error.detail : error.message;
    return { reason: error.reason ?? 'failed', message, hint: error.hint };
  }
  return { reason: 'failed', message: error instanceof Error ? error.message : String(error) };
}

/** The device of a probe that ranks first, if there is one. */
export function bestDevice({ probe }: ProbedProvider): DeviceInfo | undefined {
  if (!probe.available) return undefined;
  return [...probe.devices].sort((x, y) => rank(x) - rank(y))[0];
}

/** Best device first, then by priority, then in the order given; those without a device last. */
export function byRank(probed: readonly ProbedProvider[]): ProbedProvider[] {
  return [...probed].sort(
    (x, y) => rank(bestDevice(x)) - rank(bestDevice(y)) || y.provider.priority - x.provider.priority,
  );
}

function rank(device: DeviceInfo | undefined): number {
  if (device === undefined) return DEVICE_RANK.length;
  const index = DEVICE_RANK.indexOf(device.type);
  return index < 0 ? DEVICE_RANK.indexOf('unknown') : index;
}
