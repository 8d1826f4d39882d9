import type { CheckedAttention } from '@concord/backend-core/implement';

/** Places farther away than this, either way, count as this far. */
export const FAR_PLACE: number = 2 ** 30;
/** Calls with places in memory have fewer queries, and fewer keys: what is added to a place stays within 32 bits. */
export const MAX_PLACED: number = 2 ** 29;

/** The range of keys that a query sees from its place in memory; both ends fit a signed number of 32 bits. */
export interface PlacedSight {
  /**
   * The distance to take away from the place of query 0 for the first key that it sees. The place is raised to this
   * less {@link FAR_PLACE} before, where that makes no difference any more, so that the difference fits 32 bits, too.
   */
  readonly hidden: number;
  /** The distance to add to the place of query 0 for the end of the keys that it sees, of a causal call. */
  readonly seen: number;
}

/** Returns how the queries of a call see from places that are in memory; undefined if none are. */
export function placedSight({
  lengthStride,
  startStride,
  causalOffset,
  window,
}: CheckedAttention): PlacedSight | undefined {
  if (lengthStride === undefined && startStride === undefined) return undefined;
  const clamp = (value: number, most: number): number => Math.max(-FAR_PLACE, Math.min(most, value));
  return { hidden: clamp(window - 1 - causalOffset, 2 ** 31 - 1), seen: clamp(causalOffset + 1, FAR_PLACE) };
}
