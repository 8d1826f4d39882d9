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

/** The allocation that is the slot of a recording: one that a copy or a fill writes, and that was there before. */
export function slotOf(body: readonly RecordableStep[]): number | undefined {
  const own = allocatedIn(body);
  const isWrite = (step: RecordableStep): boolean =>
    (step.do === 'write' || step.do === 'fill' || step.do === 'copy') && step.bytes > 0 && !own.has(step.to.id);
  const step = body.find(isWrite);
  return step !== undefined && 'to' in step ? step.to.id : undefined;
}

/** The steps of a recording, and its slot. */
export interface RecordedBody {
  readonly body: readonly RecordableStep[];
  readonly slot: number | undefined;
  readonly slotBytes: number | undefined;
}

/** Returns whether memory may be in the place of a recording's slot: there is enough of it, and it is used for nothing else. */
export function takesSlot({ body, slot, slotBytes = 0 }: RecordedBody, { id, at }: Place, bytes: number): boolean {
  const isElsewhere = placesIn(body).every((place) => place.id !== id);
  return slot !== undefined && slot !== id && isElsewhere && at + slotBytes <= bytes;
}

/** The steps of a recording with other memory in the place of its slot. */
export function withSlotAt({ body, slot }: RecordedBody, to: Place): readonly RecordableStep[] {
  const moved = (place: Place): Place => (place.id === slot ? { id: to.id, at: to.at + place.at } : place);
  return body.map((step): RecordableStep => {
    if (step.do === 'call') return { ...step, places: step.places.map(moved) };
    if (step.do === 'copy') return { ...step, to: moved(step.to), from: moved(step.from) };
    return step.do === 'write' || step.do === 'fill' ? { ...step, to: moved(step.to) } : step;
  });
}
