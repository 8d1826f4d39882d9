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

/**
 * Takes the next slot: one never used while there is one, then the one released longest ago.
 *
 * @throws {BackendError} OUT_OF_MEMORY when 2,047 backend objects are alive
 */
export function takeSlot(): number {
  const state = slotState();
  if (state.next < SLOT_COUNT) return state.next++;
  const slot = state.released.shift();
  if (slot === undefined) {
    throw new BackendError('OUT_OF_MEMORY', `${SLOT_COUNT - 1} backend objects are alive`, {
      hint: 'dispose backend objects that are no longer used',
    });
  }
  return slot;
}

/** Gives a slot back, once. */
export function releaseSlot(slot: number): void {
  slotState().released.push(slot);
}
