import { BackendError } from '@concord/backend-core';
import { spanAt } from '@concord/variants';
import type { EventHandle, KernelHandle } from '../ffi/prototypes.ts';
import { RESULTS } from '../ffi/result.ts';
import { checkGroups, secondsOf } from '../kernels/work.ts';
import type { OpPlan } from '../kernels/op-plan.ts';
import type { DeviceTraits, Launch, Recorder, Span } from '../kernels/recorder.ts';
import { CHUNK_BYTES, type HostBlock, type HostBlocks, Staging } from './staging.ts';
import type { Allocation, MemoryPool } from './memory-pool.ts';
import type { ModuleCache } from './module-cache.ts';
import type { OpenDevice } from './open-device.ts';
import type { Submissions } from './submissions.ts';

/** The parts that a {@link CommandStream} works with. */
export interface CommandStreamOptions {
  readonly device: OpenDevice;
  readonly traits: DeviceTraits;
  readonly submissions: Submissions;
  readonly modules: ModuleCache;
  readonly pool: MemoryPool;
  readonly blocks: HostBlocks;
}

/** Commands that are collected before they are submitted without anybody waiting. */
export const MAX_COMMANDS = 64;
/**
 * Seconds of work that are collected, by an estimate of its maximum duration: kernel drivers take a device for hung whose
 * work does not end within several.
 */
const MAX_SECONDS = 1;
/** Bytes to upload that are collected: with few, the memory that they are staged in is soon used again, and warm. */
const MAX_STAGED_BYTES = CHUNK_BYTES;

/**
 * Commands in call order. They are collected in a command list, each after a barrier, and submitted by `flush`, when there
 * are {@link MAX_COMMANDS} or {@link MAX_SECONDS} of work, and when much is to be uploaded.
 */
export class CommandStream implements Recorder {
  readonly #options: CommandStreamOptions;
  readonly #staging: Staging;
  readonly #groups = new Uint32Array(3);
  #commands = 0;
  #seconds = 0;
  #stagedBytes = 0;
  /** The ops in the list, for the message when it fails. */
  readonly #ops = new Set<string>();
  #op = '';
  readonly #scratch: Allocation[] = [];
  /** The event that the next launch signals: null but for what times launches. */
  signal: EventHandle | null = null;
  /** The number of launches of each variant. */
  readonly variantRuns: Map<string, number> = new Map();
  /** All 256 bytes in order, for the driver to read while it fills. */
  #patterns: HostBlock | undefined;

  constructor(options: CommandStreamOptions) {
    this.#options = options;
    this.#staging = new Staging(options.blocks, options.submissions);
  }

  get traits(): DeviceTraits {
    return this.#options.traits;
  }

  /** Records one op: `plan` gets this stream as its recorder. Scratch memory is released when it returns. */
  record(op: string, plan: (recorder: Recorder) => void): void {
    const outer = this.#op;
    const held = this.#scratch.length;
    this.#op = op;
    try {
      plan(this);
    } finally {
      this.#op = outer;
      for (const memory of this.#scratch.splice(held)) this.#options.pool.release(memory);
    }
  }

  /** Records what was planned for an op, with the operands and the numbers of a call. */
  run(op: string, plan: OpPlan, operands: readonly Span[], numbers: readonly number[]): void {
    const { steps, scratch } = plan;
    const hasLargeBuffers = takesLargeBuffers(plan, operands);
    this.record(op, () => {
      const memory = scratch.length === 0 ? operands : [...operands, ...scratch.map((bytes) => this.scratch(bytes))];
      for (const step of steps) {
        if ('dst' in step) {
          this.copy(spanAt(memory, step.dst), spanAt(memory, step.src));
          continue;
        }
        const { kernel, args, groups, variant, seconds } = step;
        const loaded = this.#options.modules.kernel(kernel, hasLargeBuffers);
        loaded.setPlannedArguments(args, memory, numbers);
        this.launchKernel(loaded.object.handle, groups, kernel.name, seconds, variant);
      }
    });
  }

  launch(launch: Launch): void {
    const { kernel, args, groups, variant } = launch;
    checkGroups(kernel, groups, this.traits);
    const loaded = this.#options.modules.kernel(kernel, Object.values(args).some(isLarge));
    loaded.setArguments(args);
    this.launchKernel(loaded.object.handle, groups, kernel.name, secondsOf(launch, this.traits), variant);
  }

  /** Launches a kernel whose arguments and group size are set, which takes so long at most. */
  launchKernel(kernel: KernelHandle, [x, y, z]: Launch['groups'], name: string, seconds = 0, variant?: string): void {
    if (this.#seconds + seconds > MAX_SECONDS) this.flush();
    const list = this.#begin(this.#op);
    const groups = this.#groups;
    groups[0] = x;
    groups[1] = y;
    groups[2] = z;
    const { api } = this.#options.device;
    const result = api.zeCommandListAppendLaunchKernel(list, kernel, groups, this.signal, 0, null);
    if (result !== RESULTS.SUCCESS) {
      throw this.#options.device.error(result, `zeCommandListAppendLaunchKernel of ${name}`);
    }
    this.#seconds += seconds;
    if (variant !== undefined) this.variantRuns.set(variant, (this.variantRuns.get(variant) ?? 0) + 1);
  }

  scratch(bytes: number): Span {
    const buffer = this.#options.pool.take(bytes, `scratch of ${this.#op}`);
    this.#scratch.push(buffer);
    return { buffer, byteOffset: 0, byteLength: bytes };
  }

  copy(dst: Span, src: Span): void {
    this.#copy(this.#op, addressOf(dst), addressOf(src), Math.min(dst.byteLength, src.byteLength));
  }

  /** Sets every byte of a span. */
  fill(dst: Span, byte: number): void {
    const pattern = this.#patternAddress() + BigInt(byte);
    const { device } = this.#options;
    const call = 'zeCommandListAppendMemoryFill';
    const list = this.#begin('fill');
    device.check(device.api[call](list, addressOf(dst), pattern, 1, dst.byteLength, null, 0, null), call);
  }

  /** Writes host memory, which may be changed when this returns. */
  write(dst: Span, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength; done += CHUNK_BYTES) {
      const chunk = bytes.subarray(done, done + CHUNK_BYTES);
      // Begun before the bytes are staged: beginning may submit, and what is staged is kept for the list that copies it.
      this.#begin('copyHtod');
      this.#append(addressOf(dst) + BigInt(done), this.#staging.stage(chunk), chunk.byteLength);
      this.#stagedBytes += chunk.byteLength;
      if (this.#stagedBytes >= MAX_STAGED_BYTES) this.flush();
    }
  }

  /** Copies a span into host memory. */
  copyOut(dst: HostBlock, src: Span): void {
    this.#copy('copyDtoh', dst.address, addressOf(src), src.byteLength);
  }

  /** Submits what is collected. */
  flush(): void {
    if (this.#commands === 0) return;
    const ops = [...this.#ops].join(', ');
    this.#commands = 0;
    this.#seconds = 0;
    this.#stagedBytes = 0;
    this.#ops.clear();
    this.#options.submissions.submit(ops);
    this.#options.pool.collect();
  }

  /** Gives host memory back. To be called when no work is in flight. */
  clear(): void {
    this.#staging.clear();
    if (this.#patterns !== undefined) this.#options.blocks.giveBack(this.#patterns, 0);
    this.#patterns = undefined;
  }

  #copy(op: string, dst: bigint, src: bigint, bytes: number): void {
    this.#begin(op);
    this.#append(dst, src, bytes);
  }

  #append(dst: bigint, src: bigint, bytes: number): void {
    const { device, submissions } = this.#options;
    const call = 'zeCommandListAppendMemoryCopy';
    device.check(device.api[call](submissions.list, dst, src, bytes, null, 0, null), call);
  }

  /** Makes room for one command of an op, after all others. */
  #begin(op: string): Submissions['list'] {
    if (this.#commands >= MAX_COMMANDS) this.flush();
    const { device, submissions } = this.#options;
    const { list } = submissions;
    // Also as the first command: lists of a queue start in order, but nothing says that they end before the next starts.
    const result = device.api.zeCommandListAppendBarrier(list, null, 0, null);
    if (result !== RESULTS.SUCCESS) throw device.error(result, 'zeCommandListAppendBarrier');
    this.#commands++;
    this.#ops.add(op);
    return list;
  }

  #patternAddress(): bigint {
    if (this.#patterns === undefined) {
      this.#patterns = this.#options.blocks.take(256);
      for (let byte = 0; byte < 256; byte++) this.#patterns.bytes[byte] = byte;
    }
    return this.#patterns.address;
  }
}

const isLarge = (value: Launch['args'][string]): boolean =>
  typeof value === 'object' && 'buffer' in value && isInLargeBuffer(value);

/** Returns the address at which a span starts. */
export function addressOf({ buffer, byteOffset }: Span): bigint {
  if (buffer === undefined) throw new BackendError('INVALID_ARGUMENT', 'a span without memory');
  return byteOffset === 0 ? buffer.address : buffer.address + BigInt(byteOffset);
}

/** Bytes that addresses of 32 bits reach. */
const MAX_SMALL = 2 ** 32;

/** Returns whether addresses of 32 bits do not reach all of the memory that a span is in: kernels have to be built for that. */
export function isInLargeBuffer({ buffer }: Span): boolean {
  return buffer.size > MAX_SMALL;
}

/** Returns whether a plan with these operands works on memory that addresses of 32 bits do not reach all of. */
export function takesLargeBuffers({ scratch }: OpPlan, operands: readonly Span[]): boolean {
  return scratch.some((bytes) => bytes > MAX_SMALL) || operands.some(isInLargeBuffer);
}
