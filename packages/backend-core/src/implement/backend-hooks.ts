import { BackendError } from '../errors/backend-error.ts';
import type { CheckedOp } from './checked-op.ts';
import { BackendLifecycle } from './lifecycle.ts';
import type {
  Operand,
  ResolvedAttention,
  ResolvedBinary,
  ResolvedConv2d,
  ResolvedGemm,
  ResolvedReduce,
  ResolvedScale,
  ResolvedUnary,
} from './resolved.ts';

/**
 * What the author of a backend writes, besides `doInit` and `doDispose`: each method gets checked arguments and native
 * memory, returns at once, and takes effect in call order. An op method that is left out is `UNSUPPORTED`, and must not
 * be in `capabilities.ops`.
 *
 * @typeParam Buffer - the backend's native memory object
 */
export abstract class BackendHooks<Buffer> extends BackendLifecycle {
  /** Allocates native memory; throws OUT_OF_MEMORY when the device has none. */
  protected abstract doAlloc(bytes: number, label: string | undefined): Buffer;
  /** Releases native memory once the work queued so far no longer needs it. */
  protected abstract doFree(buffer: Buffer): void;
  /** Queues a copy of `src`, which the caller may change as soon as this returns. */
  protected abstract doCopyHtod(dst: Operand<Buffer>, src: Uint8Array): void;
  /**
   * Queues a read; calls `deliver` with the bytes when they are there, then resolves. A backend that polls may stop when
   * `isWanted` turns false: nobody waits any more.
   */
  protected abstract doCopyDtoh(
    src: Operand<Buffer>,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void>;
  /** Queues a copy between two ranges that do not overlap but may lie in one buffer. */
  protected abstract doCopyDtod(dst: Operand<Buffer>, src: Operand<Buffer>): void;
  /** Queues setting every byte of a range. */
  protected abstract doFill(dst: Operand<Buffer>, byte: number): void;
  /** Resolves when the work queued so far is done, or `isWanted` has turned false. */
  protected abstract doSynchronize(isWanted: () => boolean): Promise<void>;
  /** Submits queued work, where the backend batches. */
  protected doFlush(): void {}

  protected doGemm(_call: ResolvedGemm<Buffer>): void {
    throw missing('gemm');
  }
  protected doScale(_call: ResolvedScale<Buffer>): void {
    throw missing('gemm with k = 0 or alpha = 0');
  }
  protected doConv2d(_call: ResolvedConv2d<Buffer>): void {
    throw missing('conv2dForward');
  }
  protected doAttention(_call: ResolvedAttention<Buffer>): void {
    throw missing('attention');
  }
  protected doReduce(_call: ResolvedReduce<Buffer>): void {
    throw missing('reduce');
  }
  protected doUnary(_call: ResolvedUnary<Buffer>): void {
    throw missing('unary');
  }
  protected doBinary(_call: ResolvedBinary<Buffer>): void {
    throw missing('binary');
  }
  /** Compiles what one checked call needs. */
  protected async doPrepare(_op: CheckedOp): Promise<void> {}
  /** Why this device cannot run a checked call whose op and dtype it has, beyond the limits of the capabilities. */
  protected unsupportedReason(_op: CheckedOp): string | undefined {
    return undefined;
  }
  /** Freed native memory that is kept for reuse. */
  protected pooledBytes(): number {
    return 0;
  }
}

/** The error of an op that a backend does not have. */
export function missing(op: string): BackendError {
  return new BackendError('UNSUPPORTED', `${op} is not implemented`);
}
