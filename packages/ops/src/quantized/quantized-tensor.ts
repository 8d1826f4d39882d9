/// <reference lib="esnext.disposable" preserve="true" />
import type { ComputeBackend, DevicePtr, QuantB, QuantDType } from '@concord/backend-core';
import { refuse, shapeText } from '../tensor/errors.ts';
import { showAsText } from '../tensor/show-as-text.ts';
import { Tensor } from '../tensor/tensor.ts';

/** The memory of a {@link QuantizedTensor}. */
export interface QuantizedParts {
  /** `[n, bytes of a row]`, i8 for `i8`, else u8. Two elements of 4 bits lie in a byte, the first in its low half. */
  readonly data: Tensor;
  /** `[n, ceil(k / block)]`, f32 or f16. */
  readonly scales: Tensor;
  /** One for each scale: floats, or integers that lie as the elements do. */
  readonly zeros?: Tensor | undefined;
  /** One for each scale, in its element type. */
  readonly offsets?: Tensor | undefined;
}

/**
 * A weight `[n, k]` of integers of 8 or 4 bits, `block` of which along k share a scale: element q is `(q - zero) scale`, or
 * `q scale + offset`. Without zeros and offsets a zero is 0 for signed types, 8 for `u4`, 128 for `u8`.
 *
 * Made by {@link quantizedTensor}, {@link fromGguf} and {@link fromMatMulNBits}, taken by {@link linear}. Its tensors are disposed
 * together: by `using`, by `tidy` or by `dispose`.
 */
export class QuantizedTensor implements QuantizedParts, Disposable {
  readonly shape: readonly [n: number, k: number];
  readonly dtype: QuantDType;
  readonly block: number;
  readonly data: Tensor;
  readonly scales: Tensor;
  readonly zeros: Tensor | undefined;
  readonly offsets: Tensor | undefined;
  /** @internal Elements from one row to the next, and from one element of a row. */
  readonly strides: readonly [row: number, column: number];
  /** @internal In the order of a product's operands. */
  readonly parts: readonly Tensor[];
  /** @internal The same for weights that differ in nothing but addresses and numbers. */
  readonly key: readonly unknown[];

  /** @internal */
  constructor(
    { shape, dtype, block }: Pick<QuantizedTensor, 'shape' | 'dtype' | 'block'>,
    { data, scales, zeros, offsets }: QuantizedParts,
  ) {
    if (!(data instanceof Tensor)) {
      throw refuse('quantizedTensor', 'QuantizedTensor is not a constructor to call', {
        hint: 'quantizedTensor(backend, {...})',
      });
    }
    this.shape = shape;
    this.dtype = dtype;
    this.block = block;
    this.data = data;
    this.scales = scales;
    this.zeros = zeros;
    this.offsets = offsets;
    this.strides = [(data.shape[1] as number) * (isNibbles(dtype) ? 2 : 1), 1];
    this.parts = [data, scales, zeros, offsets].filter((each) => each !== undefined);
    const ids = [data, scales, zeros, offsets].map((part) => part?.layout.id ?? 0);
    this.key = [dtype, shape[1], block, ...ids];
  }

  get backend(): ComputeBackend {
    return this.data.backend;
  }

  get isDisposed(): boolean {
    return this.data.isDisposed;
  }

  /** @internal */
  get ptr(): DevicePtr {
    return this.data.ptr;
  }

  /** @internal */
  get quantB(): QuantB {
    const { block, dtype, scales, zeros, offsets } = this;
    const floats = (part: Tensor): QuantB['scales'] => ({ ptr: part.ptr, dtype: part.dtype as 'f32' | 'f16' });
    const shared = { block, scales: floats(scales) };
    if (offsets !== undefined) return { ...shared, offsets: { ptr: offsets.ptr } };
    if (zeros === undefined) return shared;
    return { ...shared, zeros: isFloats(zeros) ? floats(zeros) : { ptr: zeros.ptr, dtype } };
  }

  /** Gives the memory back. Idempotent. */
  dispose(): void {
    for (const part of this.parts) part.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  toString(): string {
    return `QuantizedTensor ${this.dtype}${shapeText(this.shape)} on ${this.backend.name}`;
  }

  /** Returns what `JSON.stringify` writes: a description, without the elements. */
  toJSON(): object {
    const { dtype, shape, block, backend, isDisposed } = this;
    return { type: 'QuantizedTensor', dtype, shape, block, backend: backend.name, isDisposed };
  }

  static {
    showAsText(QuantizedTensor);
  }
}

/** Returns whether two elements lie in a byte. */
export function isNibbles(dtype: QuantDType): boolean {
  return dtype === 'i4' || dtype === 'u4';
}

function isFloats({ dtype }: Tensor): boolean {
  return dtype === 'f32' || dtype === 'f16';
}
