import { bindingSlack } from '../operands.ts';
import { maxLoopIterations } from '../loop-iterations.ts';
import type { DeviceTraits } from '../recorder.ts';
import { elementBytes, type Matrix, type Part, type Product } from './product.ts';

/** The part of a product that is computed at a time. */
export interface PanelSizes {
  readonly batchCount: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

type Sizes = { -readonly [Name in keyof PanelSizes]: PanelSizes[Name] };
type Dimension = 'm' | 'n' | 'k';

/**
 * The largest panels whose operands each fit into a binding: several whole matrices of the batch, or one matrix cut
 * along m, n or k; and no sum has more terms than a loop can have iterations. A panel of C is also held as packed float32 sums
 * when C is not float32 or k is cut.
 */
export function panelSizes(product: Product, traits: DeviceTraits): PanelSizes {
  const { batchCount, m, n, k, transA, transB, a, b, c } = product;
  const sizes: Sizes = { batchCount, m, n, k: Math.min(k, mostTerms(traits)) };
  const bytes = bytesOfPanel(traits);
  fit(sizes, a, transA ? 'k' : 'm', transA ? 'm' : 'k', bytes);
  fit(sizes, b, transB ? 'n' : 'k', transB ? 'k' : 'n', bytes);
  fit(sizes, c, 'm', 'n', bytes);
  if (c.dtype !== 'f32' || sizes.k < k) {
    fit(sizes, { dtype: 'f32', ld: sizes.n, stride: sizes.m * sizes.n }, 'm', 'n', bytes);
  }
  return sizes;
}

/** The maximum number of bytes of a panel's operand. */
export function bytesOfPanel({ maxBindingBytes, storageAlignment }: DeviceTraits): number {
  return maxBindingBytes - bindingSlack(storageAlignment);
}

/** The parts of m x n and the batch, in order, each with all of k. */
export function* panels(whole: PanelSizes, sizes: PanelSizes): Generator<Part> {
  for (const [batch, batchCount] of cuts(whole.batchCount, sizes.batchCount)) {
    for (const [row, m] of cuts(whole.m, sizes.m)) {
      for (const [column, n] of cuts(whole.n, sizes.n)) {
        yield { batch, row, column, depth: 0, batchCount, m, n, k: whole.k };
      }
    }
  }
}

/** Cuts `total` into pieces of `size`, the last one smaller: their starts and lengths. */
export function* cuts(total: number, size: number): Generator<readonly [start: number, length: number]> {
  for (let start = 0; start < total; start += size) yield [start, Math.min(size, total - start)];
}

/** The maximum number of terms of a sum in one launch: a kernel may take an iteration of its loop for each, and one to end it. */
function mostTerms(traits: DeviceTraits): number {
  const iterations = maxLoopIterations(traits) - 1;
  return iterations === Infinity ? iterations : round(iterations);
}

/**
 * Makes sizes smaller until an operand fits, which stays true as they become smaller still.
 *
 * @param rows - the dimension that its stored rows count
 */
function fit(
  sizes: Sizes,
  { dtype, ld, stride }: Pick<Matrix, 'dtype' | 'ld' | 'stride'>,
  rows: Dimension,
  columns: Dimension,
  bytes: number,
): void {
  const max = Math.floor(bytes / elementBytes(dtype));
  const extent = (sizes[rows] - 1) * ld + sizes[columns];
  if (extent <= max) {
    if (stride > 0) sizes.batchCount = Math.min(sizes.batchCount, 1 + Math.floor((max - extent) / stride));
    return;
  }
  sizes.batchCount = 1;
  if (sizes[columns] > max) sizes[columns] = round(max);
  const fitting = 1 + Math.floor((max - sizes[columns]) / ld);
  if (sizes[rows] > fitting) sizes[rows] = round(fitting);
}

/** Rounds down so that panels keep the alignment of their operands. */
function round(size: number): number {
  const multiple = [64, 4].find((candidate) => size >= candidate) ?? 1;
  return size - (size % multiple);
}
