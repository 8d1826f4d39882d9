import { i8x16, type Local, type Value, v128 } from '../../encoder/index.ts';

/** The bytes of words 0, 2, 5 and 7 of two vectors. */
const BYTES = [0, 2, 5, 7].flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte));

/** Float32 0, 2, 4 and 6 at an address, from words 0 to 3 and 3 to 6: nothing after them is read. */
export function everyOther(source: Local<'i32'>, offset: number): Value<'v128'> {
  return i8x16.shuffle(v128.load(source, offset), v128.load(source, offset + 12), BYTES);
}
