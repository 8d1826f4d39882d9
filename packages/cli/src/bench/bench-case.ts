import type { ComputeBackend, DevicePtr, OpName, OpPlan } from '@concord/backend-core';
import type { Operand, OperandType } from './operand.ts';

/** An op of the contract that is timed, or the copies, as `memory`. */
export type BenchOp = OpName | 'memory';

/** The unit of the speed of a case: by the arithmetic it does, or by the bytes it has to move. */
export type BenchUnit = 'GFLOP/s' | 'GB/s';

/** One thing to time. */
export interface BenchCase {
  /** The name, such as `gemm/bert-base/128x768x768`. */
  readonly id: string;
  readonly op: BenchOp;
  /** A title for people: the model it comes from, and its sizes. */
  readonly title: string;
  readonly unit: BenchUnit;
  /** Additions, multiplications and functions of one call; 0 for copies. */
  readonly flops: number;
  /** Bytes that a call has to read and write: every operand once. */
  readonly bytes: number;
  prepare(): BenchWork;
}

/** The right value of an entry of a result. */
export interface ExpectedEntry {
  readonly want: number;
  /** Largest absolute error. */
  readonly tolerance: number;
}

/** A case with its data. */
export interface BenchWork {
  readonly inputs: readonly Operand[];
  /** Elements of the output on the device, 0 where the result comes to the host. */
  readonly outputLength: number;
  readonly outputDtype: OperandType;
  /** The call without its pointers; the copies have none. */
  readonly plan?: OpPlan;
  /** One call. What it returns is awaited before the next one. */
  call(backend: ComputeBackend, operand: (index: number) => DevicePtr, output: DevicePtr): Promise<void> | void;
  /** The result where it is on the host. */
  hostResult?(): Float32Array;
  /** An entry by the float64 oracle. */
  readonly expected: (index: number) => ExpectedEntry;
}

/** The sizes of a product, a layer or attention, from the id; empty where the title says all. */
export function sizeOf({ id, op }: BenchCase): string {
  return ['unary', 'binary', 'reduce', 'memory'].includes(op) ? '' : (id.split('/')[2] ?? '');
}
