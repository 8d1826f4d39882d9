import {
  type ComputeBackend,
  type DevicePtr,
  download,
  fromF16Array,
  NULL_PTR,
  offsetPtr,
  toF16Array,
} from '@concord/backend-core';
import type { BenchWork } from './bench-case.ts';

/** Element types of operands; `u32` for places such as those of a gather. */
export type OperandType = 'f32' | 'f16' | 'u32';

/** The elements of an operand. */
export interface OperandOptions {
  /** Default: f32. */
  readonly dtype?: OperandType;
  /** Whole numbers below this one. Default: numbers in [-1, 1). */
  readonly below?: number;
  /** Numbers in [0, 1): sums of both signs would cancel and hide missing terms. */
  readonly isPositive?: boolean;
}

/** An operand: one block of noise again and again, so that it may be larger than the memory of the host. */
export interface Operand {
  /** Elements. */
  readonly length: number;
  readonly dtype: OperandType;
  /** The block, or its beginning if it is longer than the operand. f16 values are rounded. */
  readonly block: Float32Array;
  readonly at: (index: number) => number;
}

/** Twice a prime: no matrix has rows that repeat with it, and of any type it is whole words. */
const BLOCK = 2 * 2_097_143;
const blocks = new Map<string, Float32Array>();

/** The operand that a length, a seed and a type stand for, always the same one. Its elements are made when they are read. */
export function operand(length: number, seed: number, options: OperandOptions = {}): Operand {
  const { dtype = 'f32' } = options;
  let made: Float32Array | undefined;
  const block = (): Float32Array => (made ??= blockOf(Math.min(length, BLOCK), seed, options));
  return {
    length,
    dtype,
    get block() {
      return block();
    },
    at: (index) => block()[index % BLOCK] as number,
  };
}

/** Numbers in [-1, 1) that look random, the same ones on every run: a linear congruential generator. */
export function noise(length: number, seed: number): Float32Array {
  const numbers = new Float32Array(length);
  let state = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    numbers[i] = state / 2 ** 31;
  }
  return numbers;
}

/** Elements at equal distances, for an oracle that takes an array. */
export function elements({ at }: Operand, first: number, count: number, step = 1): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => at(first + i * step));
}

/** All of an operand in one array. */
export function materialize({ length, block }: Operand): Float32Array {
  if (length === block.length) return block;
  const all = new Float32Array(length);
  for (let at = 0; at < length; at += block.length) all.set(block.subarray(0, length - at), at);
  return all;
}

/** Bytes of an element. */
export function bytesOf(dtype: OperandType): number {
  return dtype === 'f16' ? 2 : 4;
}

/** Copies an operand to memory of a device that has room for it. */
function copyOperand(backend: ComputeBackend, ptr: DevicePtr, { length, dtype, block }: Operand): void {
  const raw = dtype === 'f16' ? toF16Array(block) : dtype === 'u32' ? Uint32Array.from(block) : block;
  for (let at = 0; at < length; at += raw.length) {
    backend.copyHtod(offsetPtr(ptr, at * raw.BYTES_PER_ELEMENT), raw.subarray(0, length - at));
  }
}

/** Blocks are kept: the cases of a run share them. */
function blockOf(length: number, seed: number, { dtype, below, isPositive = false }: OperandOptions): Float32Array {
  const key = `${seed} ${dtype === 'f16'} ${below} ${isPositive}`;
  let block = blocks.get(key);
  if (block === undefined || block.length < length) {
    block = noise(length, seed);
    if (isPositive || below !== undefined) block = block.map((value) => (value < 0 ? value + 1 : value));
    if (below !== undefined) block = block.map((value) => Math.min(below - 1, Math.floor(value * below)));
    if (dtype === 'f16') block = fromF16Array(toF16Array(block));
    blocks.set(key, block);
  }
  return block.subarray(0, length);
}

/** A case on a device, ready to run. */
export interface PlacedWork {
  /** Queues one call; its promise, if any, is awaited before the next one. */
  call(): Promise<void> | void;
  /** Reads a word of the output, which comes after all work that is queued. */
  touch(): Promise<void>;
  /** Reads these entries of the output. */
  entries(indices: readonly number[]): Promise<readonly number[]>;
  free(): void;
}

/**
 * Makes the operands of a case on a device. The output is full of NaN, so that missing elements cannot look right.
 *
 * @throws {BackendError} OUT_OF_MEMORY where they do not fit; nothing stays allocated
 */
export function placeWork(work: BenchWork, backend: ComputeBackend): PlacedWork {
  const pointers: DevicePtr[] = [];
  const { inputs, outputLength, outputDtype } = work;
  const alloc = (bytes: number): DevicePtr => {
    const ptr = backend.alloc(bytes);
    pointers.push(ptr);
    return ptr;
  };
  const free = (): void => {
    for (const ptr of pointers.splice(0)) backend.free(ptr);
  };
  try {
    for (const input of inputs) copyOperand(backend, alloc(input.length * bytesOf(input.dtype)), input);
    const bytes = outputLength * bytesOf(outputDtype);
    const output = bytes === 0 ? NULL_PTR : alloc(bytes);
    if (bytes > 0) backend.fill(output, 0xff, bytes);
    const word = new Uint8Array(Math.min(4, bytes));
    return {
      call: () => work.call(backend, (index) => pointers[index] ?? NULL_PTR, output),
      touch: async () => {
        if (bytes > 0) await backend.copyDtoh(word, output);
      },
      entries: async (indices) => {
        const host = work.hostResult?.();
        if (host !== undefined) return indices.map((index) => host[index] as number);
        const at = (index: number): DevicePtr => offsetPtr(output, index * bytesOf(outputDtype));
        return Promise.all(indices.map((index) => readEntry(backend, at(index), outputDtype)));
      },
      free,
    };
  } catch (error) {
    free();
    throw error;
  }
}

async function readEntry(backend: ComputeBackend, ptr: DevicePtr, dtype: OperandType): Promise<number> {
  if (dtype !== 'u32') return (await download(backend, ptr, 1, { dtype }))[0] as number;
  const word = new Uint32Array(1);
  await backend.copyDtoh(word, ptr);
  return word[0] as number;
}
