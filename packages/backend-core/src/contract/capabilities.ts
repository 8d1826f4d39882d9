import type { DType } from './element-types.ts';

/** The compute ops of the contract, by method name. */
export const OP_NAMES = [
  'gemm',
  'batchedGemm',
  'gemmF16',
  'conv2dForward',
  'attention',
  'topK',
  'run',
  'reduce',
  'unary',
  'binary',
] as const;

/** One of {@link OP_NAMES}. */
export type OpName = (typeof OP_NAMES)[number];

/** The kind of processor that runs the work. `software` is a GPU interface emulated on the CPU: test equipment. */
export type DeviceType = 'discrete' | 'integrated' | 'unknown' | 'cpu' | 'software';

/** The device behind a backend. */
export interface DeviceInfo {
  readonly vendor: string;
  readonly name: string;
  readonly type: DeviceType;
  /** Driver or runtime, with its version. */
  readonly driver: string;
  /** Device memory in bytes, where the driver tells. */
  readonly memoryBytes?: number;
  /** The number of units that run workgroups side by side: cores, compute units, Xe cores; where the driver tells. */
  readonly computeUnits?: number;
  /** Parts that can be used as separate devices (tiles); absent or 0 without any. */
  readonly subDevices?: number;
}

/** Sizes beyond which a call is `UNSUPPORTED` (or `OUT_OF_MEMORY`, for memory). */
export interface Limits {
  /** Largest single allocation in bytes. */
  readonly maxAllocationBytes: number;
  /** Largest `headDim` of attention; at least 256. */
  readonly maxHeadDim: number;
  /** Largest `k` of topK; at least 256. */
  readonly maxTopK: number;
}

/**
 * The promises of a backend beyond the contract. A declaration never widens a tolerance: conformance holds a backend to
 * the stricter rule that it declares.
 */
export interface Numerics {
  /** `kept`: float32 values under 2^-126 survive arithmetic. `may-flush`: they may become zero, in and out. */
  readonly f32Subnormals: 'kept' | 'may-flush';
}

/** The capabilities of a backend on its device. Frozen after `init()`. */
export interface Capabilities {
  /** The ops that are implemented; any other throws `UNSUPPORTED`. */
  readonly ops: readonly OpName[];
  /** The element types of each implemented op. */
  readonly dtypes: Readonly<Partial<Record<OpName, readonly DType[]>>>;
  /**
   * The kernels that `run` takes: `all`, except for sizes beyond the device's; or `some`, such as those of a library:
   * `supports` tells. Undefined if there is no `run`.
   */
  readonly run?: 'all' | 'some';
  /** Features of each implemented op beyond its dtypes, such as `epilogues`; ops without any are absent. */
  readonly features: Readonly<Partial<Record<OpName, readonly string[]>>>;
  readonly limits: Limits;
  readonly numerics: Numerics;
}

/** Answer of `supports`. */
export type Support = { readonly ok: true } | { readonly ok: false; readonly reason: string };
