/** One dispatch of a launch. */
export interface Dispatch {
  /** Number of the first workgroup. */
  readonly first: number;
  readonly grid: readonly [x: number, y: number, z: number];
}

/**
 * Splits `groups` workgroups into dispatches whose grids respect the limit of each dimension. The last row of a grid may
 * reach beyond `groups`.
 */
export function dispatches(groups: number, maxPerDimension: number): readonly Dispatch[] {
  if (groups <= maxPerDimension) return groups > 0 ? [{ first: 0, grid: [groups, 1, 1] }] : [];
  const result: Dispatch[] = [];
  const max = maxPerDimension ** 3;
  for (let first = 0; first < groups; first += max) {
    const wanted = Math.min(groups - first, max);
    const z = Math.ceil(wanted / maxPerDimension ** 2);
    const y = Math.ceil(wanted / z / maxPerDimension);
    const x = Math.ceil(wanted / z / y);
    result.push({ first, grid: [x, y, z] });
  }
  return result;
}
