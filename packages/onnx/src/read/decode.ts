import type { BackendError } from '@concord/backend-core';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { refuse, unsupported } from '../errors.ts';
import { MESSAGES, type Proto } from './schema.ts';

/** The fields of a message, by number. */
export type Message = Readonly<Record<number, readonly [name: string, kind: string]>>;

/** The maximum number of a model's nodes once its functions are inlined. */
export const MAX_NODES = 100_000;

export const tooMany = (): BackendError => unsupported(`the model has more than ${MAX_NODES} nodes`);

/** Nested deeper than any model is. */
const MAX_DEPTH = 100;

const SCALARS: Readonly<Record<string, (reader: BinaryReader) => unknown>> = {
  string: (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  int: (reader) => BigInt(reader.int64()),
  uint: (reader) => BigInt(reader.uint64()),
  int32: (reader) => reader.int32(),
  float: (reader) => reader.float(),
  double: (reader) => reader.double(),
};

/** The fields of a message. */
export function messageOf(name: keyof typeof MESSAGES): Message {
  return MESSAGES[name];
}

/**
 * Reads a message of Protocol Buffers; bytes are views of those given, fields that the table lacks are left out.
 *
 * @throws {BackendError} INVALID_ARGUMENT for bytes that are no such message, with the place in it
 * @throws {BackendError} UNSUPPORTED for too many nodes
 */
export function decode<Name extends keyof typeof MESSAGES>(
  name: Name,
  bytes: Uint8Array,
  path: string = name.toLowerCase(),
  depth = 0,
): Proto<Name> {
  if (depth > MAX_DEPTH) throw refuse(`${path} is nested too deeply`);
  const reader = new BinaryReader(bytes);
  const result: Record<string, unknown> = {};
  let place = path;
  try {
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag();
      const [key, kind] = messageOf(name)[field] ?? [];
      if (key === undefined || kind === undefined) {
        reader.skip(wire, field);
        continue;
      }
      const type = kind.replace('*', '');
      const list = type === kind ? undefined : ((result[key] ??= []) as unknown[]);
      const inner = type in MESSAGES;
      // Before there is memory for all of them.
      if (key === 'nodes' && list?.length === MAX_NODES) throw tooMany();
      place = `${path}.${key}${inner && list ? `[${list.length}]` : ''}`;
      const read = (): unknown =>
        inner ? decode(type as Name, reader.bytes(), place, depth + 1) : SCALARS[type]?.(reader);
      if (list === undefined) result[key] = read();
      else if (inner || type === 'string' || type === 'bytes' || wire !== WireType.LengthDelimited) list.push(read());
      else {
        const end = reader.uint32() + reader.pos;
        if (end > reader.len) throw new RangeError('it ends early');
        while (reader.pos < end) list.push(read());
        if (reader.pos !== end) throw new RangeError('a number goes beyond its list');
      }
    }
  } catch (cause) {
    if (!(cause instanceof RangeError || (cause instanceof Error && cause.name === 'Error'))) throw cause;
    throw refuse(`${place} cannot be read: ${cause.message}`, {
      hint: 'the file is damaged, cut off, or no ONNX model',
    });
  }
  return result as Proto<Name>;
}
