import type { BackendErrorFields } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';

/** Letters of an unknown name that are looked at. */
const MAX_NAME = 40;

/**
 * A misspelt field would silently mean its default.
 *
 * @throws {BackendError} INVALID_ARGUMENT where `value` has an own field, not undefined, that is not among `names`
 */
export function checkFields(
  what: string,
  value: object,
  names: readonly string[],
  fields: BackendErrorFields = {},
): void {
  for (const name of Object.keys(value)) {
    if (names.includes(name) || (value as Record<string, unknown>)[name] === undefined) continue;
    // A name of four words is not a misspelling; to compare one of a megabyte would take minutes.
    const near = name.length > MAX_NAME ? undefined : nearestName(name, names);
    const hint = near === undefined ? `it has ${names.join(', ') || 'none'}` : `did you mean ${near}?`;
    const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}...` : name;
    throw invalid(`${what} has no field ${shown}; ${hint}`, fields);
  }
}

/**
 * Returns whether an object that somebody wrote down has as many fields as were found in it by their names: then it has no
 * other. What has a prototype of its own is left to {@link checkFields}.
 */
export function hasFields(value: object, count: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  let own = 0;
  for (const _ in value) own++;
  return own === count;
}

/** The nearest name, if it differs little, or is the beginning of the other. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  // One letter is as near to any other.
  const limit = name.length === 1 ? 0 : Math.max(1, Math.floor(name.length / 3));
  const [best] = names
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  if (best !== undefined) return best.candidate;
  // epsilon for eps, dim for dims.
  return names.find(
    (each) => Math.min(each.length, name.length) >= 3 && (name.startsWith(each) || each.startsWith(name)),
  );
}

/** Letters to insert, delete or replace: Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  return previous.at(-1) as number;
}
