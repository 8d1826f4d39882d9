/** Freezes a tree of objects and lists, and gives it back. */
export function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (isObject(part)) deepFreeze(part);
  return Object.freeze(value);
}

/** Returns whether nothing in a tree of objects and lists can change. */
export function isDeeplyFrozen(value: object): boolean {
  // A set gives what is added on the way too, each once: a caller's object may hold itself, or a million levels.
  const parts = new Set([value]);
  for (const part of parts) {
    if (!Object.isFrozen(part)) return false;
    for (const property of Object.values(Object.getOwnPropertyDescriptors(part))) {
      // A getter gives what it likes, each time.
      if (!('value' in property)) return false;
      if (isObject(property.value)) parts.add(property.value);
    }
  }
  return true;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
