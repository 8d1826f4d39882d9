import fc from 'fast-check';

type Tree = Readonly<Record<string, unknown>> | readonly unknown[];

const never = (): never => {
  throw new RangeError('a trap');
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
}

/** Nothing that a program should put into a call, and some that it may. Made anew: some end when they are used. */
const WRONG: readonly (() => unknown)[] = [
  ...[0, -0, 1, 7, 1000, 2 ** 20, 2 ** 31, 2 ** 40, 2 ** 53, -1, 0.5, 1e300, Number.NaN, Infinity].map((n) => () => n),
  ...[3n, Symbol('s'), undefined, null, true, '3', 'N', 'f16', '__proto__', 'constructor'].map((value) => () => value),
  () => ({ valueOf: () => 3 }),
  () => ({ [Symbol.toPrimitive]: never }),
  () => Object.create(null) as object,
  () => [],
  () => Object.assign([1, 1, 1], { [Symbol.iterator]: never, map: never, slice: never, constructor: never }),
  () => Object.assign([], { length: 2 ** 32 - 1 }),
  () => new Proxy([], { get: (_, key) => (key === 'length' ? Infinity : 1) }),
  () => new Proxy({}, { get: never, has: never, ownKeys: never, getPrototypeOf: never }),
  () => Object.defineProperty({}, 'ptr', { get: never, enumerable: true }),
  revoked,
  () => 3,
  () => new Date(Number.NaN),
];

/** One of the values that nothing may fall for. */
export const wrongValue: fc.Arbitrary<() => unknown> = fc.constantFrom(...WRONG);

/** Returns whether a value has parts that a hostile program could make lie. Kernels have not: they are frozen. */
function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value);
}

/** Where the parts of a call are: the keys from the call to each. */
export function pathsOf(value: unknown): string[][] {
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => [[key], ...pathsOf(part).map((path) => [key, ...path])]);
}

/** The same call, of which every part is true when it is read for the first time, and a lie from then on. */
export function trueOnce<T>(value: T, lie: () => unknown): T {
  if (!isTree(value)) return value;
  const seen = new Set<string | symbol>();
  return new Proxy(value, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key);
      // Functions of the language, such as those of a list, are no part of the call.
      if (typeof part === 'function') return part;
      if (seen.has(key)) return lie();
      seen.add(key);
      return trueOnce(part, lie);
    },
  });
}

/** The same call with another value in one place. */
export function changed<T>(value: T, [key = '', ...rest]: readonly string[], part: unknown): T {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  copy[key] = rest.length === 0 ? part : changed(copy[key], rest, part);
  return copy as T;
}

/** The same call, where one place has a getter. */
export function withGetter<T>(value: T, [key = '', ...rest]: readonly string[], get: () => unknown): T {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  if (rest.length > 0) copy[key] = withGetter(copy[key], rest, get);
  else Object.defineProperty(copy, key, { get, enumerable: true });
  return copy as T;
}
