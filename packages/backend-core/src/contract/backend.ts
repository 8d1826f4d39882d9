/// <reference lib="esnext.disposable" preserve="true" />
import type { Capabilities, DeviceInfo, OpName, Support } from './capabilities.ts';
import type { DType } from './element-types.ts';
import type { DevicePtr } from './device-ptr.ts';
import type { LaunchTrace, TracedLaunch } from './launch-trace.ts';
import type { AttentionCall, AttentionShape, AttentionViews } from '../ops/attention.ts';
import type { BinaryCall, BinaryShape } from '../ops/binary.ts';
import type { Conv2dCall, Conv2dShape } from '../ops/conv2d.ts';
import type { EpilogueField } from '../ops/epilogue.ts';
import type { BatchedGemmCall, BatchedGemmShape, GemmCall, GemmShape } from '../ops/gemm.ts';
import type { ReduceCall, ReduceShape } from '../ops/reduce.ts';
import type { TopKCall, TopKShape } from '../ops/top-k.ts';
import type { UnaryCall, UnaryShape } from '../ops/unary.ts';
import type { InputSpecs, Kernel, ParameterSpecs } from '../kernel/graph.ts';
import type { RunCall, RunShape } from '../kernel/run-call.ts';

// Runtimes have these types; a program's library, `lib` and `types` of its tsconfig.json, may not. Where it does, the
// declarations here are one with those there and add nothing; where it does not, the types of this package still compile.
declare global {
  interface AbortSignal {}
}

/** The shape type of each op: its call without the pointers. */
export interface OpShapes {
  gemm: GemmShape & EpilogueField;
  batchedGemm: BatchedGemmShape & EpilogueField;
  gemmF16: GemmShape & EpilogueField;
  conv2dForward: Conv2dShape & EpilogueField;
  attention: AttentionShape & AttentionViews;
  topK: TopKShape;
  run: RunShape;
  reduce: ReduceShape;
  unary: UnaryShape;
  binary: BinaryShape;
}

/** The call type of each op but `run`, whose depends on its kernel. */
export interface OpCalls {
  gemm: GemmCall;
  batchedGemm: BatchedGemmCall;
  gemmF16: GemmCall;
  conv2dForward: Conv2dCall;
  attention: AttentionCall;
  topK: TopKCall;
  reduce: ReduceCall;
  unary: UnaryCall;
  binary: BinaryCall;
}

/** A call without its pointers. */
export type OpShape<Op extends OpName = OpName> = OpShapes[Op];

/** One entry of `prepare`. */
export type OpPlan = { [Op in OpName]: { readonly op: Op; readonly call: OpShapes[Op] } }[OpName];

/** Options of the methods that wait for the device. Either option ends the wait, not the work. */
export interface WaitOptions {
  /** Milliseconds after which the wait rejects with `DEVICE_ERROR`. Default 60,000; Infinity waits for ever. */
  readonly timeoutMs?: number;
  /** Aborts the wait, which rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
}

/** Options of `alloc`. */
export interface AllocOptions {
  /** Name used in error messages and by the driver's tools. */
  readonly label?: string;
}

/** Options of `prepare`. */
export interface PrepareOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Why a backend object stopped working. */
export interface LostInfo {
  readonly reason: 'disposed' | 'device-lost';
  readonly message: string;
}

/** Memory with a name in a recording. */
export interface MemorySlot {
  readonly ptr: DevicePtr;
  readonly bytes: number;
}

/** Options of `record`. */
export interface RecordOptions {
  /** Memory, by names, that a replay may put other memory in the place of. Slots do not overlap; each is used, and no operand is partly in one. */
  readonly slots?: Readonly<Record<string, MemorySlot>>;
}

/** Queued work that can be queued again: see {@link ComputeBackend.record}. */
export interface Recording {
  /**
   * Queues the recorded work again, as if its calls were made now.
   *
   * @param operands - memory in the place of that of slots, for this replay: see {@link RecordOptions.slots}
   * @throws {BackendError} INVALID_ARGUMENT after `dispose`, when memory that it uses was freed, and while something is
   *   recorded; for memory that cannot take the place of a slot's
   * @throws {BackendError} OUT_OF_MEMORY with memory that is new, for the temporary memory of its kernels
   */
  replay(operands?: Readonly<Record<string, DevicePtr>>): void;
  /** Frees what the recording keeps, after the work queued so far. Idempotent. */
  dispose(): void;
}

/** Calls that differ in nothing but addresses and parameters: see {@link ComputeBackend.plan}. */
export interface PlannedCall {
  /** The operands in the order in which `launch` takes them, inputs before outputs: `a`, `b`, `epilogue.bias`, `c`; `inputs.x`, `outputs.y`. */
  readonly operands: readonly string[];
  /**
   * Queues the call, as if it was made in full now.
   *
   * @param pointers - one for each of `operands`
   * @param params - values of the parameters of the kernel of a `run`, or of the epilogue, in the order in which it declares them
   * @throws {BackendError} INVALID_ARGUMENT
   */
  readonly launch: (pointers: readonly DevicePtr[], params?: readonly number[]) => void;
}

/** Memory counters of one backend object, in bytes. */
export interface MemoryInfo {
  /** Sum of the sizes of the live allocations. */
  readonly inUseBytes: number;
  /** Freed memory that the backend keeps for reuse. */
  readonly pooledBytes: number;
  /** Largest `inUseBytes` so far. */
  readonly peakBytes: number;
  readonly liveAllocations: number;
  /** The limit that `alloc` enforces, if there is one. */
  readonly limitBytes?: number;
}

/** The kernel variants that a backend used, for backends that choose between several. */
export interface VariantReport {
  /** The number of times that each ran, by its id, such as `gemm/tiled-64x64x16`. */
  readonly runs: Readonly<Record<string, number>>;
  /** Every variant that could have computed one of the calls so far on this device. */
  readonly candidates: readonly string[];
  /** Ids or globs that the user forced, such as those of `CONCORD_VARIANT`: each should appear among the runs. */
  readonly forced: readonly string[];
  /** Variants that turned out not to work on this device, so that others run in their place; none of them is a candidate. */
  readonly excluded?: readonly ExcludedVariant[];
}

/** A backend's way to compute a kernel. */
export interface Explanation {
  /** Launches in the order in which they run. */
  readonly passes: readonly ExplainedPass[];
}

/** One launch, or several alike, of generated code. */
export interface ExplainedPass {
  /** The variant, such as `run/rows-workgroup`. */
  readonly variant: string;
  /** The computation, in a few words. */
  readonly summary: string;
  /** The language of `code`: `wgsl` or `spirv`. */
  readonly language: string;
  readonly code: string;
}

/** A variant of a kernel that is not used on a device because it does not work there. */
export interface ExcludedVariant {
  readonly id: string;
  /** Why, in a few words: `kernel gemm/local f32 does not build`. */
  readonly reason: string;
  /** The kernel that the device refused, where it was one. */
  readonly kernel?: string;
  /** The output of the device's compiler for it. */
  readonly log?: string;
}

/**
 * One device, one stream of work, one thread. `alloc`, `free`, copies to the device, `fill` and every op return at once
 * and take effect in call order, as on a CUDA stream. Methods that return a promise reject, they never throw.
 *
 * Every method throws (or rejects with) a `BackendError`. The codes that any of them may carry, besides those named at
 * the method: `NOT_INITIALIZED`, `DISPOSED`, `DEVICE_LOST`, and a sticky `OUT_OF_MEMORY` or `DEVICE_ERROR` of earlier
 * work.
 */
export interface ComputeBackend extends AsyncDisposable {
  readonly contractVersion: 3;
  /** `"cpu"`, `"webgpu"`, `"level-zero"`, ... */
  readonly name: string;
  readonly isInitialized: boolean;
  /** @throws {BackendError} NOT_INITIALIZED before `init()` */
  readonly device: DeviceInfo;
  /** @throws {BackendError} NOT_INITIALIZED before `init()` */
  readonly capabilities: Capabilities;
  /** Resolves when the device is lost or the object disposed; never rejects. */
  readonly lost: Promise<LostInfo>;
  /** The backend's own handles (device, queue, buffers); its type is narrowed by each backend. */
  readonly native: unknown;

  /**
   * Opens the device. Idempotent; concurrent calls share one attempt, and a failed one can be repeated.
   *
   * @throws {BackendError} BACKEND_UNAVAILABLE when there is no usable device
   */
  init(): Promise<void>;
  /** Rejects pending waits with `DISPOSED` and releases the device. Idempotent. */
  dispose(): Promise<void>;

  /**
   * Allocates device memory with unspecified contents, aligned to 256 bytes.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a size that is not a positive safe integer
   * @throws {BackendError} OUT_OF_MEMORY above the device's or the object's limit
   */
  alloc(bytes: number, options?: AllocOptions): DevicePtr;
  /**
   * Returns an allocation after the work queued so far. Does nothing after loss, failure or dispose.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a pointer that `alloc` did not return or that was freed before
   */
  free(ptr: DevicePtr): void;
  /**
   * Copies the bytes of `src` to the device. `src` may be changed as soon as this returns.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a detached view, an unknown pointer, or out of bounds
   */
  copyHtod(dst: DevicePtr, src: ArrayBufferView): void;
  /**
   * Copies device memory, as it is after the work queued so far, into `dst` and resolves when `dst` is filled. After
   * a timeout or abort `dst` is not written any more.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a detached view, an unknown pointer, or out of bounds
   * @throws {BackendError} DEVICE_ERROR on timeout
   */
  copyDtoh(dst: ArrayBufferView, src: DevicePtr, options?: WaitOptions): Promise<void>;
  /**
   * Copies `bytes` bytes within the device. Source and destination must not overlap.
   *
   * @throws {BackendError} INVALID_ARGUMENT
   */
  copyDtod(dst: DevicePtr, src: DevicePtr, bytes: number): void;
  /**
   * Sets `bytes` bytes to the value `byte` (0..255).
   *
   * @throws {BackendError} INVALID_ARGUMENT
   */
  fill(dst: DevicePtr, byte: number, bytes: number): void;
  /** Hands queued work to the device without waiting for it. */
  flush(): void;
  /**
   * Resolves when all work queued so far is done.
   *
   * @throws {BackendError} DEVICE_ERROR on timeout
   */
  synchronize(options?: WaitOptions): Promise<void>;
  /** Memory counters. Works after loss too. */
  memory(): MemoryInfo;

  /**
   * Matrix product, see {@link GemmCall}.
   *
   * @throws {BackendError} INVALID_ARGUMENT
   * @throws {BackendError} UNSUPPORTED for a dtype that the device lacks
   */
  gemm(call: GemmCall): void;
  /** Many matrix products of one shape, see {@link BatchedGemmCall}. Errors as `gemm`. */
  batchedGemm(call: BatchedGemmCall): void;
  /** `gemm` with `dtype: 'f16'`: f16 storage, float32 accumulation. Errors as `gemm`. */
  gemmF16(call: GemmCall): void;
  /** 2-d cross-correlation, see {@link Conv2dCall}. Errors as `gemm`. */
  conv2dForward(call: Conv2dCall): void;
  /** Softmax attention, see {@link AttentionCall}. Errors as `gemm`; also UNSUPPORTED above `limits.maxHeadDim`. */
  attention(call: AttentionCall): void;
  /** The k largest or smallest of each row, see {@link TopKCall}. Errors as `gemm`; also UNSUPPORTED above `limits.maxTopK`. */
  topK(call: TopKCall): void;
  /**
   * Computes a kernel at every point of a domain, see {@link RunCall}.
   *
   * @throws {BackendError} INVALID_ARGUMENT
   * @throws {BackendError} UNSUPPORTED for a kernel or a layout that the backend cannot run
   */
  run<Inputs extends InputSpecs, Parameters extends ParameterSpecs, Outputs extends string>(
    kernel: Kernel<Inputs, Parameters, Outputs>,
    call: RunCall<Inputs, Parameters, Outputs>,
  ): void;
  /** Reduction along one axis, see {@link ReduceCall}. Errors as `gemm`. */
  reduce(call: ReduceCall): void;
  /** Element-wise function of one argument, see {@link UnaryCall}. Errors as `gemm`. */
  unary(call: UnaryCall): void;
  /** Element-wise function of two arguments, see {@link BinaryCall}. Errors as `gemm`. */
  binary(call: BinaryCall): void;

  /**
   * Checks a call without its pointers once, for calls that differ only in addresses and parameters: each then costs a
   * small part of what a whole call does. Missing if a backend is not built on `BaseBackend`: see `planCall`.
   *
   * @throws {BackendError} INVALID_ARGUMENT, UNSUPPORTED, as the call itself
   */
  plan?<Op extends OpName>(op: Op, shape: OpShape<Op>): PlannedCall;
  /**
   * Runs `work`, whose calls take effect as ever, and takes them down: `replay` queues them again with the same operands and
   * numbers, and checks nothing again. As a CUDA graph does, this spares most of what calls cost the host.
   *
   * What changes from one replay to the next lies in device memory: a step counts there, reads its position there (`lengths` of
   * attention, inputs of `run` with strides 0) and writes at it (`scatter`). Memory that is allocated and freed in `work` stays
   * the recording's until it is disposed, and serves later allocations of it.
   *
   * @param work - what is recorded; it must not wait for anything
   * @param options - memory that replays may put other memory in the place of
   * @throws {BackendError} INVALID_ARGUMENT when `work` waits, prepares, records, replays or returns a promise; for slots
   *   that are not live, that overlap, that nothing uses or that an operand is partly in; and what `work` throws
   */
  record?(work: () => void, options?: RecordOptions): Recording;

  /**
   * Returns whether the op, in that dtype or as a call of that whole shape if one is given, would be accepted. Never throws for a
   * bad shape.
   */
  supports<Op extends OpName>(op: Op, shape?: OpShape<Op> | { readonly dtype?: DType }): Support;
  /**
   * Compiles ahead what calls of these shapes need, so that the first call is as fast as the later ones.
   *
   * @throws {BackendError} INVALID_ARGUMENT or UNSUPPORTED for a shape that the call itself would refuse
   */
  prepare(plans: readonly OpPlan[], options?: PrepareOptions): Promise<void>;
  /**
   * Explains how a kernel would be computed for a call, for people: passes, variants, generated code. Nothing is compiled. Errors
   * as `run`.
   */
  explain?(kernel: Kernel, call: Omit<RunShape, 'kernel'>): Explanation;
  /**
   * Tells `onLaunch` of each launch from now on: those of calls, of plans and of recordings, also of such as were made before. For
   * `profile`, which does without it as well: a backend that is not built on `BaseBackend` need not have it.
   *
   * @throws {BackendError} INVALID_ARGUMENT while another trace is under way
   */
  traceLaunches?(onLaunch: (launch: TracedLaunch) => void): LaunchTrace;
  /** The kernel variants that ran so far, if the backend has variants. For reports; the ids mean nothing to callers. */
  variants?(): VariantReport;
}
