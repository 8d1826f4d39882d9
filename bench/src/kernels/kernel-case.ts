import type { DevicePtr, DType } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';

/** The data of an input: noise in [-0.5, 0.5), or whole numbers below a limit. */
export interface InputData {
  readonly length: number;
  readonly dtype?: 'f32' | 'f16' | 'u32';
  /** For u32: numbers below this. */
  readonly below?: number;
  readonly strides?: readonly number[];
  /** Of a gather input. */
  readonly shape?: readonly number[];
}

/** One element of an input as float64. */
export type Read = (input: string, index: number) => number;

/** A call of a kernel that is timed. */
export interface KernelCase {
  readonly op: string;
  readonly name: string;
  /** Bytes counted once per operand: the least traffic. */
  readonly bytes: number;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  readonly folded?: number;
  readonly inputs: Readonly<Record<string, InputData>>;
  readonly params?: Readonly<Record<string, number>>;
  readonly output: {
    readonly name: string;
    readonly length: number;
    readonly dtype?: DType;
    readonly strides?: readonly number[];
  };
  /** What an element of the output should be, and by how much it may differ. */
  readonly expected: (read: Read, index: number) => { readonly value: number; readonly tolerance: number };
}

/** A case on a device. */
export interface PlacedCase {
  readonly output: DevicePtr;
  run(): void;
  free(): void;
}
