import type { DeviceInfo, DeviceType } from '../contract/capabilities.ts';
import { describe } from '../contract/checks.ts';
import { BackendError, isBackendError } from '../errors/backend-error.ts';
import { messageOf } from '../errors/message-of.ts';
import { printable } from '../errors/printable.ts';
import type { BackendProvider, ProbeResult } from './provider.ts';
import { readProbe } from './read-probe.ts';
import { within } from './within.ts';

/** Version 2 has `run`, `topK` and epilogues; a backend of version 1 has none of them. */
const CONTRACT_VERSION = 3;

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
  try {
    assertContractVersion(provider);
    return { provider, probe: readProbe(await within('probe', PROBE_TIMEOUT_MS, () => provider.probe())) };
  } catch (error) {
    return { provider, probe: { available: false, ...failureOf(error) } };
  }
}

/**
 * Returns whether a provider, or a backend that it made, is of this version of the contract.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE
 */
export function assertContractVersion({ contractVersion }: { readonly contractVersion: number }): void {
  if (contractVersion === CONTRACT_VERSION) return;
  const message = `speaks contract version ${describe(contractVersion)}, this registry speaks ${CONTRACT_VERSION}`;
  const hint = 'install versions of the backend and of @concord/backend-core that belong together';
  throw new BackendError('BACKEND_UNAVAILABLE', message, { reason: 'library-incompatible', hint });
}

/** Why something failed, as the fields of an attempt. */
export function failureOf(error: unknown): Omit<ProbeResult & { available: false }, 'available'> {
  if (isBackendError(error)) {
    const message = error.code === 'BACKEND_UNAVAILABLE' ? error.detail : error.message;
    return { reason: error.reason ?? 'failed', message, hint: error.hint };
  }
  return { reason: 'failed', message: printable(messageOf(error)) };
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
