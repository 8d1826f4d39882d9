import type { DeviceInfo } from '../contract/capabilities.ts';
import { messageOf } from './message-of.ts';
import { printable } from './printable.ts';

/** Every code that a {@link BackendError} can carry. `docs/errors.md` has the cause and the cure of each. */
export const ERROR_CODES = [
  'NOT_INITIALIZED',
  'INVALID_ARGUMENT',
  'UNSUPPORTED',
  'OUT_OF_MEMORY',
  'DEVICE_ERROR',
  'DEVICE_LOST',
  'DISPOSED',
  'BACKEND_UNAVAILABLE',
] as const;

/** One of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a backend cannot be used on this machine. */
export type UnavailableReason =
  | 'wrong-platform'
  | 'package-missing'
  | 'library-missing'
  | 'library-incompatible'
  | 'permission-denied'
  | 'no-device'
  | 'disabled'
  | 'failed';

/** The outcome of `selectBackend` for one provider. */
export interface Attempt {
  readonly provider: string;
  /** `not-tried`: an earlier one was taken. */
  readonly outcome: 'selected' | 'not-tried' | 'unavailable';
  /** The device that was used or would have been. */
  readonly device?: DeviceInfo | undefined;
  readonly reason?: UnavailableReason | undefined;
  /** Why it was not taken, or why it was. */
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The fields of a {@link BackendError} that depend on where it comes from. All are optional. */
export interface BackendErrorFields {
  /** Name of the backend, such as `"webgpu"`. */
  readonly backend?: string | undefined;
  /** The op, or the ops of a batch joined by commas, that the error is about. */
  readonly op?: string | undefined;
  /** A hint for the reader, one sentence. */
  readonly hint?: string | undefined;
  /** The error underneath. */
  readonly cause?: unknown;
  /** `BACKEND_UNAVAILABLE`: the kind of obstacle. */
  readonly reason?: UnavailableReason | undefined;
  /** `BACKEND_UNAVAILABLE` from `selectBackend`: the attempts, in order. */
  readonly attempts?: readonly Attempt[] | undefined;
  /** `OUT_OF_MEMORY`: bytes that were asked for. */
  readonly requestedBytes?: number | undefined;
  /** `OUT_OF_MEMORY`: bytes allocated at that moment. */
  readonly inUseBytes?: number | undefined;
  /** `OUT_OF_MEMORY`: the limit that was hit. */
  readonly limitBytes?: number | undefined;
  /** `DEVICE_ERROR`: the driver's status as a number. Its symbolic name is in `detail`. */
  readonly status?: number | undefined;
}

/** The start of each code's message; a detail follows after a colon. */
const PREFIX: Record<ErrorCode, string> = {
  NOT_INITIALIZED: 'backend not initialized',
  INVALID_ARGUMENT: 'invalid argument:',
  UNSUPPORTED: 'unsupported operation:',
  OUT_OF_MEMORY: 'out of device memory',
  DEVICE_ERROR: 'device error:',
  DEVICE_LOST: 'device lost:',
  DISPOSED: 'backend disposed',
  BACKEND_UNAVAILABLE: 'backend unavailable:',
};

const MARKER = Symbol.for('concord.BackendError');

/**
 * The one error class of Concord. Programs branch on `code`; people read `message`, which is the code's fixed prefix
 * followed by `detail`, and `hint`; none of these has control characters, see {@link printable}.
 */
export class BackendError extends Error {
  override readonly name = 'BackendError';
  readonly code: ErrorCode;
  /** The message without its prefix. Empty where the prefix says it all. */
  readonly detail: string;
  declare readonly backend?: string | undefined;
  declare readonly op?: string | undefined;
  declare readonly hint?: string | undefined;
  declare readonly reason?: UnavailableReason | undefined;
  declare readonly attempts?: readonly Attempt[] | undefined;
  declare readonly requestedBytes?: number | undefined;
  declare readonly inUseBytes?: number | undefined;
  declare readonly limitBytes?: number | undefined;
  declare readonly status?: number | undefined;

  constructor(code: ErrorCode, detail = '', fields: BackendErrorFields = {}) {
    const { cause, hint, ...own } = fields;
    // Much of it is of drivers, names of files and labels, and most of it ends in a terminal.
    const shown = printable(detail);
    super(formatMessage(code, shown), cause === undefined ? undefined : { cause });
    this.code = code;
    this.detail = shown;
    if (hint !== undefined) Object.defineProperty(this, 'hint', { value: printable(hint), enumerable: true });
    for (const [key, value] of Object.entries(own)) {
      if (value !== undefined) Object.defineProperty(this, key, { value, enumerable: true });
    }
    // Non-enumerable, so that console.log and structuredClone do not show it; on the instance, so that it survives a
    // second copy of this package with its own class.
    Object.defineProperty(this, MARKER, { value: true });
  }
}

function formatMessage(code: ErrorCode, detail: string): string {
  const prefix = PREFIX[code];
  if (detail === '') return prefix.replace(/:$/, '');
  return prefix.endsWith(':') ? `${prefix} ${detail}` : `${prefix}: ${detail}`;
}

/**
 * Returns whether `error` is a {@link BackendError}, with that `code` if one is given. Unlike `instanceof` it also recognises
 * errors of another installed copy of this package.
 */
export function isBackendError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is BackendError & { readonly code: Code } {
  if (typeof error !== 'object' || error === null) return false;
  try {
    return MARKER in error && (code === undefined || (error as unknown as BackendError).code === code);
  } catch {
    // A proxy that throws: what a hostile program threw is none of ours.
    return false;
  }
}

/** `error` if it is a {@link BackendError} already, otherwise a new one with it as the cause. */
export function toBackendError(error: unknown, code: ErrorCode, fields: BackendErrorFields = {}): BackendError {
  if (isBackendError(error)) return error;
  return new BackendError(code, messageOf(error), { ...fields, cause: error });
}

/** Adds details that an error lacks, such as where it comes from; returns the same error. */
export function annotate(error: BackendError, fields: BackendErrorFields): BackendError {
  // It may be frozen: what it says counts more than what could be added.
  if (!Object.isExtensible(error)) return error;
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined && error[key as keyof BackendErrorFields] === undefined) {
      Object.defineProperty(error, key, { value, enumerable: true, configurable: true });
    }
  }
  return error;
}
