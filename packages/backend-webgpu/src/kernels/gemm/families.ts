import { sizeStep, type VariantQuestion } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder } from '../recorder.ts';
import { directFamily } from './direct.ts';
import { f16RoundTripFamily } from './f16-round-trip.wgsl.ts';
import type { Candidates, KernelFamily, ProductFamily, Splits, Variant } from './family.ts';
import { finish } from './finish.wgsl.ts';
import { matrixUnitsFamily } from './matrix-units.ts';
import { matvecFamily } from './matvec.ts';
import type { Product } from './product.ts';
import { tiledFamily } from './tiled.ts';

/**
 * Families that compute products. Where several can compute one, the first of them is preferred. A new one is added here, and
 * nothing else has to know of it.
 */
const PRODUCT_FAMILIES: readonly ProductFamily[] = [matrixUnitsFamily, tiledFamily, directFamily, matvecFamily];

/** Families that finish products, stand in for them, or try what they need. */
const OTHER_FAMILIES: readonly KernelFamily[] = [finish, f16RoundTripFamily];

const FAMILIES: readonly KernelFamily[] = [...PRODUCT_FAMILIES, ...OTHER_FAMILIES];

const FAMILY_OF: ReadonlyMap<string, ProductFamily> = new Map(
  PRODUCT_FAMILIES.flatMap((family) => family.ids.map((id) => [id, family] as const)),
);

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = FAMILIES.flatMap(({ ids }) => ids);

/** Every kernel that a gemm on such a device may need. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return FAMILIES.flatMap((family) => family.kernelsFor(traits));
}

/**
 * The kernels that can compute a product, and the best as far as is known.
 *
 * @param depth - terms that are worked on at a time
 */
export function variantsFor(product: Product, depth: number, traits: DeviceTraits): VariantQuestion<Variant> {
  const offers: Candidates[] = [];
  for (const family of PRODUCT_FAMILIES) {
    const offer = family.candidates(product, depth, traits);
    if (offer !== undefined) offers.push(offer);
  }
  const [first] = offers;
  if (first === undefined) throw new RangeError('no family computes this product');
  return {
    shapeClass: () => shapeClassOf(product, offers),
    candidates: offers.flatMap(({ variants }) => variants),
    preferred: first.preferred,
  };
}

function shapeClassOf({ m, n, k, batchCount, transA, transB, a }: Product, offers: readonly Candidates[]): string {
  const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  const sizes = [m, n, k, batchCount].map(sizeStep);
  const conditions = offers.flatMap(({ condition }) => condition ?? []);
  return ['gemm', a.dtype, letters, ...sizes, ...conditions].join(' ');
}

/** Returns whether a variant's kernel applies the epilogue of a product. */
export function appliesEpilogues(variant: Variant): boolean {
  return FAMILY_OF.get(variant.id)?.appliesEpilogues?.(variant) === true;
}

/** Launches a variant's kernel; see {@link ProductFamily}. */
export function launchProduct(product: Product, variant: Variant, splits: Splits, recorder: Recorder): void {
  const family = FAMILY_OF.get(variant.id);
  if (family === undefined) throw new RangeError(`there is no variant ${variant.id}`);
  family.launch(product, variant, splits, recorder);
}
