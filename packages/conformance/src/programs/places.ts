import type { ProgramCall } from './program-call.ts';
import type { Place, RecordableStep } from './step.ts';

/** True if that much memory from two places on has a byte in common. */
export function overlap(one: Place, oneLength: number, other: Place, otherLength: number): boolean {
  return one.id === other.id && one.at < other.at + otherLength && other.at < one.at + oneLength;
}

/** True if no region of a call that it writes to overlaps another. */
export function areApart({ regions, operands }: ProgramCall, places: readonly Place[]): boolean {
  const isWritten = regions.map((_, index) =>
    operands.some(({ region, writes }) => region === index && writes !== undefined),
  );
  return regions.every((bytes, index) =>
    regions.every(
      (otherBytes, other) =>
        other <= index ||
        !((isWritten[index] as boolean) || (isWritten[other] as boolean)) ||
        !overlap(places[index] as Place, bytes, places[other] as Place, otherBytes),
    ),
  );
}

/** The allocations that a recording makes. */
export const allocatedIn = (body: readonly RecordableStep[]): ReadonlySet<number> =>
  new Set(body.flatMap((step) => (step.do === 'alloc' ? [step.id] : [])));

/** The places that recorded steps use. */
export function placesIn(body: readonly RecordableStep[]): Place[] {
  return body.flatMap((step) => {
    if (step.do === 'write' || step.do === 'fill') return [step.to];
    if (step.do === 'copy') return [step.to, step.from];
    return step.do === 'call' ? [...step.places] : [];
  });
}
