import type { Operand } from '@concord/backend-core/implement';
import type { VariantChooser, VariantPreferences } from '@concord/variants';
import type { Kernel } from './kernel.ts';

/** Device memory: one allocation of the driver, or a part of a pooled one. */
export interface DeviceMemory {
  /** Not 0, and never used again in this process. */
  readonly id: number;
  /** The start; above 2^53 on Intel GPUs. */
  readonly address: bigint;
  /** Size in bytes. The driver's allocation may be larger. */
  readonly size: number;
}

/** A piece of device memory. */
export type Span = Operand<DeviceMemory>;

/** A span that stands for a separate allocation. Plans pass memory on and never look where it is. */
export function fakeSpan(byteLength: number): Span {
  return { buffer: { id: 0, address: 0n, size: byteLength }, byteOffset: 0, byteLength };
}

/** The facts about a device that planning needs. */
export interface DeviceTraits {
  /** Work-items of a group run one after the other on a core: barriers are expensive, wide vectors are cheap. */
  readonly isCpuLike: boolean;
  /** The maximum number of work-items in a group. */
  readonly maxGroupSize: number;
  /** The maximum number of bytes of workgroup memory. */
  readonly maxLocalBytes: number;
  /** Sizes of sub-groups; empty if there are none. */
  readonly subgroupSizes: readonly number[];
  /** Arithmetic on 64-bit floats. */
  readonly hasF64: boolean;
  /** Arithmetic on 16-bit floats; storing them works everywhere. */
  readonly hasF16: boolean;
  /** Threads may have 256 registers for the asking: Xe-HPG, Xe-HPC and newer. */
  readonly hasLargeRegisterFile: boolean;
  /** Work-items of a sub-group that matrix engines multiply for; undefined if there are none, or they are not to be used. */
  readonly matrixEngine: 8 | 16 | undefined;
  /** The number of units that run groups side by side: Xe cores, or threads of a CPU. */
  readonly computeUnits: number;
  /** The maximum number of bytes of one allocation. */
  readonly maxAllocationBytes: number;
  /** The maximum number of groups along x, y and z. */
  readonly maxGroups: readonly [number, number, number];
  /** The settings that decide between variants, besides the plans. */
  readonly preferences?: VariantPreferences;
}

/** A number that each call brings along, by its place in the call's list, from the end where it is negative: plans do not depend on it. */
export interface CallParameter {
  readonly parameter: number;
}

/** One run of a kernel. */
export interface Launch {
  readonly kernel: Kernel;
  /** The target of each pointer, or the value, by parameter name. `u64` values are safe integers. */
  readonly args: Readonly<Record<string, Span | number | CallParameter>>;
  /** Number of groups along x, y and z; none is 0. */
  readonly groups: readonly [number, number, number];
  /** Arithmetic of the whole launch, where that takes longer than reading and writing its operands. */
  readonly multiplyAdds?: number;
  /** Id of the variant that this launch does the work of. A launch that only prepares or finishes work has none. */
  readonly variant?: string;
}

/**
 * Takes the plan of an op: launches and copies, in order; each sees what those before it wrote. One implementation
 * records commands for the device, others note only what would run.
 */
export interface Recorder extends VariantChooser {
  readonly traits: DeviceTraits;
  launch(launch: Launch): void;
  /**
   * Uninitialised memory until the end of the op.
   *
   * @throws {BackendError} OUT_OF_MEMORY beyond `maxAllocationBytes`
   */
  scratch(bytes: number): Span;
  /** Copies between two ranges that do not overlap. */
  copy(dst: Span, src: Span): void;
}

/** An operand of float32 from its element `first` on. */
export function floatsFrom({ buffer, byteOffset, byteLength }: Span, first: number): Span {
  return { buffer, byteOffset: byteOffset + 4 * first, byteLength: byteLength - 4 * first };
}

type Sizes = Pick<DeviceTraits, 'subgroupSizes'>;

/** The smallest size of sub-groups that there are kernels for. */
export function smallestLanes({ subgroupSizes }: Sizes): 8 | 16 | undefined {
  return ([8, 16] as const).find((lanes) => subgroupSizes.includes(lanes));
}

/**
 * The size to ask for in kernels that need many registers, where the driver's compiler is not to decide: without sub-groups
 * of 8 it takes 32, and spills; where there are some, its own choice is right.
 */
export function lanesToAskFor(traits: Sizes): 16 | undefined {
  return smallestLanes(traits) === 16 ? 16 : undefined;
}
