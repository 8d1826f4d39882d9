import { invalid } from '../errors/invalid.ts';
import type { PrepareOptions, WaitOptions } from './backend.ts';
import { checkSignal } from './abort-signal.ts';
import { checkOptions, checkPointerType, checkSize, describe } from './checks.ts';
import { checkFields } from './fields.ts';

/**
 * The label, if there is one.
 *
 * @throws {BackendError} INVALID_ARGUMENT unless `bytes` is a positive safe integer and the label, if any, a string
 */
export function checkAlloc(bytes: unknown, options: unknown): string | undefined {
  checkSize('bytes', bytes);
  checkOptions(options);
  checkFields('options', options as object, ['label']);
  const { label } = options as { label?: unknown };
  if (label !== undefined && typeof label !== 'string') throw invalid(`label must be a string, got ${describe(label)}`);
  if (bytes === 0) throw invalid('cannot allocate 0 bytes');
  return label;
}

/** @throws {BackendError} INVALID_ARGUMENT unless the options of `prepare` are of the right type */
export function checkPrepareOptions(options: PrepareOptions): PrepareOptions {
  checkOptions(options);
  checkFields('options', options, ['signal', 'onProgress']);
  const { signal, onProgress } = options;
  checkSignal(signal);
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw invalid(`onProgress must be a function, got ${describe(onProgress)}`);
  }
  return { ...(signal === undefined ? {} : { signal }), ...(onProgress === undefined ? {} : { onProgress }) };
}

/** @throws {BackendError} INVALID_ARGUMENT unless the arguments of `copyDtod` are of the right type */
export function checkCopyDtod(dst: unknown, src: unknown, bytes: unknown): void {
  checkPointerType('dst', dst);
  checkPointerType('src', src);
  checkSize('bytes', bytes);
}

/** @throws {BackendError} INVALID_ARGUMENT unless the arguments of `fill` are of the right type and range */
export function checkFill(dst: unknown, byte: unknown, bytes: unknown): void {
  checkPointerType('dst', dst);
  if (!Number.isInteger(byte) || (byte as number) < 0 || (byte as number) > 255) {
    throw invalid(`byte must be an integer from 0 to 255, got ${describe(byte)}`);
  }
  checkSize('bytes', bytes);
}

interface ViewGetters {
  readonly buffer: (view: unknown) => ArrayBuffer;
  readonly byteOffset: (view: unknown) => number;
  readonly byteLength: (view: unknown) => number;
}

/** The getters of the language: a view may have its own properties under these names. */
function gettersOf(prototype: object): ViewGetters {
  const { buffer, byteOffset, byteLength } = Object.getOwnPropertyDescriptors(prototype) as Readonly<
    Record<keyof ViewGetters, PropertyDescriptor>
  >;
  return {
    buffer: (view) => buffer.get?.call(view) as ArrayBuffer,
    byteOffset: (view) => byteOffset.get?.call(view) as number,
    byteLength: (view) => byteLength.get?.call(view) as number,
  };
}

const DATA_VIEW: ViewGetters = gettersOf(DataView.prototype);
const TYPED_ARRAY_PROTOTYPE = Object.getPrototypeOf(Uint8Array.prototype) as object;
const TYPED_ARRAY: ViewGetters = gettersOf(TYPED_ARRAY_PROTOTYPE);
const TYPED_ARRAY_NAME = Object.getOwnPropertyDescriptor(TYPED_ARRAY_PROTOTYPE, Symbol.toStringTag);

/**
 * The bytes under a view.
 *
 * @throws {BackendError} INVALID_ARGUMENT when it is no view, or its buffer is detached or has shrunk below it
 */
export function viewBytes(name: string, view: unknown): Uint8Array {
  if (!ArrayBuffer.isView(view)) {
    throw invalid(`${name} must be a typed array or DataView, got ${describe(view)}`);
  }
  try {
    // A detached typed array looks like an empty one; only its methods tell. A DataView's getters throw by themselves.
    // Not `instanceof`: the view may come from another realm (an iframe, node:vm).
    const isTypedArray = TYPED_ARRAY_NAME?.get?.call(view) !== undefined;
    if (isTypedArray) Uint8Array.prototype.keys.call(view as Uint8Array);
    const { buffer, byteOffset, byteLength } = isTypedArray ? TYPED_ARRAY : DATA_VIEW;
    return new Uint8Array(buffer(view), byteOffset(view), byteLength(view));
  } catch (cause) {
    throw invalid(`${name} is detached or out of bounds of its buffer`, { cause });
  }
}

/** `options` with the default filled in. */
export function checkWaitOptions(options: WaitOptions = {}): { timeoutMs: number; signal: AbortSignal | undefined } {
  checkOptions(options);
  checkFields('options', options, ['timeoutMs', 'signal']);
  const { timeoutMs = 60_000, signal } = options;
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0)) {
    throw invalid(`timeoutMs must be a number >= 0, got ${describe(timeoutMs)}`);
  }
  checkSignal(signal);
  return { timeoutMs, signal };
}
