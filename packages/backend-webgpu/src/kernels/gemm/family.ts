import type { NamedVariant } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder } from '../recorder.ts';
import type { Product } from './product.ts';

/** A family of kernels, as `families.ts` lists it. */
export interface KernelFamily {
  /** Its variants; none where there is nothing to choose. */
  readonly ids: readonly string[];
  /** Every kernel of the family that such a device may need. */
  kernelsFor(traits: DeviceTraits): readonly Kernel[];
}

/** A family that computes products: all that the backend knows of it. */
export interface ProductFamily extends KernelFamily {
  /**
   * Its variants for a product on a device; undefined where it has none.
   *
   * @param depth - terms that are worked on at a time
   */
  candidates(product: Product, depth: number, traits: DeviceTraits): Candidates | undefined;
  /** Returns whether the kernel of a variant applies the epilogue of a product that has one. Default: it does not. */
  readonly appliesEpilogues?: (variant: Variant) => boolean;
  /** Launches the kernel of a product whose operands fit into bindings and whose C is stored as it can be written. */
  launch(product: Product, variant: Variant, splits: Splits, recorder: Recorder): void;
}

/** A variant of a family, and into how many ranges k should be split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** The variants that a family offers for a product. */
export interface Candidates {
  /** Not empty. */
  readonly variants: readonly Variant[];
  /** The best of them as far as is known. */
  readonly preferred: Variant;
  /** The requirements of the family beyond sizes, for the shape class: products that meet them are a separate class. */
  readonly condition?: string;
}

/** A product whose results for each range of k go beside each other: C of split s begins `s * stride` elements on. */
export interface Splits {
  /** Terms of a range; a multiple of 4 and of the tile's step. */
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}

/**
 * The data of a variant of a family.
 *
 * @throws {RangeError} for a variant of another family
 */
export function shapeOf<Shape>(shapes: ReadonlyMap<string, Shape>, { id }: NamedVariant): Shape {
  const shape = shapes.get(id);
  if (shape === undefined) throw new RangeError(`${id} is not one of ${[...shapes.keys()].join(', ')}`);
  return shape;
}
