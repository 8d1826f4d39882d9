/// <reference lib="esnext.disposable" preserve="true" />
import {
  BYTES_OF,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  download,
  type HostArray,
  type WaitOptions,
} from '@concord/backend-core';
import { copyElements } from '../compute/copy.ts';
import type { Nested } from './create.ts';
import { refuse, shapeText } from './errors.ts';
import { nestedOf } from './nested.ts';
import { listeners } from './listeners.ts';
import { showAsText } from './show-as-text.ts';
import type { Layout, SharedLayout } from './layout.ts';
import { denseStrides } from './shape.ts';
import { Storage, unwatch, watch } from './storage.ts';

/**
 * Numbers in a device's memory: a shape, strides, an element type and storage that views share. Made by `tensor`,
 * `zeros`, ... and by every function; disposed by `using`, by {@link tidy} or by `dispose`, after which each use of it
 * throws.
 */
export class Tensor implements Disposable, Layout {
  /** @internal */
  readonly storage: Storage;
  /** @internal */
  readonly layout: SharedLayout;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: DType;
  readonly offset: number;
  #disposed = false;
  #isWatched = false;

  /** @internal */
  constructor(storage: Storage, layout: SharedLayout, offset = 0) {
    if (!(storage instanceof Storage)) {
      throw refuse('tensor', 'is not a constructor to call', { hint: 'tensor(backend, [1, 2]), zeros(backend, [2])' });
    }
    this.storage = storage;
    this.layout = layout;
    this.shape = layout.shape;
    this.strides = layout.strides;
    this.dtype = layout.dtype;
    this.offset = offset;
    storage.retain();
  }

  get backend(): ComputeBackend {
    return this.storage.backend;
  }

  /**
   * Address of the first element.
   *
   * @throws {BackendError} INVALID_ARGUMENT after `dispose`
   */
  get ptr(): DevicePtr {
    if (this.#disposed) {
      throw refuse('tensor', `${this.dtype}${shapeText(this.shape)} was disposed`, {
        hint: 'tidy disposes what is made in it, except the tensors in what its function returns: it looks into arrays, objects, Maps and Sets, not into private fields or closures',
      });
    }
    const ptr = (this.storage.ptr + this.offset * BYTES_OF[this.dtype]) as DevicePtr;
    if (listeners.length > 0) for (const listener of listeners) listener.asked(this.storage, ptr);
    return ptr;
  }

  /** Number of axes. */
  get rank(): number {
    return this.shape.length;
  }

  /** Number of elements. */
  get size(): number {
    return this.layout.size;
  }

  /** True if the elements lie row-major without gaps. */
  get isDense(): boolean {
    return this.layout.isDense;
  }

  get isDisposed(): boolean {
    return this.#disposed;
  }

  /**
   * The elements, row-major, after the work queued so far: a Float32Array of f32, f16 and bf16, the typed array of the
   * same name of integers.
   *
   * @throws {BackendError} INVALID_ARGUMENT after `dispose`
   * @throws {BackendError} DEVICE_ERROR on timeout
   */
  async toArray(wait: WaitOptions = {}): Promise<HostArray> {
    const { backend, ptr, shape, strides, dtype, size } = this;
    if (this.isDense) return download(backend, ptr, size, { ...wait, dtype });
    const packed = backend.alloc(size * BYTES_OF[dtype]);
    try {
      copyElements(backend, shape, { ptr, strides, dtype }, { ptr: packed, strides: denseStrides(shape), dtype });
      return await download(backend, packed, size, { ...wait, dtype });
    } finally {
      backend.free(packed);
    }
  }

  /**
   * The elements as lists of lists, as `tensor` takes them, after the work queued so far; a number without axes.
   *
   * @throws {BackendError} as {@link toArray}
   */
  async toNested(wait: WaitOptions = {}): Promise<Nested> {
    return nestedOf(await this.toArray(wait), this.shape);
  }

  /**
   * The only element, after the work queued so far.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a tensor of more or fewer than one element, and after `dispose`
   * @throws {BackendError} DEVICE_ERROR on timeout
   */
  async item(wait: WaitOptions = {}): Promise<number> {
    if (this.size !== 1) throw refuse('item', `${shapeText(this.shape)} has ${this.size} elements, not one`);
    return (await this.toArray(wait))[0] as number;
  }

  /** Gives the storage back when no other view holds it. Idempotent. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (this.#isWatched) unwatch(this);
    this.storage.release();
  }

  /** @internal Leaves it to the collector to give the storage back, if nothing else does. */
  watch(): void {
    this.#isWatched = true;
    watch(this, this.storage);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /**
   * Numbers that are on a device are none of JavaScript's: `x + 1` and `x > 0` would silently work on texts.
   *
   * @throws {BackendError} INVALID_ARGUMENT always, with the functions to call
   */
  [Symbol.toPrimitive](): never {
    throw refuse(
      'tensor',
      `${this.toString()} is not a number or string of JavaScript: +, < and \`\${x}\` cannot take it`,
      {
        hint: 'add(x, 1), greater(x, 0), ... compute on the device; await x.toArray() or x.item() reads, x.toString() describes',
      },
    );
  }

  toString(): string {
    return `Tensor ${this.dtype}${shapeText(this.shape)} on ${this.backend.name}${this.#disposed ? ', disposed' : ''}`;
  }

  /** Returns what `JSON.stringify` writes: a description, without the elements; `await x.toNested()` reads those. */
  toJSON(): object {
    const { dtype, shape, backend, isDisposed } = this;
    return { type: 'Tensor', dtype, shape, backend: backend.name, isDisposed };
  }

  static {
    showAsText(Tensor);
  }
}
