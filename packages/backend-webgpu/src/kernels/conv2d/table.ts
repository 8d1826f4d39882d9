import { type NamedVariant, type VariantTable } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { Recorder, Span } from '../recorder.ts';

/** The facts that decide which kernel is chosen, of a convolution or of a window of it. */
export interface Conv2dShape {
  readonly groups: number;
  /** Per group. */
  readonly filters: number;
  /** Per group. */
  readonly channels: number;
  readonly images: number;
  /** Of each image. */
  readonly outputRows: number;
  readonly outputWidth: number;
  readonly filterHeight: number;
  readonly filterWidth: number;
  readonly strideW: number;
  readonly dilationW: number;
  readonly isPadded: boolean;
}

/** A window of a convolution, with the pieces of the operands that it touches. */
export interface BoundWindow {
  readonly shape: Conv2dShape;
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
  /** Those of `window.wgsl.ts`. */
  readonly uniforms: Readonly<Record<string, number>>;
}

/** A variant, and into how many ranges the taps are split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** Kernels that convolve: all that the backend knows of them. */
export type Conv2dTable = VariantTable<Conv2dShape, BoundWindow, Recorder, Kernel, Variant>;

/** Places of the output for each filter. */
export function placesOf({ images, outputRows, outputWidth }: Conv2dShape): number {
  return images * outputRows * outputWidth;
}

/** Filters per group up to which a tile of a matrix product would be mostly empty. */
export const FEW_FILTERS = 8;
