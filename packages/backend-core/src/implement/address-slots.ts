import { BackendError } from '../errors/backend-error.ts';

/** Bytes of virtual address space that each backend object owns: 4 TiB. */
export const SLOT_BYTES: number = 2 ** 42;

/** Slot 0 holds the null pointer and is never given out; with 2^11 slots every address is a safe integer. */
const SLOT_COUNT = 2 ** 11;

interface SlotState {
  next: number;
  readonly released: number[];
}

const KEY = Symbol.for('concord.addressSlots');

/** One counter for the realm, so that the pointers of two installed copies of this package do not collide. */
function slotState(): SlotState {
  const realm = globalThis as { [KEY]?: SlotState };
  realm[KEY] ??= { next: 1, released: [] };
  return realm[KEY];
}

/** Slots of objects that were not disposed and cannot be reached any more. */
const forgotten = new FinalizationRegistry<number>((slot) => slotState().released.push(slot));

/**
 * Takes the next slot: one never used while there is one, then the one released longest ago. It is released when `owner`
 * is collected, at the latest.
 *
 * @throws {BackendError} OUT_OF_MEMORY when 2,047 backend objects are alive
 */
export function takeSlot(owner: object): number {
  const state = slotState();
  const slot = state.next < SLOT_COUNT ? state.next++ : state.released.shift();
  if (slot === undefined) {
    throw new BackendError('OUT_OF_MEMORY', `${SLOT_COUNT - 1} backend objects are alive`, {
      hint: 'dispose backend objects that are no longer used',
    });
  }
  forgotten.register(owner, slot, owner);
  return slot;
}

/** Gives the slot of `owner` back, once. */
export function releaseSlot(owner: object, slot: number): void {
  forgotten.unregister(owner);
  slotState().released.push(slot);
}
