import type {
  AllocOptions,
  ComputeBackend,
  MemoryInfo,
  OpPlan,
  OpShape,
  PrepareOptions,
  WaitOptions,
} from '../contract/backend.ts';
import type { OpName, Support } from '../contract/capabilities.ts';
import { type CheckedCall, checkCallObject, checkPointerType } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { checkAlloc, checkCopyDtod, checkFill, checkPrepareOptions, viewBytes } from '../contract/memory.validate.ts';
import type { AttentionCall } from '../contract/ops/attention.ts';
import type { BatchedGemmCall } from '../contract/ops/batched-gemm.ts';
import type { BinaryCall } from '../contract/ops/binary.ts';
import type { Conv2dCall } from '../contract/ops/conv2d.ts';
import type { GemmCall } from '../contract/ops/gemm.ts';
import type { ReduceCall } from '../contract/ops/reduce.ts';
import type { UnaryCall } from '../contract/ops/unary.ts';
import {
  annotate,
  BackendError,
  type BackendErrorFields,
  isBackendError,
  toBackendError,
} from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { releaseSlot, SLOT_BYTES, takeSlot } from './address-slots.ts';
import { AllocationTable } from './allocation-table.ts';
import { BackendHooks, missing } from './backend-hooks.ts';
import { type CheckedOp, checkedOp } from './checked-op.ts';
import { checkPlans, OP_RULES } from './op-rules.ts';
import type {
  Operand,
  ResolvedAttention,
  ResolvedBinary,
  ResolvedConv2d,
  ResolvedGemm,
  ResolvedReduce,
  ResolvedUnary,
} from './resolved.ts';
import { resolveOperands } from './resolve-operands.ts';

/** Options that every backend takes. */
export interface BaseBackendOptions {
  /** `alloc` throws OUT_OF_MEMORY when more than this would be in use. Default: no limit but the device's. */
  readonly memoryLimitBytes?: number;
}

/**
 * The contract's public methods, checked once for everybody. A backend extends this class and implements the `do...`
 * methods, which get validated calls and native operands and run in call order. A missing op method is `UNSUPPORTED`.
 *
 * @typeParam Buffer - the backend's native memory object
 */
export abstract class BaseBackend<Buffer> extends BackendHooks<Buffer> implements ComputeBackend {
  readonly contractVersion = 1 as const;
  abstract readonly native: unknown;

  readonly #slot: number;
  readonly #table: AllocationTable<Buffer>;
  readonly #memoryLimitBytes: number | undefined;

  constructor(options: BaseBackendOptions = {}) {
    super();
    const { memoryLimitBytes } = options;
    if (memoryLimitBytes !== undefined && !(typeof memoryLimitBytes === 'number' && memoryLimitBytes > 0)) {
      throw invalid(`memoryLimitBytes must be a positive number, got ${String(memoryLimitBytes)}`);
    }
    this.#memoryLimitBytes = memoryLimitBytes;
    this.#slot = takeSlot();
    this.#table = new AllocationTable(this.#slot * SLOT_BYTES, SLOT_BYTES);
  }

  alloc(bytes: number, options: AllocOptions = {}): DevicePtr {
    return this.#guard('alloc', () => {
      checkAlloc(bytes, options);
      const inUseBytes = this.#table.inUseBytes;
      const { maxAllocationBytes } = this.capabilities.limits;
      const fields = { requestedBytes: bytes, inUseBytes, backend: this.name };
      if (bytes > maxAllocationBytes) {
        throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest allocation, ${maxAllocationBytes}`, {
          ...fields,
          limitBytes: maxAllocationBytes,
        });
      }
      const limitBytes = this.#memoryLimitBytes;
      if (limitBytes !== undefined && inUseBytes + bytes > limitBytes) {
        throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes wanted, ${inUseBytes} of ${limitBytes} in use`, {
          ...fields,
          limitBytes,
        });
      }
      const buffer = this.#nativeAlloc(bytes, options.label, fields);
      try {
        return this.#table.add(bytes, buffer, options.label);
      } catch (error) {
        this.doFree(buffer);
        throw error;
      }
    });
  }

  free(ptr: DevicePtr): void {
    if (this.isDead) return;
    this.#guard('free', () => {
      checkPointerType('ptr', ptr);
      this.doFree(this.#table.remove(ptr).buffer);
    });
  }

  copyHtod(dst: DevicePtr, src: ArrayBufferView): void {
    this.#guard('copyHtod', () => {
      checkPointerType('dst', dst);
      const bytes = viewBytes('src', src);
      if (bytes.byteLength > 0) this.doCopyHtod(this.#table.resolve('dst', dst, bytes.byteLength), bytes);
    });
  }

  copyDtoh(dst: ArrayBufferView, src: DevicePtr, options?: WaitOptions): Promise<void> {
    return this.wait('copyDtoh', options, (isWanted) => {
      checkPointerType('src', src);
      const { byteLength } = viewBytes('dst', dst);
      if (byteLength === 0) return Promise.resolve();
      return this.#accepted(
        'copyDtoh',
        this.doCopyDtoh(
          this.#table.resolve('src', src, byteLength),
          (bytes) => {
            if (!isWanted()) return;
            // Looked at again: the view may have been detached or shrunk during the wait.
            const host = viewBytes('dst', dst);
            if (host.byteLength < bytes.byteLength) throw invalid('dst is detached or out of bounds of its buffer');
            host.set(bytes);
          },
          isWanted,
        ),
      );
    });
  }

  copyDtod(dst: DevicePtr, src: DevicePtr, bytes: number): void {
    this.#guard('copyDtod', () => {
      checkCopyDtod(dst, src, bytes);
      if (bytes === 0) return;
      const to = this.#table.resolve('dst', dst, bytes);
      const from = this.#table.resolve('src', src, bytes);
      if (Math.abs(dst - src) < bytes) throw invalid('dst overlaps src');
      this.doCopyDtod(to, from);
    });
  }

  fill(dst: DevicePtr, byte: number, bytes: number): void {
    this.#guard('fill', () => {
      checkFill(dst, byte, bytes);
      if (bytes > 0) this.doFill(this.#table.resolve('dst', dst, bytes), byte);
    });
  }

  flush(): void {
    this.#guard('flush', () => this.doFlush());
  }

  synchronize(options?: WaitOptions): Promise<void> {
    return this.wait('synchronize', options, (isWanted) => this.#accepted('synchronize', this.doSynchronize(isWanted)));
  }

  memory(): MemoryInfo {
    // Not `assertUsable`: the counters matter most after a failure.
    if (!this.isInitialized) this.assertUsable('memory');
    const { inUseBytes, peakBytes, liveAllocations } = this.#table;
    const limitBytes = this.#memoryLimitBytes;
    const info = { inUseBytes, pooledBytes: this.pooledBytes(), peakBytes, liveAllocations };
    return limitBytes === undefined ? info : { ...info, limitBytes };
  }

  gemm(call: GemmCall): void {
    this.#gemm('gemm', call);
  }

  batchedGemm(call: BatchedGemmCall): void {
    this.#gemm('batchedGemm', call);
  }

  gemmF16(call: GemmCall): void {
    this.#gemm('gemmF16', call);
  }

  conv2dForward(call: Conv2dCall): void {
    this.#run('conv2dForward', call, (resolved: ResolvedConv2d<Buffer>) => this.doConv2d(resolved));
  }

  attention(call: AttentionCall): void {
    this.#run('attention', call, (resolved: ResolvedAttention<Buffer>) => this.doAttention(resolved));
  }

  reduce(call: ReduceCall): void {
    this.#run('reduce', call, (resolved: ResolvedReduce<Buffer>) => this.doReduce(resolved));
  }

  unary(call: UnaryCall): void {
    this.#run('unary', call, (resolved: ResolvedUnary<Buffer>) => this.doUnary(resolved));
  }

  binary(call: BinaryCall): void {
    this.#run('binary', call, (resolved: ResolvedBinary<Buffer>) => this.doBinary(resolved));
  }

  supports<Op extends OpName>(op: Op, shape?: OpShape<Op> | Pick<OpShape<Op>, 'dtype'>): Support {
    this.assertUsable('supports');
    const { ops } = this.capabilities;
    if (!ops.includes(op)) return { ok: false, reason: `${this.name} does not implement ${String(op)}` };
    try {
      if (shape !== undefined) this.#checkSupported(op, shape);
      return { ok: true };
    } catch (error) {
      if (isBackendError(error)) return { ok: false, reason: error.detail };
      throw error;
    }
  }

  async prepare(plans: readonly OpPlan[], options: PrepareOptions = {}): Promise<void> {
    const { signal, onProgress } = this.#guard('prepare', () => checkPrepareOptions(options));
    // All are checked before the first is compiled: a mistake in the last should not cost the time of the others.
    const checked = this.#guard('prepare', () => checkPlans(plans)).map(({ op, call }) => ({
      op,
      call: this.#guard(op, () => this.#check(op, call, false)),
    }));
    if (signal?.aborted === true) throw signal.reason;
    // A compile takes as long as it takes; abort, loss and dispose end the wait for it at once.
    const wait = signal === undefined ? { timeoutMs: Infinity } : { timeoutMs: Infinity, signal };
    for (const [index, { op, call }] of checked.entries()) {
      await this.wait(op, wait, async () => {
        const needed = call === null ? undefined : checkedOp(op, call);
        if (needed !== undefined) await this.doPrepare(needed);
      });
      onProgress?.(index + 1, checked.length);
    }
  }

  protected override afterDispose(): void {
    releaseSlot(this.#slot);
  }

  /** The native memory that is live now, for `doDispose` and for device tools. */
  protected *liveBuffers(): Generator<Buffer> {
    for (const { buffer } of this.#table.allocations()) yield buffer;
  }

  /**
   * A shape, checked as `prepare` checks it, for tools of a backend; undefined when there is nothing to do.
   *
   * @throws {BackendError} INVALID_ARGUMENT or UNSUPPORTED, as the call itself
   */
  protected checkedShape(op: OpName, shape: object): CheckedOp | undefined {
    return this.#guard(op, () => {
      const checked = this.#check(op, shape, false);
      return checked === null ? undefined : checkedOp(op, checked);
    });
  }

  /** The native memory around a live pointer, for `native`. */
  protected operandAt(ptr: DevicePtr): Operand<Buffer> {
    return this.#guard('native', () => {
      const allocation = this.#table.find(ptr);
      const byteLength = allocation === undefined ? 0 : allocation.base + allocation.bytes - ptr;
      return this.#table.resolve('ptr', ptr, byteLength);
    });
  }

  /** Device memory, or an error that says how much was wanted. */
  #nativeAlloc(bytes: number, label: string | undefined, fields: BackendErrorFields): Buffer {
    try {
      return this.doAlloc(bytes, label);
    } catch (error) {
      throw isBackendError(error, 'OUT_OF_MEMORY') ? annotate(error, fields) : error;
    }
  }

  /**
   * For implementers: whether an error that `doSynchronize` or `doCopyDtoh` rejected with ends the object. Not that of a
   * single op which failed alone, such as one whose kernel does not compile: it is for this wait only. Default: true.
   */
  protected isSticky(_error: BackendError): boolean {
    return true;
  }

  /** Waits for work that was accepted: what the device makes of it from here on is sticky. */
  async #accepted(op: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (cause) {
      const error = annotate(toBackendError(cause, 'DEVICE_ERROR'), { op });
      const isFailure = error.code === 'DEVICE_ERROR' || error.code === 'OUT_OF_MEMORY';
      if (isFailure && this.isSticky(error)) this.reportFailure(error);
      throw error;
    }
  }

  #gemm(op: 'gemm' | 'batchedGemm' | 'gemmF16', call: GemmCall): void {
    this.#run(op, call, (resolved: ResolvedGemm<Buffer>) => {
      const hook = checkedOp(op, resolved)?.hook;
      if (hook === 'gemm') this.doGemm(resolved);
      else if (hook === 'scale') this.doScale(resolved);
    });
  }

  /** Every op's way: state, the op's rules, support, operands, then the implementer. */
  #run<Resolved>(op: OpName, call: object, execute: (resolved: Resolved) => void): void {
    this.#guard(op, () => {
      checkCallObject(op, call);
      const pointers = call as Readonly<Record<string, number>>;
      const { operands, output } = OP_RULES[op];
      for (const name of operands) checkPointerType(name, pointers[name]);
      const checked = this.#check(op, call, pointers[output] === 0);
      if (checked === null) return;
      // What the rules gave is nobody else's: a copy would cost as much as all of the checks.
      const resolved = checked as CheckedCall & { opName: OpName };
      resolved.opName = op;
      resolveOperands(this.#table, checked, pointers, resolved);
      execute(resolved as Resolved);
    });
  }

  #check(op: OpName, shape: object, outputIsNull: boolean): CheckedCall | null {
    checkCallObject(op, shape);
    const checked = OP_RULES[op].check(shape as never, outputIsNull);
    if (checked !== null) this.#assertSupported(op, checked);
    return checked;
  }

  /** For `supports`, whose shape may be as little as a dtype. */
  #checkSupported(op: OpName, shape: object): void {
    checkCallObject(op, shape);
    const { dtype, ...rest } = shape as { dtype?: CheckedCall['dtype'] };
    if (Object.keys(rest).length > 0) this.#check(op, shape, false);
    else if (dtype !== undefined) this.#assertDType(op, dtype);
  }

  #assertSupported(op: OpName, checked: CheckedCall): void {
    this.#assertDType(op, checked.dtype);
    const { maxHeadDim } = this.capabilities.limits;
    const { headDim } = checked as { headDim?: number };
    if (headDim !== undefined && headDim > maxHeadDim) {
      throw new BackendError('UNSUPPORTED', `headDim ${headDim} exceeds this device's limit of ${maxHeadDim}`);
    }
    const needed = checkedOp(op, checked);
    const reason = needed === undefined ? undefined : this.unsupportedReason(needed);
    if (reason !== undefined) throw new BackendError('UNSUPPORTED', reason);
  }

  #assertDType(op: OpName, dtype: CheckedCall['dtype']): void {
    const { ops, dtypes } = this.capabilities;
    if (!ops.includes(op)) throw missing(op);
    if (dtypes[op]?.includes(dtype) !== true) {
      throw new BackendError('UNSUPPORTED', `${op} does not take dtype ${dtype} on ${this.name}`);
    }
  }

  #guard<T>(op: string, action: () => T): T {
    this.assertUsable(op);
    try {
      return action();
    } catch (error) {
      throw annotate(toBackendError(error, 'DEVICE_ERROR'), { backend: this.name, op });
    }
  }
}
