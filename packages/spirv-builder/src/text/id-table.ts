import type { Token } from './tokens.ts';

/** Numbers for the ids of a text: those written as numbers keep them, names get what is left, lowest first. */
export class IdTable {
  readonly #numbers: ReadonlySet<number>;
  readonly #names = new Map<string, number>();
  #next = 1;
  #bound = 1;

  constructor(tokens: readonly Token[]) {
    this.#numbers = new Set(tokens.flatMap(({ text }) => numericId(text) ?? []));
  }

  /** One more than the highest number so far. */
  get bound(): number {
    return this.#bound;
  }

  /** The number of an id such as "%12" or "%name"; undefined when it is not written like an id. */
  numberOf(text: string): number | undefined {
    if (!/^%[A-Za-z0-9_]+$/.test(text)) return undefined;
    const id = numericId(text) ?? this.#names.get(text) ?? this.#free(text);
    this.#bound = Math.max(this.#bound, id + 1);
    return id;
  }

  #free(name: string): number {
    while (this.#numbers.has(this.#next)) this.#next += 1;
    const id = this.#next;
    this.#next += 1;
    this.#names.set(name, id);
    return id;
  }
}

const MAX_ID = 0xffff_fffe;

function numericId(text: string): number | undefined {
  const id = /^%[1-9]\d{0,9}$/.test(text) ? Number(text.slice(1)) : Infinity;
  return id <= MAX_ID ? id : undefined;
}
