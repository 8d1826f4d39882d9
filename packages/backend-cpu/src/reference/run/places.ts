import { type Interval, isEmpty, point } from './interval.ts';

/**
 * argmax: the place of the first NaN, else of the first of the greatest. Each place is possible that some choice of the
 * values from their intervals gives.
 */
export function placeOfGreatest(values: readonly Interval[]): Interval {
  if (values.length === 0) return point(0);
  const places = possiblePlaces(values);
  const [lo, hi] = [places[0] as number, places.at(-1) as number];
  return lo === hi ? point(lo) : { lo, hi, nan: false, choices: places };
}

function possiblePlaces(values: readonly Interval[]): readonly number[] {
  const places: number[] = [];
  const certainNan = values.findIndex(isEmpty);
  const greatestBehind = suffixMaxima(values);
  let greatestBefore = -Infinity;
  for (const [place, { lo, hi, nan }] of values.entries()) {
    if (place === certainNan) return [...places, place];
    // An equal one before it would be the first; one after it would not.
    const isGreatest = (place === 0 || hi > greatestBefore) && hi >= (greatestBehind[place] as number);
    if (nan || (certainNan < 0 && isGreatest)) places.push(place);
    greatestBefore = Math.max(greatestBefore, lo);
  }
  return places;
}

/** For each place the greatest `lo` after it. */
function suffixMaxima(values: readonly Interval[]): Float64Array {
  const maxima = new Float64Array(values.length).fill(-Infinity);
  for (let place = values.length - 2; place >= 0; place--) {
    maxima[place] = Math.max(maxima[place + 1] as number, (values[place + 1] as Interval).lo);
  }
  return maxima;
}
