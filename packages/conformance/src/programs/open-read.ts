import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { CaseFailure } from '../harness/case.ts';

/** Bytes on both sides of the destination of a read. */
const GUARD = 0xa5;

/** How a read is made. */
export interface ReadManner {
  /** Bytes before the destination in its buffer. */
  readonly shift?: number;
  /** Aborted at once: from then on its destination is the program's alone. */
  readonly givenUp?: boolean;
}

/**
 * Begins a read.
 *
 * @param judge - gets the bytes of one that was not given up
 * @returns when it is done, and what then throws where something is wrong
 */
export function openRead(
  backend: ComputeBackend,
  ptr: DevicePtr,
  length: number,
  { shift = 0, givenUp = false }: ReadManner,
  judge: (got: Uint8Array) => void,
): { readonly done: Promise<void>; readonly check: () => void } {
  const whole = new Uint8Array(shift + length + 8).fill(GUARD);
  const got = whole.subarray(shift, shift + length);
  const view = shift % 2 === 1 ? new DataView(whole.buffer, shift, length) : got;
  const controller = new AbortController();
  const { signal } = controller;
  const done = backend.copyDtoh(view, ptr, { signal }).catch((error: unknown) => {
    if (!givenUp || error !== signal.reason) throw error;
  });
  // It is looked at when reads are waited for: until then it is nobody's unhandled rejection.
  done.catch(() => undefined);
  if (givenUp) controller.abort();
  // A backend may have done all at once.
  const held = givenUp ? got.slice() : undefined;
  const check = (): void => {
    const guards = [...whole.subarray(0, shift), ...whole.subarray(shift + length)];
    if (guards.some((byte) => byte !== GUARD) || held?.some((byte, index) => byte !== got[index]) === true) {
      throw new CaseFailure('a read wrote beside its place, or too late');
    }
    if (held === undefined) judge(got);
  };
  return { done, check };
}
