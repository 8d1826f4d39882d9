import type { Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { coordinatesOf, type ElementScope, type KernelCode, type RowScope } from '../run/kernel-code.ts';
import { foldUnrolled, setsOf, type States } from './states.ts';

/** Elements of a row that are visited at once. */
export interface Place {
  /** The coordinates of the first one along the folded axes. */
  readonly coordinates: readonly Value[];
  /** Neighbours along the last folded axis. */
  readonly width: Width;
  /** The scope that keeps the values of elements that stay in registers. */
  readonly scope?: ElementScope;
  /** The in-bounds predicate; undefined if always true. */
  readonly isThere?: Value;
}

/** The update of the states at each place. */
export interface Visitor {
  identity(width: Width): States;
  take(states: States, place: Place): States;
}

/** States of one width: what a work-item has folded. */
export interface Folded {
  readonly states: States;
  readonly width: Width;
}

/** The way in which a work-item reaches its own elements of a row. */
export interface Walk {
  /** Visits them all; sets of states that are yet to be joined. */
  fold(visitor: Visitor): readonly Folded[];
  /** Visits them all. */
  each(visit: (place: Place) => void): void;
  /** Visits them one by one, in their order or from the end; `take` gives the states after one from those before. */
  scan(isReverse: boolean, begin: States, take: (states: States, coordinates: readonly Value[]) => States): void;
}

/** Elements of a row, in lines along the last folded axis. */
export interface Lines {
  /** Lines from here on. Of a row that is one line there is no other. */
  readonly firstLine: Value;
  readonly endLine: Value;
  /** Elements of each line from here on. */
  readonly start: Value;
  readonly end: Value;
  readonly width: Width;
  /** Vectors at once, each into its own states. */
  readonly unroll: number;
}

const sizesOfLines = (code: KernelCode): readonly Value[] => code.sizes(code.form.rowRank, code.form.foldedRank - 1);

/** Line by line, each by several vectors at a time, by single ones, and element by element at its end. For CPUs. */
export function lineWalk(code: KernelCode, { firstLine, endLine, start, end, width, unroll }: Lines): Walk {
  const { k, form } = code;
  const size = k.sub(end, start);
  const whole = k.add(start, k.and(size, -(width * unroll)));
  const tail = k.add(start, k.and(size, -width));
  const isOneLine = form.foldedRank === 1;
  const sizes = sizesOfLines(code);

  /** Carries all sets of states of vectors, then that of single elements. */
  const foldLine = (line: readonly Value[], given: readonly Value[], visitor: Visitor): readonly Value[] => {
    const count = visitor.identity(width).length;
    const at = (place: Value, components: Width): Place => ({ coordinates: [...line, place], width: components });
    const vectors = foldUnrolled(
      k,
      { from: start, whole, to: tail, step: width, unroll },
      given.slice(0, unroll * count),
      (states, place) => visitor.take(states, at(place, width)),
    );
    if (width === 1) return vectors;
    const singles = k.forLoop({ from: tail, to: end }, given.slice(unroll * count), (place, carried) => [
      ...visitor.take(carried, at(place, 1)),
    ]);
    return [...vectors, ...singles];
  };

  return {
    fold(visitor) {
      const one = visitor.identity(width);
      const begin = [...Array.from({ length: unroll }, () => one).flat(), ...(width === 1 ? [] : visitor.identity(1))];
      const all = isOneLine
        ? foldLine([], begin, visitor)
        : k.forLoop({ from: firstLine, to: endLine }, begin, (line, carried) => [
            ...foldLine(coordinatesOf(k, line, sizes), carried, visitor),
          ]);
      const sets = setsOf(all.slice(0, unroll * one.length), unroll);
      const folded: Folded[] = sets.map((states) => ({ states, width }));
      return width === 1 ? folded : [...folded, { states: all.slice(unroll * one.length), width: 1 }];
    },
    each(visit) {
      const line = (outer: readonly Value[]): void => {
        k.forLoop({ from: start, to: tail, step: width }, [], (place) =>
          visit({ coordinates: [...outer, place], width }),
        );
        if (width === 1) return;
        k.forLoop({ from: tail, to: end }, [], (place) => visit({ coordinates: [...outer, place], width: 1 }));
      };
      if (isOneLine) line([]);
      else k.forLoop({ from: firstLine, to: endLine }, [], (number) => line(coordinatesOf(k, number, sizes)));
    },
    scan(isReverse, begin, take) {
      const line = (outer: readonly Value[], carried: States): States =>
        inTurn(code, { from: start, to: end }, isReverse, carried, (states, place) => take(states, [...outer, place]));
      if (isOneLine) line([], begin);
      else
        inTurn(code, { from: firstLine, to: endLine }, isReverse, begin, (states, number) =>
          line(coordinatesOf(k, number, sizes), states),
        );
    },
  };
}

/** Takes places in their order, or from the last one on. */
function inTurn(
  { k }: KernelCode,
  { from, to }: { readonly from: Value; readonly to: Value },
  isReverse: boolean,
  begin: States,
  take: (states: States, place: Value) => States,
): States {
  const last = k.add(from, k.sub(to, 1));
  return k.forLoop({ from, to }, begin, (place, states) => [...take(states, isReverse ? k.sub(last, place) : place)]);
}

/** Vectors of a row by number, of which a work-item takes each `lanes`-th. */
export interface Share {
  /** The work-item's own first one, and the end of all. */
  readonly first: Value;
  readonly end: Value;
  /** Work-items that share the row, or parts that each have every n-th. */
  readonly lanes: number | Value;
  readonly width: Width;
}

/** A vector of a row by number: vectors do not go across the end of a line. */
function unitAt(code: KernelCode, unit: Value, width: Width): readonly Value[] {
  const { k, form } = code;
  if (form.foldedRank === 1) return [width === 1 ? unit : k.mul(unit, width)];
  const units = code.arg('units');
  const number = k.udiv(unit, units);
  const place = k.sub(unit, k.mul(number, units));
  const line = coordinatesOf(k, number, sizesOfLines(code));
  return [...line, width === 1 ? place : k.mul(place, width)];
}

/** Each `lanes`-th vector, read anew in each pass; several at a time. For GPUs. */
export function stridedWalk(code: KernelCode, { first, end, lanes, width }: Share, unroll: number): Walk {
  const { k } = code;
  const stride = typeof lanes === 'number' ? k.constant(end.type, lanes) : lanes;
  const room = k.select(k.ult(first, end), k.sub(end, first), k.constant(end.type, 0));
  const share = k.udiv(k.add(room, k.sub(stride, 1)), stride);
  // After the last from which a whole unrolled step is there.
  const whole = k.add(first, k.mul(k.and(share, -unroll), stride));
  const at = (unit: Value): Place => ({ coordinates: unitAt(code, unit, width), width });
  return {
    fold(visitor) {
      const one = visitor.identity(width);
      const begin = Array.from({ length: unroll }, () => one).flat();
      const places = { from: first, whole, to: end, step: stride, unroll };
      const all = foldUnrolled(k, places, begin, (states, unit) => visitor.take(states, at(unit)));
      return setsOf(all, unroll).map((states) => ({ states, width }));
    },
    each(visit) {
      k.forLoop({ from: first, to: end, step: stride }, [], (unit) => visit(at(unit)));
    },
    scan(isReverse, begin, take) {
      inTurn(code, { from: first, to: end }, isReverse, begin, (states, unit) => take(states, at(unit).coordinates));
    },
  };
}

/**
 * Each `lanes`-th vector of a row that fits: `kept` of them, read once and kept in registers. One after the end is the
 * last one again, of which nothing comes.
 */
export function keptWalk(
  code: KernelCode,
  row: RowScope,
  { first, end, lanes, width }: Share & { readonly lanes: number },
  kept: number,
): Walk {
  const { k } = code;
  const places = Array.from({ length: kept }, (_, slot): Required<Place> => {
    const unit = slot === 0 ? first : k.add(first, slot * lanes);
    const coordinates = unitAt(code, k.math('u_min', unit, k.sub(end, 1)), width);
    return { coordinates, width, scope: code.element(row, coordinates, width), isThere: k.ult(unit, end) };
  });
  return {
    fold: (visitor) => places.map((place) => ({ states: visitor.take(visitor.identity(width), place), width })),
    each: (visit) => {
      for (const place of places) visit(place);
    },
    scan: () => {
      throw new Error('a team does not scan');
    },
  };
}
