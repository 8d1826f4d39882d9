import type { ComputeBackend, DType, OpName } from '@concord/backend-core';
import type { Params } from '../harness/case-id.ts';
import type { Random } from '../harness/random.ts';
import type { Place } from './step.ts';
import type { WriteData } from './write-data.ts';

/** An operand of a call in a program: a part of one of its regions. */
export interface ProgramOperand {
  readonly name: string;
  readonly dtype: DType;
  /** Elements from the first to the last. */
  readonly elements: number;
  readonly region: number;
  /** Bytes after the start of the region. */
  readonly at: number;
  /** True if the call reads it. */
  readonly reads: boolean;
  /** The distances of the elements that the call writes; undefined: it writes none. */
  readonly writes: ArrayLike<number> | undefined;
  /** Contents that suit it, where the call reads it. */
  readonly data: WriteData;
}

/** The right contents of an operand after a call. */
export interface Expected {
  /** The bits of the element that is written as number `index`; undefined where more than one answer is right. */
  bitsOf(index: number): number | undefined;
  /** @throws {CaseFailure} where the operand's bytes after the call are wrong */
  judge(after: Uint8Array): void;
}

/** A call that is ready but for its operands. */
export interface ProgramCall {
  readonly op: OpName;
  /** As `supports` takes it. */
  readonly shape: Readonly<Record<string, unknown>>;
  /** Parts of memory that lie apart; the sizes in bytes. */
  readonly regions: readonly number[];
  readonly operands: readonly ProgramOperand[];
  /** The arguments of the backend's method, with what `ptrOf` gives for each operand. */
  argumentsOf(ptrOf: (operand: number) => unknown): readonly unknown[];
  /**
   * The contents after the call of the operands that it writes, in their order; undefined where the operands hold what the oracle has
   * no answer for. A zero among them may have the other sign.
   *
   * @param bytes - of each operand that is read, in the order of the operands
   */
  evaluate(
    backend: ComputeBackend,
    bytes: readonly Uint8Array[],
    hasLooseZeros: boolean,
  ): readonly Expected[] | undefined;
}

/** A kind of call: draws parameters, and makes calls of them. */
export interface ProgramCallKind {
  draw(random: Random): Params;
  /** @throws anything for parameters that make no call */
  plan(params: Params): ProgramCall;
  /** Smaller parameters, the boldest first. */
  smaller(params: Params): readonly Params[];
}

/** Where an operand lies. */
export function placeOfOperand({ region, at }: ProgramOperand, places: readonly Place[]): Place {
  const { id, at: start } = places[region] as Place;
  return { id, at: start + at };
}
