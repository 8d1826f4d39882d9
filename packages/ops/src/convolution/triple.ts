import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import type { Pair, Sides } from './window.ts';

/** One number for depth, height and width, or one for each. */
export type Triple = number | readonly [d: number, h: number, w: number];

/** The padding around a volume: as {@link Sides}, for three axes. */
export type Sides3 =
  | number
  | readonly [d: number, h: number, w: number]
  | readonly [front: number, top: number, left: number, back: number, bottom: number, right: number]
  | 'same'
  | 'valid';

/** An option of three axes in two: of `[d, 1]`, and of the planes `[h, w]`. */
export interface Parted<T> {
  readonly depth: T;
  readonly planes: T;
}

/** @throws {BackendError} INVALID_ARGUMENT for what is no number or triple; the numbers are not looked at */
export function partedTriple(op: string, what: string, value: Triple): Parted<Pair> {
  if (typeof value === 'number') return { depth: [value, 1], planes: value };
  if (!Array.isArray(value) || value.length !== 3) {
    throw refuse(op, `${what} must be a number or [d, h, w], got ${shown(value)}`);
  }
  const [d, h, w] = value as readonly [number, number, number];
  return { depth: [d, 1], planes: [h, w] };
}

/** @throws {BackendError} INVALID_ARGUMENT for what is no number, three or six of them or word; the numbers are not looked at */
export function partedSides(op: string, padding: Sides3): Parted<Sides> {
  if (padding === 'same' || padding === 'valid') return { depth: padding, planes: padding };
  if (typeof padding === 'number') return { depth: [padding, 0], planes: padding };
  const sides: readonly number[] = padding;
  if (!Array.isArray(sides) || (sides.length !== 3 && sides.length !== 6)) {
    const forms = 'a number, [d, h, w], [front, top, left, back, bottom, right], same or valid';
    throw refuse(op, `padding must be ${forms}, got ${shown(padding)}`);
  }
  const [front = 0, top = 0, left = 0, back = front, bottom = top, right = left] = sides;
  return { depth: [front, 0, back, 0], planes: [top, left, bottom, right] };
}
