/** An instruction of a module. */
export interface Instruction {
  readonly opcode: number;
  readonly operands: readonly number[];
}

/** Words of the header. */
const HEADER = 5;

/** The instructions of a module, in order. */
export function instructionsOf(words: Uint32Array): Instruction[] {
  const found: Instruction[] = [];
  for (let at = HEADER; at < words.length;) {
    const word = words[at] as number;
    const end = at + (word >>> 16);
    found.push({ opcode: word & 0xffff, operands: [...words.subarray(at + 1, end)] });
    at = end;
  }
  return found;
}
