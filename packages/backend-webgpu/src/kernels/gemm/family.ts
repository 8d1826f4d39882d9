import type {
  Candidates as AnyCandidates,
  KernelTable as AnyTable,
  NamedVariant,
  VariantTable,
} from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder } from '../recorder.ts';
import type { Product } from './product.ts';

/** Kernels without a choice. */
export type KernelTable = AnyTable<DeviceTraits, Kernel>;

/** A product as variants are chosen for it. */
export interface OfferedProduct {
  readonly product: Product;
  /** Terms that are worked on at a time. */
  readonly depth: number;
}

/** A product whose operands fit into bindings and whose C is stored as it can be written. */
export interface ProductWork {
  readonly product: Product;
  readonly splits: Splits;
}

/** Kernels that compute products: all that the backend knows of them. */
export interface ProductTable extends VariantTable<OfferedProduct, ProductWork, Recorder, Kernel, Variant> {
  /** Returns whether the kernel of a variant applies the epilogue of a product that has one. Default: it does not. */
  readonly appliesEpilogues?: (variant: Variant) => boolean;
}

/** A variant of a table, and into how many ranges k should be split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** The variants that a table offers for a product. */
export type Candidates = AnyCandidates<Variant>;

/** A product whose results for each range of k go beside each other: C of split s begins `s * stride` elements on. */
export interface Splits {
  /** Terms of a range; a multiple of 4 and of the tile's step. */
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}
