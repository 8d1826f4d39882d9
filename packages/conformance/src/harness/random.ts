/** A seeded generator, so that every case draws the same numbers everywhere and for ever (sfc32, Chris Doty-Humphrey). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed - any text; cases use their id */
  constructor(seed: string) {
    this.#a = hash(seed, 0x811c9dc5);
    this.#b = hash(seed, 0x01234567);
    this.#c = hash(seed, 0x89abcdef);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** Uniform among the integers below 2^32. */
  uint32(): number {
    const result = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return this.uint32() / 2 ** 32;
  }

  /** Uniform integer, both ends included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)] as T;
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** A float32 with all 24 bits of its mantissa in use, of either sign, with its exponent within +-`spread`. */
  wideFloat(spread = 3): number {
    const mantissa = (this.uint32() >>> 8) | 0x800001;
    const scaled = mantissa * 2 ** (this.integer(-spread, spread) - 23);
    return this.chance(0.5) ? scaled : -scaled;
  }

  /** Numbers 0 .. length-1 in random order. */
  permutation(length: number): number[] {
    const order = Array.from({ length }, (_, i) => i);
    for (let i = length - 1; i > 0; i--) {
      const j = this.integer(0, i);
      [order[i], order[j]] = [order[j] as number, order[i] as number];
    }
    return order;
  }
}

/** FNV-1a with a chosen start. */
function hash(text: string, start: number): number {
  let state = start;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state;
}
