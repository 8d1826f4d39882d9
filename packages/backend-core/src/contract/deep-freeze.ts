/** Freezes a tree of objects and lists, and gives it back. */
export function deepFreeze<T extends object>(value: T): T {
  for (const part of partsOf(value)) deepFreeze(part);
  return Object.freeze(value);
}

/** Returns whether nothing in a tree of objects and lists can change. */
export function isDeeplyFrozen(value: object, seen: Set<object> = new Set()): boolean {
  // A caller's object may hold itself.
  if (seen.has(value)) return true;
  seen.add(value);
  return Object.isFrozen(value) && partsOf(value).every((part) => isDeeplyFrozen(part, seen));
}

function partsOf(value: object): object[] {
  return Object.values(value).filter((part): part is object => typeof part === 'object' && part !== null);
}
