import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { refuse } from '../errors.ts';

/** The form of a field: one scalar, a list of numbers (packed or not), or lists of texts or bytes. */
type Scalar =
  | 'string'
  | 'string*'
  | 'bytes'
  | 'bytes*'
  | 'int'
  | 'int32'
  | 'float'
  | 'ints'
  | 'uints'
  | 'int32s'
  | 'floats'
  | 'doubles';

/** The fields of a message, by number; `'*'` for a list of messages. */
export type Message = {
  readonly [field: number]: readonly [name: string, kind: Scalar | (() => Message), repeated?: '*'];
};

/** Nested deeper than any model is. */
const MAX_DEPTH = 100;

const NUMBERS: Readonly<Partial<Record<Scalar, (reader: BinaryReader) => number | bigint>>> = {
  ints: (reader) => BigInt(reader.int64()),
  uints: (reader) => BigInt(reader.uint64()),
  int32s: (reader) => reader.int32(),
  floats: (reader) => reader.float(),
  doubles: (reader) => reader.double(),
};

const SINGLE: Readonly<Partial<Record<Scalar, (reader: BinaryReader) => unknown>>> = {
  string: (reader) => reader.string(),
  'string*': (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  'bytes*': (reader) => reader.bytes(),
  int: (reader) => BigInt(reader.int64()),
  int32: (reader) => reader.int32(),
  float: (reader) => reader.float(),
};

/**
 * Reads a message of Protocol Buffers; bytes are views of those given, fields that the table lacks are left out.
 *
 * @throws {BackendError} INVALID_ARGUMENT for bytes that are no such message, with the place in it
 */
export function decode<T>(message: Message, bytes: Uint8Array, path: string, depth = 0): T {
  if (depth > MAX_DEPTH) throw refuse(`${path} is nested too deeply`);
  const reader = new BinaryReader(bytes);
  const result: Record<string, unknown> = {};
  let place = path;
  try {
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      const [name, kind, repeated] = message[field] ?? [];
      if (name === undefined || kind === undefined) {
        reader.skip(wire, field);
        continue;
      }
      place = `${path}.${name}`;
      if (typeof kind === 'function') {
        const list = repeated && ((result[name] ??= []) as unknown[]);
        if (list) place += `[${list.length}]`;
        const read = decode(kind(), reader.bytes(), place, depth + 1);
        if (list) list.push(read);
        else result[name] = read;
        continue;
      }
      const number = NUMBERS[kind];
      if (number !== undefined) {
        const list = (result[name] ??= []) as (number | bigint)[];
        const end = wire === WireType.LengthDelimited ? reader.uint32() + reader.pos : 0;
        if (end > reader.len) throw new RangeError('it ends early');
        do list.push(number(reader));
        while (reader.pos < end);
        if (end > 0 && reader.pos !== end) throw new RangeError('a number goes beyond its list');
        continue;
      }
      const value = SINGLE[kind]?.(reader);
      if (kind.endsWith('*')) ((result[name] ??= []) as unknown[]).push(value);
      else result[name] = value;
    }
  } catch (cause) {
    if (!(cause instanceof RangeError || (cause instanceof Error && cause.name === 'Error'))) throw cause;
    throw refuse(`${place} cannot be read: ${cause.message}`, {
      hint: 'the file is damaged, cut off, or no ONNX model',
    });
  }
  return result as T;
}
