import { BackendError } from '@concord/backend-core';
import type { Span } from '../kernels/recorder.ts';
import { addressOf } from './command-stream.ts';

/** An argument of a user's kernel: a pointer, a value of a type, raw bytes of a struct, or bytes of workgroup memory. */
export type UserArgument =
  | { readonly pointer: Span | bigint }
  | { readonly i32: number }
  | { readonly u32: number }
  | { readonly i64: number | bigint }
  | { readonly u64: number | bigint }
  | { readonly f32: number }
  | { readonly f64: number }
  | { readonly bytes: Uint8Array }
  | { readonly local: number };

type Writer = (view: DataView, value: never) => void;

/** Values that a type does not hold are refused, not wrapped. */
const SCALARS: Readonly<Record<string, { readonly size: number; readonly write: Writer }>> = {
  i32: { size: 4, write: (view, value: number) => view.setInt32(0, exact(value, value | 0), true) },
  u32: { size: 4, write: (view, value: number) => view.setUint32(0, exact(value, value >>> 0), true) },
  i64: {
    size: 8,
    write: (view, value: number | bigint) =>
      view.setBigInt64(0, exact(BigInt(value), BigInt.asIntN(64, BigInt(value))), true),
  },
  u64: {
    size: 8,
    write: (view, value: number | bigint) =>
      view.setBigUint64(0, exact(BigInt(value), BigInt.asUintN(64, BigInt(value))), true),
  },
  f32: { size: 4, write: (view, value: number) => view.setFloat32(0, value, true) },
  f64: { size: 8, write: (view, value: number) => view.setFloat64(0, value, true) },
};

/**
 * The value that the driver gets for an argument; workgroup memory has a size and no bytes.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function argumentBytes(arg: UserArgument): { readonly size: number; readonly bytes: Uint8Array | null } {
  if (typeof arg !== 'object' || arg === null) throw invalid('an argument is an object such as { u32: 3 }');
  const [[type, value] = ['', undefined], ...others] = Object.entries(arg) as [string, unknown][];
  if (others.length > 0) throw invalid('an argument is an object with one entry, such as { u32: 3 }');
  if (type === 'local') {
    if (!(Number.isSafeInteger(value) && (value as number) > 0))
      throw invalid('local takes a positive number of bytes');
    return { size: value as number, bytes: null };
  }
  if (type === 'bytes') {
    if (!(value instanceof Uint8Array) || value.byteLength === 0) throw invalid('bytes takes a Uint8Array');
    return { size: value.byteLength, bytes: value };
  }
  if (type === 'pointer') {
    if (typeof value !== 'bigint' && (typeof value !== 'object' || value === null)) {
      throw invalid('pointer takes a span or an address, a bigint');
    }
    const address = typeof value === 'bigint' ? value : addressOf(value as Span);
    return { size: 8, bytes: new Uint8Array(BigUint64Array.of(address).buffer) };
  }
  const scalar = Object.hasOwn(SCALARS, type) ? SCALARS[type] : undefined;
  if (scalar === undefined) throw invalid(`an argument has no type ${JSON.stringify(type)}`);
  if (typeof value !== 'number' && typeof value !== 'bigint') throw invalid(`${type} takes a number`);
  const bytes = new Uint8Array(scalar.size);
  try {
    scalar.write(new DataView(bytes.buffer), value as never);
  } catch (cause) {
    throw new BackendError('INVALID_ARGUMENT', `${type} does not take ${String(value)}`, { cause });
  }
  return { size: scalar.size, bytes };
}

function exact<Value extends number | bigint>(value: Value, held: Value): Value {
  if (held !== value) throw new RangeError(`${value} does not fit`);
  return held;
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}
