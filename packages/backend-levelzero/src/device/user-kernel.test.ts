import { expect, it } from 'vitest';
import { argumentBytes, type UserArgument } from './user-kernel.ts';

const hex = (arg: UserArgument): string => Buffer.from(argumentBytes(arg).bytes ?? []).toString('hex');

it.each<[UserArgument, string]>([
  [{ u32: 4_294_967_295 }, 'ffffffff'],
  [{ i32: -2 }, 'feffffff'],
  [{ u64: 2 ** 40 }, '0000000000010000'],
  [{ i64: -1n }, 'ffffffffffffffff'],
  [{ f32: 1 }, '0000803f'],
  [{ f64: 1 }, '000000000000f03f'],
  [{ bytes: Uint8Array.of(1, 2, 3) }, '010203'],
  [{ pointer: 0xffff_8000_0000_1000n }, '001000000080ffff'],
])('argument %# is passed as %s', (arg, wanted) => {
  expect(hex(arg)).toBe(wanted);
});

it('workgroup memory has a size and no bytes', () => {
  expect(argumentBytes({ local: 1024 })).toEqual({ size: 1024, bytes: null });
});

it.each<UserArgument>([
  { u32: -1 },
  { u32: 1.5 },
  { u32: 2 ** 32 },
  { i32: 2 ** 31 },
  { i32: Number.NaN },
  { u64: -1 },
  { u64: 2n ** 64n },
  { i64: 2n ** 63n },
  { i64: 0.5 },
])('a value that its type does not hold is refused, not wrapped: %o', (argument) => {
  expect(() => argumentBytes(argument)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});

it.each<unknown>([null, 3, { constructor: 3 }, { pointer: null }, { pointer: 5 }])('%o is no argument', (argument) => {
  expect(() => argumentBytes(argument as UserArgument)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});
