import { BackendError } from '@concord/backend-core';
import type { Operand } from '@concord/backend-core/implement';

/** A piece of the memory of an op. */
export interface Place {
  /** Which memory: the operands in their order, then the scratch memory. */
  readonly memory: number;
  /** Bytes from its start; negative where a binding has to begin before an operand. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** The memory at a place. */
export function spanAt<Buffer>(
  memory: readonly Operand<Buffer>[],
  { memory: index, byteOffset, byteLength }: Place,
): Operand<Buffer> {
  const { buffer, byteOffset: start } = memory[index] as Operand<Buffer>;
  return { buffer, byteOffset: start + byteOffset, byteLength };
}

/** The operands of a call that is being planned, and the scratch memory that its plan asks for. */
export class PlanMemory<Buffer> {
  /** Bytes of each piece of scratch memory. */
  readonly scratchBytes: number[] = [];
  readonly #memory: Operand<Buffer>[];
  readonly #fakeOperand: (byteLength: number) => Operand<Buffer>;

  /** @param fakeOperand - a span that stands for a separate allocation */
  constructor(operands: readonly Operand<Buffer>[], fakeOperand: (byteLength: number) => Operand<Buffer>) {
    this.#memory = [...operands];
    this.#fakeOperand = fakeOperand;
  }

  /** @throws {BackendError} OUT_OF_MEMORY beyond `max` bytes, the largest `what` */
  scratch(bytes: number, max: number, what: string): Operand<Buffer> {
    if (bytes > max) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest ${what}, ${max}`, {
        requestedBytes: bytes,
        limitBytes: max,
      });
    }
    const span = this.#fakeOperand(bytes);
    this.#memory.push(span);
    this.scratchBytes.push(bytes);
    return span;
  }

  placeOf({ buffer, byteOffset, byteLength }: Operand<Buffer>): Place {
    const memory = this.#memory.findIndex((span) => span.buffer === buffer);
    return { memory, byteOffset: byteOffset - (this.#memory[memory] as Operand<Buffer>).byteOffset, byteLength };
  }
}

/** The launches and copies of a plan: more are a size that somebody got wrong, and would fill the memory of the host. */
const MAX_STEPS = 65_536;

/**
 * Checks the number of steps of a plan, before or while they are listed.
 *
 * @throws {BackendError} UNSUPPORTED
 */
export function checkSteps(count: number): void {
  if (count <= MAX_STEPS) return;
  throw new BackendError('UNSUPPORTED', `the call takes more than ${MAX_STEPS} launches and copies on this device`);
}
