/** Axes of a domain and how views move along them. */
export interface Axes {
  /** Sizes of the axes, outermost first. */
  readonly sizes: readonly number[];
  /** The strides of each view along each axis. */
  readonly strides: readonly (readonly number[])[];
}

/**
 * The same points in the same order in fewer axes: those of size 1 are dropped, and two neighbours become one where
 * each view steps over the end of the inner one as if it went on. A view that stands still along both does; one that
 * tells the index along an axis (stride 1 there, else 0) keeps that axis apart.
 */
export function coalesce({ sizes, strides }: Axes): Axes {
  const kept: number[] = [];
  const merged: number[] = [];
  const inner: number[] = [];
  for (let axis = sizes.length - 1; axis >= 0; axis--) {
    const size = sizes[axis] as number;
    if (size === 1) continue;
    const last = merged.length - 1;
    const reach = merged[last] as number;
    const goesOn = last >= 0 && strides.every((view) => view[axis] === (view[inner[last] as number] as number) * reach);
    if (goesOn) {
      merged[last] = reach * size;
    } else {
      kept.push(axis);
      inner.push(axis);
      merged.push(size);
    }
  }
  inner.reverse();
  return { sizes: merged.reverse(), strides: strides.map((view) => inner.map((axis) => view[axis] as number)) };
}

/** The same axes in another order: `order` lists the old places. */
export function permuteAxes({ sizes, strides }: Axes, order: readonly number[]): Axes {
  const reordered = (list: readonly number[]): number[] => order.map((axis) => list[axis] as number);
  return { sizes: reordered(sizes), strides: strides.map(reordered) };
}

/** Ranks that code is generated for. */
export const RANK_CLASSES = [1, 2, 3, 4, 8] as const;

/**
 * The axes with enough of size 1 in front of them to make a rank that code is generated for.
 *
 * @param most - no axes are added where there would be more than these
 */
export function padAxes(axes: Axes, most = 8): Axes {
  const least = Math.max(1, axes.sizes.length);
  const wanted = RANK_CLASSES.find((candidate) => candidate >= least) as number;
  return padAxesTo(axes, wanted <= most ? wanted : least);
}

/** The axes with enough of size 1 in front of them to make a rank. */
export function padAxesTo({ sizes, strides }: Axes, rank: number): Axes {
  const missing = Math.max(0, rank - sizes.length);
  const pad = (list: readonly number[], filler: number): number[] => [
    ...Array.from({ length: missing }, () => filler),
    ...list,
  ];
  return { sizes: pad(sizes, 1), strides: strides.map((view) => pad(view, 0)) };
}
