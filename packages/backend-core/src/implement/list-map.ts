/**
 * Lists as keys: of sizes, words and kernels. They are compared whole, numbers to the last bit, objects as themselves.
 */
export type ListKey = readonly unknown[];

interface Entry<Value> {
  readonly key: ListKey;
  readonly value: Value;
}

/** A map whose keys are lists. Keeps nothing but what it is given, until `clear`. */
export class ListMap<Value> {
  readonly #buckets = new Map<number, Entry<Value>[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: ListKey): Value | undefined {
    const bucket = this.#buckets.get(hash(key));
    if (bucket === undefined) return undefined;
    for (let index = 0; index < bucket.length; index++) {
      const entry = bucket[index] as Entry<Value>;
      if (isSame(entry.key, key)) return entry.value;
    }
    return undefined;
  }

  /** Adds a key that is not there. The list may be changed afterwards. */
  add(key: ListKey, value: Value): void {
    const at = hash(key);
    const entry = { key: [...key], value };
    const bucket = this.#buckets.get(at);
    if (bucket === undefined) this.#buckets.set(at, [entry]);
    else bucket.push(entry);
    this.#size++;
  }

  clear(): void {
    this.#buckets.clear();
    this.#size = 0;
  }
}

/**
 * A {@link ListMap} that forgets what nobody asks for: it has two generations, and a program that asks for ever new keys does
 * not drive out those that others ask for again.
 */
export class ListCache<Value> {
  readonly #max: number;
  #young = new ListMap<Value>();
  #older = new ListMap<Value>();

  /** @param max - values of each generation */
  constructor(max: number) {
    this.#max = max;
  }

  get(key: ListKey): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const older = this.#older.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  /** Adds a key that is not there. The list may be changed afterwards. */
  add(key: ListKey, value: Value): void {
    if (this.#young.size >= this.#max) {
      this.#older = this.#young;
      this.#young = new ListMap();
    }
    this.#young.add(key, value);
  }
}

const float = new Float64Array(1);
const bits = new Int32Array(float.buffer);

/** Hashes the numbers only: few lists differ in nothing but strings. */
function hash(key: ListKey): number {
  let sum = key.length;
  for (let i = 0; i < key.length; i++) {
    const item = key[i];
    if (typeof item !== 'number') continue;
    let word = item | 0;
    if (word !== item) {
      float[0] = item;
      word = (bits[0] as number) ^ (bits[1] as number);
    }
    sum = Math.imul(sum ^ word, 0x9e3779b1) ^ (sum >>> 15);
  }
  return sum;
}

function isSame(a: ListKey, b: ListKey): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}
