/** A key of a {@link ListMap}. */
export type ListKey = readonly (number | string | boolean)[];

/** A map whose keys are lists: of sizes, of what is bound where. Keeps nothing but what it is given, until `clear`. */
export class ListMap<Value> {
  readonly #buckets = new Map<number, { readonly key: ListKey; readonly value: Value }[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: ListKey): Value | undefined {
    const bucket = this.#buckets.get(hash(key));
    if (bucket === undefined) return undefined;
    for (const entry of bucket) if (isSame(entry.key, key)) return entry.value;
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

/** Of the numbers only: lists that differ in nothing but words are few. */
function hash(key: ListKey): number {
  let sum = key.length;
  for (let i = 0; i < key.length; i++) {
    const item = key[i];
    if (typeof item === 'number') sum = Math.imul(sum ^ item, 0x9e3779b1) >>> 1;
  }
  return sum;
}

function isSame(a: ListKey, b: ListKey): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}
