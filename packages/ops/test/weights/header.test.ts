import { isBackendError } from '@concord/backend-core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSafetensors } from '../../src/index.ts';
import { entry, fileOf } from './files.ts';

const A = entry('F32', [2], 0, 8);
const lengthOf = (length: bigint): Uint8Array => {
  const file = fileOf({ a: A }, 8);
  new DataView(file.buffer).setBigUint64(0, length, true);
  return file;
};

test('names, shapes and types are read, also of those that no device holds', async () => {
  const header = {
    later: entry('I64', [1], 8, 16),
    __metadata__: { format: 'pt' },
    none: entry('F16', [0, 3], 8, 8),
    first: entry('BF16', [2, 2], 0, 8),
    number: entry('U8', [], 16, 17),
  };
  expect(await readSafetensors(fileOf(`${JSON.stringify(header)}   `, 17))).toEqual({
    metadata: { format: 'pt' },
    tensors: [
      { name: 'first', shape: [2, 2], format: 'BF16', dtype: 'bf16', bytes: 8 },
      { name: 'none', shape: [0, 3], format: 'F16', dtype: 'f16', bytes: 0 },
      { name: 'later', shape: [1], format: 'I64', dtype: undefined, bytes: 8 },
      { name: 'number', shape: [], format: 'U8', dtype: 'u8', bytes: 1 },
    ],
  });
  expect(await readSafetensors(fileOf({}))).toEqual({ metadata: {}, tensors: [] });
});

test.each<[string, Uint8Array, RegExp]>([
  ['nothing', new Uint8Array(), /0 bytes are not a file/],
  ['less than a length', new Uint8Array(7), /7 bytes are not a file/],
  ['a header beyond the file', lengthOf(500n), /a header of 500 bytes in a file of \d+/],
  ['a header beyond 100 MB', lengthOf(100_000_001n), /a header of 100000001 bytes, more than 100000000/],
  ['a header beyond every number', lengthOf(2n ** 64n - 1n), /a header of 18446744073709551615 bytes/],
  ['an empty header', fileOf(''), /not JSON/],
  ['no JSON', fileOf('{"a":'), /not JSON/],
  ['no UTF-8', fileOf({ a: A }, 8).fill(0xff, 10, 11), /not JSON/],
  ['a list', fileOf([A]), /not a JSON object/],
  ['null', fileOf('null'), /not a JSON object/],
  ['__proto__', fileOf(`{"__proto__":${JSON.stringify(A)}}`, 8), /a key __proto__/],
  ['__proto__ in disguise', fileOf(String.raw`{"\u005f_proto__":${JSON.stringify(A)}}`, 8), /a key __proto__/],
  ['a name twice', fileOf(`{"a":${JSON.stringify(A)},"a":${JSON.stringify(A)}}`, 8), /a is in the header twice/],
  [
    'a field twice',
    fileOf('{"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}}', 8),
    /shape is in.*twice/,
  ],
  ['no object for a tensor', fileOf({ a: 7 }), /a is not an object/],
  ['an unknown dtype', fileOf({ a: entry('F31', [2], 0, 8) }, 8), /unknown dtype "F31"/],
  ['a dtype of Object', fileOf({ a: entry('toString', [2], 0, 8) }, 8), /unknown dtype "toString"/],
  ['no dtype', fileOf({ a: { shape: [2], data_offsets: [0, 8] } }, 8), /unknown dtype undefined/],
  ['no shape', fileOf({ a: { dtype: 'F32', data_offsets: [0, 8] } }, 8), /the shape undefined/],
  ['a negative size', fileOf({ a: entry('F32', [-2, -1], 0, 8) }, 8), /the shape \[-2,-1\]/],
  ['a size that is no integer', fileOf({ a: entry('F32', [0.5, 4], 0, 8) }, 8), /the shape \[0.5,4\]/],
  ['a size as text', fileOf({ a: entry('F32', ['2'], 0, 8) }, 8), /the shape \["2"\]/],
  ['sizes that overflow', fileOf({ a: entry('F32', [2 ** 40, 2 ** 40], 0, 8) }, 8), /more than any memory/],
  ['sizes that overflow beside 0', fileOf({ a: entry('F32', [2 ** 40, 0, 2 ** 40], 0, 0) }), /more than any memory/],
  ['one offset', fileOf({ a: { dtype: 'F32', shape: [2], data_offsets: [0] } }, 8), /not a start and an end/],
  ['a negative offset', fileOf({ a: entry('F32', [2], -8, 0) }, 8), /not a start and an end/],
  ['offsets exchanged', fileOf({ a: entry('F32', [2], 8, 0) }, 8), /ends at byte 0, before its start 8/],
  ['too few bytes for a shape', fileOf({ a: entry('F32', [3], 0, 8) }, 8), /F32\[3\], needs 12 bytes and has 8/],
  ['too many bytes for a shape', fileOf({ a: entry('F16', [3], 0, 8) }, 8), /F16\[3\], needs 6 bytes and has 8/],
  ['two tensors in one place', fileOf({ a: A, b: A }, 8), /another tensor in b/],
  ['two that overlap', fileOf({ a: A, b: entry('F32', [2], 4, 12) }, 12), /another tensor in b: .* byte 4 .* not 8/],
  ['a hole', fileOf({ a: A, b: entry('F32', [1], 12, 16) }, 16), /a hole before b/],
  ['a hole in front', fileOf({ a: entry('F32', [2], 4, 12) }, 12), /a hole before a/],
  ['a tensor beyond the end', fileOf({ a: A }, 7), /have 8 bytes, the file has 7/],
  ['bytes of no tensor', fileOf({ a: A }, 9), /have 8 bytes, the file has 9/],
  ['metadata that is no text', fileOf({ a: A, __metadata__: { n: 1 } }, 8), /not an object of strings/],
])('%s is refused, with what is wrong', async (_, file, message) => {
  const error: unknown = await readSafetensors(file).catch((thrown: unknown) => thrown);
  expect(isBackendError(error, 'INVALID_ARGUMENT') && error.message).toMatch(message);
});

test('whatever a header says, it is refused by a coded error or what is read lies in the file without overlap', async () => {
  const size = fc.oneof(fc.nat(4), fc.integer(), fc.double(), fc.constant(2 ** 53));
  const part = fc.record(
    {
      dtype: fc.oneof(fc.constantFrom('F32', 'F16', 'U8', 'I64', 'F31'), fc.string()),
      shape: fc.oneof(fc.array(size, { maxLength: 3 }), fc.jsonValue()),
      data_offsets: fc.oneof(fc.tuple(fc.nat(16), fc.nat(16)), fc.array(size, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  );
  const header = fc.oneof(
    fc.dictionary(fc.string({ maxLength: 3 }), part, { maxKeys: 3 }),
    fc.jsonValue(),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(header, fc.nat(20), async (content, bytes) => {
      await expectSound(fileOf(content, bytes));
    }),
    { numRuns: 500 },
  );
});

test('whatever byte of a file is changed or missing, the same holds', async () => {
  const good = fileOf({ a: A, b: entry('U8', [2, 1], 8, 10), __metadata__: { x: 'y' } }, 10);
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), async (at, byte, length) => {
      const file = good.slice(0, length);
      if (at < length) file[at] = byte;
      await expectSound(file);
    }),
    { numRuns: 500 },
  );
});

async function expectSound(file: Uint8Array): Promise<void> {
  try {
    const { tensors } = await readSafetensors(file);
    const headerLength = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
    expect(tensors.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(file.length - 8 - headerLength);
    for (const { shape } of tensors) expect(shape.every((length) => length >= 0)).toBe(true);
  } catch (error) {
    if (!isBackendError(error, 'INVALID_ARGUMENT')) throw error;
  }
}
