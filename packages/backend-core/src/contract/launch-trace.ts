import type { OpName } from './capabilities.ts';

/** A kernel that a backend launches for a call. */
export interface TracedPass {
  /** The plan's name of it. */
  readonly kernel: string;
  /** Id of the variant that it does the work of, if any. */
  readonly variant?: string | undefined;
  /** The time at which it began, in milliseconds of the device's clock. */
  startMs?: number;
  /** Milliseconds that it took by the device's clock; left out where the device did not tell. */
  ms?: number;
}

/** A checked call, or one of the kernels that it is made of, as it was queued. */
export interface TracedLaunch {
  /** The method that was called. `replay`: a recording of a backend that tells no more of it. */
  readonly op: OpName | 'replay';
  /** The primitive that runs it, and its checked call: see `KernelCall` of `@concord/backend-core/implement`. Missing where unknown. */
  readonly kernel?: 'gemm' | 'conv2dForward' | 'attention' | 'topK' | 'run';
  readonly call?: object;
  /** True if a recording queued it. */
  readonly isReplay: boolean;
  /** Time by `performance.now()`. */
  readonly startMs: number;
  /** Milliseconds that the host was in it. */
  readonly hostMs: number;
  /** True if it was done by then, so that `hostMs` is the time that it took; else it was queued. */
  readonly isDone: boolean;
  /** Operands in their order; none where the backend does not tell. */
  readonly passes: readonly TracedPass[];
}

/** A trace of launches: see {@link ComputeBackend.traceLaunches}. */
export interface LaunchTrace {
  /** Ends it, and resolves when the passes have the times that the device tells. Idempotent; never rejects. */
  stop(): Promise<void>;
}
