// Strings of SPIR-V: UTF-8 with a zero at the end, four bytes to a word, lowest first. Written out here because
// TextEncoder is neither in ECMAScript nor in the types that Node and browsers share.

/** The words of a string, its final zero included. */
export function encodeString(text: string): number[] {
  const bytes = [...utf8(text), 0];
  const words = Array.from({ length: Math.ceil(bytes.length / 4) }, () => 0);
  for (const [index, byte] of bytes.entries()) words[index >> 2]! |= byte << ((index % 4) * 8);
  return words.map((word) => word >>> 0);
}

/** The bytes of a string in UTF-8. Half of a surrogate pair becomes U+FFFD. */
function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const read = character.codePointAt(0)!;
    const code = read >= 0xd800 && read <= 0xdfff ? 0xfffd : read;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code, 0));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code, 6), tail(code, 0));
    else bytes.push(0xf0 | (code >> 18), tail(code, 12), tail(code, 6), tail(code, 0));
  }
  return bytes;
}

const tail = (code: number, shift: number): number => 0x80 | ((code >> shift) & 0x3f);
