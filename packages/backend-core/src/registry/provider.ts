import type { ComputeBackend } from '../contract/backend.ts';
import type { DeviceInfo } from '../contract/capabilities.ts';
import type { UnavailableReason } from '../errors/backend-error.ts';

/** The result of `probe()`. */
export type ProbeResult =
  | { readonly available: true; readonly devices: readonly DeviceInfo[] }
  | {
      readonly available: false;
      readonly reason: UnavailableReason;
      readonly message: string;
      /** A hint for the user. */
      readonly hint?: string | undefined;
    };

/** The options that every provider's `create` understands. */
export interface CreateOptions {
  /** `alloc` throws OUT_OF_MEMORY when more than this would be in use. */
  readonly memoryLimitBytes?: number;
}

/**
 * A backend as a package offers it. Making a provider loads no native code and touches no global; `probe` and `create`
 * do.
 */
export interface BackendProvider {
  /** The backend's name, as in `CONCORD_BACKEND`. */
  readonly name: string;
  /** The order among backends whose devices rank equal: the higher one is tried first. */
  readonly priority: number;
  readonly contractVersion: number;
  /** Looks for devices. Never rejects, and ends within 10 s. */
  probe(): Promise<ProbeResult>;
  /**
   * Makes a backend object for the provider's best device. The caller calls `init()`. `selectBackend` waits for
   * each of the two for 30 s.
   */
  create(options?: CreateOptions): Promise<ComputeBackend> | ComputeBackend;
}
