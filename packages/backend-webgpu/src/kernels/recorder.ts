import type { Operand } from '@concord/backend-core/implement';
import type { Slab } from '../client/slabs.ts';
import type { Kernel } from './kernel.ts';
import type { VariantChooser, VariantPreferences } from '@concord/variants';

/** The GPU buffer, or the piece of one, that backs an allocation. */
export interface Backing {
  readonly gpu: GPUBuffer;
  /** Unique to this GPU buffer. */
  readonly id: number;
  /** Size of the buffer in bytes. */
  readonly size: number;
  /** Bytes from the start of the buffer, a multiple of 256. */
  readonly start: number;
  /** The slab that this is a piece of; undefined if the buffer backs one allocation only. */
  readonly slab: Slab | undefined;
}

/** Device memory for storage and copies. */
export interface StorageBuffer {
  /** Not 0, and never used again in this process. */
  readonly id: number;
  /** Size in bytes, a multiple of 4. */
  readonly size: number;
  /** The label for messages. */
  readonly label: string;
  /** Small memory gets its backing with its first use, and may be moved to another: only the pool sets it. */
  backing: Backing | undefined;
}

/** A piece of device memory. */
export type Span = Operand<StorageBuffer>;

/** An m x k times k x n product of small matrices. */
export interface MatrixShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The facts about a device that planning needs. */
export interface DeviceTraits {
  /** The shaders run on the CPU: barriers are expensive, registers are cache lines. */
  readonly isSoftware: boolean;
  /** `enable f16;` is possible. */
  readonly hasF16: boolean;
  /** `enable subgroups;` is possible. */
  readonly hasSubgroups: boolean;
  /** Invocations of a subgroup, where all subgroups of all shaders are of one size; else 0. */
  readonly subgroupSize: number;
  /** Products of f16 with sums in float32 that a subgroup computes as one operation; none without such units. */
  readonly matrixUnits: readonly MatrixShape[];
  /** A read beyond a binding does no harm, whatever it gives: WebGPU's promise, which Dawn can be told not to keep. */
  readonly checksBounds: boolean;
  /** Alignment of a binding's offset, in bytes. */
  readonly storageAlignment: number;
  /** The maximum number of bytes that one storage binding can cover; a multiple of 4. */
  readonly maxBindingBytes: number;
  /** The maximum number of bytes of one buffer. */
  readonly maxBufferBytes: number;
  /** The maximum number of workgroups in one dimension of a dispatch. */
  readonly maxWorkgroupsPerDimension: number;
  /** The maximum number of invocations in a workgroup. */
  readonly maxInvocations: number;
  /** The maximum number of bytes of workgroup memory. */
  readonly maxWorkgroupBytes: number;
  /** The settings that decide between variants, besides the plans. */
  readonly preferences?: VariantPreferences;
}

/** A device that has what WebGPU promises of every device, and no more: its default limits, and no features. */
export const DEFAULT_TRAITS: DeviceTraits = {
  isSoftware: false,
  hasF16: false,
  hasSubgroups: false,
  subgroupSize: 0,
  checksBounds: true,
  matrixUnits: [],
  storageAlignment: 256,
  maxBindingBytes: 134_217_728,
  maxBufferBytes: 268_435_456,
  maxWorkgroupsPerDimension: 65_535,
  maxInvocations: 256,
  maxWorkgroupBytes: 16_384,
};

/** One run of a kernel. */
export interface Launch {
  readonly kernel: Kernel;
  /**
   * The binding of each storage variable. Offsets are multiples of `storageAlignment`, lengths multiples of 4 and at
   * most `maxBindingBytes` (`bindable` makes such spans); what is written lies in a buffer that nothing else in the
   * launch is bound to.
   */
  readonly storage: Readonly<Record<string, Span>>;
  readonly uniforms: Readonly<Record<string, number>>;
  /**
   * Operands that the next call may have elsewhere in their memory, with the uniform that says where they begin in their binding,
   * and the bytes that it counts. Where their memory fits a binding it is bound whole, so that bind groups stay as they are.
   */
  readonly moving?: Readonly<Record<string, readonly [uniform: string, bytes: number]>>;
  /** Number of workgroups, below 2^32; the recorder splits them into grids and dispatches. */
  readonly groups: number;
  /** The workgroups in each dimension, where the kernel looks at those; default: as the recorder likes. */
  readonly grid?: readonly [x: number, y: number, z: number];
  /** Id of the variant that this launch does the work of. A launch that only prepares or finishes work has none. */
  readonly variant?: string;
}

/**
 * Takes the plan of an op: launches and copies, in order. One implementation records commands for the device, others
 * note only what would run.
 */
export interface Recorder extends VariantChooser {
  readonly traits: DeviceTraits;
  launch(launch: Launch): void;
  /**
   * Uninitialised memory until the end of the op.
   *
   * @throws {BackendError} OUT_OF_MEMORY beyond `maxBufferBytes`
   */
  scratch(bytes: number): Span;
  /** Copies between two buffers; offsets and the length are multiples of 4. */
  copy(dst: Span, src: Span): void;
}

/**
 * The maximum number of iterations that the loops of an invocation can take, all loops together. The iteration that only ends a loop counts, and in
 * it, once more, each loop inside: `for i < n { for j < m {} }` takes `n (1 + m + 1) + 2`.
 *
 * lavapipe (Mesa's `LP_MAX_TGSI_LOOP_ITERATIONS`) ends loops beyond that without a word, and what they would have added is
 * missing. It cannot be told from other software devices, so all of them are treated like it.
 */
export function maxLoopIterations({ isSoftware }: DeviceTraits): number {
  return isSoftware ? 65_535 : Infinity;
}
