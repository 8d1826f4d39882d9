import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { FloatDType } from '@concord/backend-core';
import type { NamedVariant, VariantTable } from '@concord/variants';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { secondsFor } from '../work.ts';
import type { Kernel } from '../kernel.ts';
import type { OperandFormats } from './direct.spv.ts';
import { type Product, type ProductShape, stepsOfA, stepsOfB } from './product.ts';

/** Scratch memory of an op whose launches use it one after the other, by what it is for. */
export class ReusedScratch {
  readonly #recorder: Recorder;
  readonly #taken = new Map<string, { readonly span: Span; readonly contents: string | undefined }>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /**
   * Memory for a use: that of before, where it is large enough.
   *
   * @param contents - what will be in it; `isFilled` tells whether that is there already
   */
  take(use: string, bytes: number, contents?: string): { readonly span: Span; readonly isFilled: boolean } {
    const before = this.#taken.get(use);
    if (before !== undefined && contents !== undefined && before.contents === contents) {
      return { span: before.span, isFilled: true };
    }
    const isEnough = before !== undefined && before.span.byteLength >= bytes;
    const span = isEnough ? before.span : this.#recorder.scratch(bytes);
    this.#taken.set(use, { span, contents });
    return { span, isFilled: false };
  }
}

/**
 * A product whose k is cut into ranges of `depth` terms, so that there is work for every core: the sums of range s go
 * `s * stride` elements on.
 */
export interface Splits {
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}

/** The range of terms of a work-item, and where its operands' matrices begin. */
interface Place {
  readonly batch: Value;
  readonly begin: Value;
  readonly end: Value;
  /** Elements from the start of C. */
  readonly c: Value;
}

/** Parameters that {@link placeOf} takes. */
export const SPLIT_PARAMETERS = { k: 'u64', splits: 'u64', depth: 'u64', c_split: 'u64', c_stride: 'u64' } as const;

/** The meaning of `z`: the batch, and in it the range of k. */
export function placeOf(
  k: FunctionBuilder,
  z: Value,
  args: Readonly<Record<keyof typeof SPLIT_PARAMETERS, Value>>,
): Place {
  const batch = k.udiv(z, args.splits);
  const split = k.umod(z, args.splits);
  const begin = k.mul(split, args.depth);
  return {
    batch,
    begin,
    end: k.math('u_min', k.add(begin, args.depth), args.k),
    c: k.add(k.mul(batch, args.c_stride), k.mul(split, args.c_split)),
  };
}

/** The arguments for {@link SPLIT_PARAMETERS}. */
export function splitArguments(
  k: number,
  { depth, count, stride }: Splits,
  c_stride: number,
): Record<keyof typeof SPLIT_PARAMETERS, number> {
  return { k, splits: count, depth, c_split: stride, c_stride };
}

/** A variant, and into how many ranges k is split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** A part of a product that is launched at once. */
export interface ProductWork {
  readonly product: Product;
  readonly splits: Splits;
  /** Scratch memory that the parts of a product share. */
  readonly scratch: ReusedScratch;
}

/** Kernels that compute products: all that the backend knows of them. */
export interface ProductTable extends VariantTable<Product, ProductWork, Recorder, Kernel, Variant> {
  /** The part of C that one launch takes; undefined where it cuts products by itself, and goes through k. */
  readonly mostAtOnce?: (product: Product, variant: Variant, splits: number, traits: DeviceTraits) => Size;
  /** The minimal size of a part. Default: any. */
  readonly least?: (variant: Variant) => Pick<ProductShape, 'm' | 'n'>;
}

/** Some matrices, and rows and columns of each. */
export type Size = Pick<ProductShape, 'batchCount' | 'm' | 'n'>;

/** Storage of inputs and results: results of f16 may be sums in float32. */
export const FORMATS: readonly OperandFormats[] = [
  { input: 'f32', output: 'f32' },
  { input: 'f16', output: 'f32' },
  { input: 'f16', output: 'f16' },
];
export const DTYPES: readonly FloatDType[] = ['f32', 'f16'];
export const BOTH = [false, true] as const;

/** Groups for each compute unit of a GPU, and work-items for each thread of a processor, that keep it busy. */
export const GROUPS_EACH = 4;
export const ITEMS_EACH = 4;
/** The minimum number of terms of a split. */
const MIN_DEPTH = 1024;
/** Rows of the largest tile of any kernel. */
const ROWS_MULTIPLE = 128;

/** Splits k when there are too few groups, into ranges of at least {@link MIN_DEPTH} terms. */
export function splitsFor(groups: number, k: number, wanted: number): number {
  if (groups >= wanted) return 1;
  return Math.max(1, Math.min(Math.ceil(wanted / groups), Math.floor(k / MIN_DEPTH)));
}

/** Entries of C that a group computes. */
type Tile = Pick<ProductShape, 'm' | 'n'>;

/** Groups of a product in tiles. */
export function groupsOf({ m, n, batchCount }: ProductShape, tile: Tile): number {
  return batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
}

/** Sorts: the largest that keeps a GPU busy first, or else the smallest; then the others. */
export function bestFirst<T>(
  largestFirst: readonly T[],
  tileOf: (candidate: T) => Tile,
  product: Product,
  traits: DeviceTraits,
): readonly T[] {
  const wanted = GROUPS_EACH * traits.computeUnits;
  const best = largestFirst.find((each) => groupsOf(product, tileOf(each)) >= wanted) ?? largestFirst.at(-1);
  return best === undefined ? [] : [best, ...largestFirst.filter((candidate) => candidate !== best)];
}

/** Matrices that a launch has the groups for, one for each range of k. */
export const togetherIn = (splits: number, { maxGroups }: DeviceTraits): number =>
  Math.max(1, Math.floor(maxGroups[2] / splits));

/** Returns the part of C that a launch in tiles has the groups and the time for. */
export function tilesAtOnce(product: Product, tile: Tile, splits: number, traits: DeviceTraits): Size {
  const time = inTime(product, 1, traits);
  return {
    batchCount: Math.min(togetherIn(splits, traits), time.batchCount),
    m: Math.min(traits.maxGroups[1] * tile.m, time.m),
    n: traits.maxGroups[0] * tile.n,
  };
}

/**
 * Matrices, or rows of one, that about a second is enough for: kernel drivers take a device for hung that works on one launch
 * for long.
 */
export function inTime(
  { m, n, k }: ProductShape,
  speedup: number,
  traits: DeviceTraits,
): Pick<ProductShape, 'batchCount' | 'm'> {
  const rows = speedup / secondsFor(n * k, traits);
  if (rows >= m) return { batchCount: Math.floor(rows / m), m };
  return { batchCount: 1, m: Math.max(1, Math.floor(rows / ROWS_MULTIPLE)) * ROWS_MULTIPLE };
}

/** Formats of the kernel of a product. */
export const formatsOf = ({ a, c }: Product): OperandFormats => ({ input: a.dtype, output: c.dtype });

/** Arguments that all kernels of products have. */
export function operands(
  { a, b, c, k, alpha, beta }: Product,
  splits: Splits,
): Readonly<Record<string, Span | number>> {
  return {
    a: a.span,
    b: b.span,
    c: c.span,
    c_ld: c.ld,
    a_stride: a.stride,
    b_stride: b.stride,
    ...splitArguments(k, splits, c.stride),
    alpha,
    beta,
  };
}

/** Arguments of a kernel that takes each operand as lines of terms. */
export function steps(product: Product): Readonly<Record<string, number>> {
  const [a, b] = [stepsOfA(product), stepsOfB(product)];
  return { a_line: a.line, a_term: a.term, b_line: b.line, b_term: b.term };
}
