import type { ComputeBackend } from '../contract/backend.ts';
import type { DeviceInfo, OpName } from '../contract/capabilities.ts';
import type { DType } from '../contract/element-types.ts';
import { describe } from '../contract/checks.ts';
import { BackendError } from '../errors/backend-error.ts';
import { assertContractVersion } from './probe-provider.ts';
import type { BackendProvider, CreateOptions } from './provider.ts';
import { selfTest } from './self-test.ts';
import { within } from './within.ts';

const OPEN_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 5_000;

/** Something that the chosen backend must be able to do. */
export interface Requirement {
  readonly op: OpName;
  /** Default `'f32'` (`'f16'` for gemmF16). */
  readonly dtype?: DType;
}

/** Options for opening a provider's backend. */
export interface OpenOptions {
  /** Backends that lack one of these are passed over, with the reason. */
  readonly require?: readonly Requirement[];
  /** Handed to the provider that makes the backend. */
  readonly create?: CreateOptions;
  /**
   * Milliseconds after which a provider's `create()`, a backend's `init()` and its self test are given up, each, for the
   * next provider. What comes later is disposed. Default 30,000; Infinity waits for ever.
   */
  readonly timeoutMs?: number;
}

/** A backend that works, and its device. */
export interface UsableBackend {
  readonly backend: ComputeBackend;
  readonly device: DeviceInfo;
}

/**
 * A provider's backend, initialized and tested. Each step has its deadline; of one that fails nothing is left open.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE when a step takes too long, or whatever the backend throws
 */
export async function openUsable(
  provider: BackendProvider,
  { create = {}, require = [], timeoutMs = OPEN_TIMEOUT_MS }: OpenOptions,
): Promise<UsableBackend> {
  const made = await within(
    'create()',
    timeoutMs,
    () => provider.create(create),
    (late) => {
      void closeQuietly(late);
    },
  );
  try {
    const backend = checkedBackend(made);
    await within('init()', timeoutMs, () => backend.init());
    for (const { op, dtype = op === 'gemmF16' ? 'f16' : 'f32' } of require) {
      const support = backend.supports(op, { dtype });
      if (!support.ok) throw new BackendError('UNSUPPORTED', support.reason);
    }
    await within('the self test', timeoutMs, () => selfTest(backend));
    return { backend, device: backend.device };
  } catch (error) {
    await closeQuietly(made);
    throw error;
  }
}

/** The result of a provider, if it may be a backend of this version of the contract. */
function checkedBackend(made: ComputeBackend): ComputeBackend {
  const isBackend = typeof made === 'object' && made !== null && typeof made.init === 'function';
  if (!isBackend) throw new BackendError('BACKEND_UNAVAILABLE', `create() gave ${describe(made)}`);
  assertContractVersion(made);
  return made;
}

/** The reason why it cannot be used matters more than one why it cannot be closed either. */
async function closeQuietly(backend: ComputeBackend): Promise<void> {
  try {
    await within('dispose()', DISPOSE_TIMEOUT_MS, () => backend.dispose());
  } catch {
    // See above.
  }
}
