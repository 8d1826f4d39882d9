import type { ComputeBackend, DevicePtr, DType } from '@concord/backend-core';
import { compareImage, type Image, placeSlots } from './image.ts';
import { Slots } from './slot.ts';

/** Where the operands of one op lie. */
export interface Layout {
  /** Bytes that every operand is moved away from the alignment of its allocation. */
  readonly offsetBytes?: number;
  /** All operands in one allocation, 4 bytes apart. */
  readonly together?: boolean;
}

/** The facts about an operand that a listener gets. */
export interface HeardOperand {
  /** Its name in the call, where the caller knows it. */
  readonly name?: string;
  readonly ptr: DevicePtr;
  readonly dtype: DType;
  readonly isInput: boolean;
  readonly isOutput: boolean;
  /** The elements before the op, those in gaps included. */
  valuesBefore(): ArrayLike<number> & Iterable<number>;
}

/** Told of the operands of every op that runs on a backend, before it runs. */
export type OperandListener = (operands: readonly HeardOperand[]) => void;

const listeners = new WeakMap<ComputeBackend, OperandListener>();

/** Lets `listener` see the operands of what cases run on `backend`. */
export function listenToOperands(backend: ComputeBackend, listener: OperandListener): void {
  listeners.set(backend, listener);
}

/** Tells the listener of a backend of the operands of the next op. */
export function tellOperands(backend: ComputeBackend, operands: readonly HeardOperand[]): void {
  listeners.get(backend)?.(operands);
}

/** The device memory of one op: lays out operands between guards, runs it, and checks that nothing else was touched. */
export class Workspace extends Slots {
  readonly #backend: ComputeBackend;
  readonly #layout: Layout;

  constructor(backend: ComputeBackend, layout: Layout = {}) {
    super();
    this.#backend = backend;
    this.#layout = layout;
  }

  /**
   * Uploads everything, calls `op`, and reads everything back.
   *
   * @throws {CaseFailure} when an input or a guard has changed
   */
  async run(op: () => void): Promise<void> {
    const { offsetBytes = 0, together = false } = this.#layout;
    const groups = together ? [this.all] : this.all.map((slot) => [slot]);
    const placed: { readonly image: Image; readonly base: DevicePtr }[] = [];
    try {
      for (const slots of groups) {
        const image = placeSlots(slots, offsetBytes);
        const base = this.#backend.alloc(image.bytes.length, { label: 'conformance' });
        image.moveTo(base);
        placed.push({ image, base });
      }
      tellOperands(this.#backend, this.all);
      for (const { image, base } of placed) this.#backend.copyHtod(base, image.bytes);
      op();
      for (const { image, base } of placed) {
        const after = new Uint8Array(image.bytes.length);
        await this.#backend.copyDtoh(after, base);
        compareImage(image, after);
      }
    } finally {
      for (const { base } of placed) this.#backend.free(base);
    }
  }
}
