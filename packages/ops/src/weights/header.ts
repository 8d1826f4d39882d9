import type { BackendError } from '@concord/backend-core';
import { refuse, shapeText } from '../tensor/errors.ts';
import {
  DTYPE_OF_FORMAT,
  FORMAT_BYTES,
  LENGTH_BYTES,
  MAX_HEADER_BYTES,
  type PlacedEntry,
  type SafetensorsDType,
  type SafetensorsHeader,
} from './format.ts';
import { repeatedKey } from './repeated-key.ts';
import { standIn } from './stand-in.ts';

/** The key of the header that is no tensor. */
export const METADATA = '__metadata__';

/** The fault in a file. */
export function damaged(detail: string): BackendError {
  return refuse('safetensors', detail);
}

/**
 * The length of the header from the first 8 bytes of a file.
 *
 * @param fileBytes - undefined where it is unknown
 * @throws {BackendError} INVALID_ARGUMENT for fewer bytes, and for a header longer than the file or 100 MB
 */
export function headerLength(first: Uint8Array, fileBytes: number | undefined): number {
  if (first.length < LENGTH_BYTES)
    throw damaged(`${first.length} bytes are not a file: the length of its header has 8`);
  const length = new DataView(first.buffer, first.byteOffset, LENGTH_BYTES).getBigUint64(0, true);
  const other = standIn(first);
  if (other !== undefined) throw refuse('safetensors', `the file is ${other.what}`, { hint: other.hint });
  if (length > MAX_HEADER_BYTES) throw damaged(`a header of ${length} bytes, more than ${MAX_HEADER_BYTES}`);
  if (fileBytes !== undefined && Number(length) > fileBytes - LENGTH_BYTES) {
    throw damaged(`a header of ${length} bytes in a file of ${fileBytes}`);
  }
  return Number(length);
}

/**
 * The content of the header of a file, checked: the elements of its tensors follow each other without holes up to its end.
 *
 * @param header - its JSON
 * @param fileBytes - undefined where it is unknown
 * @throws {BackendError} INVALID_ARGUMENT, with what is wrong
 */
export function parseHeader(header: Uint8Array, fileBytes: number | undefined): SafetensorsHeader {
  const { [METADATA]: metadata, ...entries } = objectOf(header);
  const dataStart = LENGTH_BYTES + header.length;
  const tensors = Object.entries(entries)
    .map(([name, entry]) => readEntry(name, entry, dataStart))
    // A tensor without elements starts where the next one does.
    .sort((a, b) => a.start - b.start || a.bytes - b.bytes);
  let end = dataStart;
  for (const { name, start, bytes } of tensors) {
    if (start !== end) {
      const what = start > end ? 'a hole before' : 'another tensor in';
      throw damaged(`${what} ${name}: it starts at byte ${start - dataStart} of the data, not ${end - dataStart}`);
    }
    end += bytes;
  }
  if (fileBytes !== undefined && end !== fileBytes) {
    throw damaged(`the tensors have ${end - dataStart} bytes, the file has ${fileBytes - dataStart} for them`);
  }
  return { tensors, metadata: readMetadata(metadata) };
}

function objectOf(header: Uint8Array): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(header);
    value = JSON.parse(text);
  } catch (cause) {
    throw refuse('safetensors', 'the header is not JSON', { cause });
  }
  if (!isRecord(value)) throw damaged('the header is not a JSON object');
  const repeated = repeatedKey(text);
  if (repeated !== undefined) {
    throw damaged(repeated === '__proto__' ? 'a key __proto__ in the header' : `${repeated} is in the header twice`);
  }
  return value;
}

function readEntry(name: string, entry: unknown, dataStart: number): PlacedEntry {
  if (!isRecord(entry)) throw damaged(`${name} is not an object`);
  const { dtype: format, shape, data_offsets: offsets } = entry;
  if (typeof format !== 'string' || !isFormat(format)) throw damaged(`${name} has the unknown dtype ${shown(format)}`);
  if (!isSizes(shape)) throw damaged(`${name} has the shape ${shown(shape)}, which is not a list of sizes`);
  if (!isSizes(offsets) || offsets.length !== 2) {
    throw damaged(`${name} has the data_offsets ${shown(offsets)}, which are not a start and an end`);
  }
  const [from, to] = offsets as [number, number];
  if (from > to) throw damaged(`${name} ends at byte ${to}, before its start ${from}`);
  // A size of 0 must not hide others that no number holds.
  const product = shape.reduce((total, length) => total * Math.max(1, length), FORMAT_BYTES[format]);
  if (!Number.isSafeInteger(product)) throw damaged(`${name} has the shape ${shapeText(shape)}, more than any memory`);
  const bytes = shape.includes(0) ? 0 : product;
  if (to - from !== bytes) {
    throw damaged(`${name}, ${format}${shapeText(shape)}, needs ${bytes} bytes and has ${to - from}`);
  }
  return { name, shape, format, dtype: DTYPE_OF_FORMAT[format], bytes, start: dataStart + from };
}

function readMetadata(metadata: unknown): Readonly<Record<string, string>> {
  if (metadata === undefined) return {};
  if (!isRecord(metadata) || Object.values(metadata).some((value) => typeof value !== 'string')) {
    throw damaged(`${METADATA} is not an object of strings`);
  }
  return metadata as Record<string, string>;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFormat(text: string): text is SafetensorsDType {
  return Object.hasOwn(FORMAT_BYTES, text);
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && (each as number) >= 0);
}

/** A value of a header in a message; a hostile one may be of any length. */
function shown(value: unknown): string {
  return value === undefined ? 'undefined' : JSON.stringify(value).slice(0, 80);
}
