import type { Params } from './case.ts';

/** Sizes below one, the boldest first: half of it, and one less. */
export const smallerSizes = (size: number): number[] => (size > 1 ? [Math.ceil(size / 2), size - 1] : []);

/** A list with another number at one place. */
export const replaced = (list: readonly number[], at: number, value: number): number[] =>
  list.map((own, index) => (index === at ? value : own));

/** Changes each of which gives a parameter its default, for those of the names that have another value. */
export function plainer<P extends Params>(params: P, defaults: P, names: readonly (keyof P)[]): Partial<P>[] {
  const changed = names.filter((name) => params[name] !== defaults[name]);
  return changed.map((name) => ({ [name]: defaults[name] }) as unknown as Partial<P>);
}
