import { bindingSlack } from '../operands.ts';
import type { DeviceTraits } from '../recorder.ts';
import { elementBytes, type Matrix, type Part, type Product } from './product.ts';

/** How much of a product is worked on at a time. */
export interface PanelSizes {
  readonly batchCount: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

type Sizes = { -readonly [Name in keyof PanelSizes]: PanelSizes[Name] };
type Dimension = 'm' | 'n' | 'k';

/** A batch of matrices and the dimensions that their stored rows and columns count. */
interface Operand extends Pick<Matrix, 'ld' | 'stride' | 'dtype'> {
  readonly rows: Dimension;
  readonly columns: Dimension;
}

/**
 * The largest panels whose operands each fit into a binding: several whole matrices of the batch, or one matrix cut
 * along m, n or k. A panel of C is also held as packed float32 sums when C is not float32 or k is cut.
 */
export function panelSizes(product: Product, traits: DeviceTraits): PanelSizes {
  const { batchCount, m, n, k, transA, transB, a, b, c } = product;
  const sizes: Sizes = { batchCount, m, n, k };
  fit(sizes, transA ? { ...a, rows: 'k', columns: 'm' } : { ...a, rows: 'm', columns: 'k' }, traits);
  fit(sizes, transB ? { ...b, rows: 'n', columns: 'k' } : { ...b, rows: 'k', columns: 'n' }, traits);
  fit(sizes, { ...c, rows: 'm', columns: 'n' }, traits);
  if (c.dtype !== 'f32' || sizes.k < k) {
    fit(sizes, { dtype: 'f32', rows: 'm', columns: 'n', ld: sizes.n, stride: sizes.m * sizes.n }, traits);
  }
  return sizes;
}

/** The largest panels of C alone that fit into a binding. */
export function panelSizesOfOutput(shape: PanelSizes, c: Matrix, traits: DeviceTraits): PanelSizes {
  const sizes: Sizes = { ...shape };
  fit(sizes, { ...c, rows: 'm', columns: 'n' }, traits);
  return sizes;
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

/** Makes sizes smaller until the operand fits; what fitted before still does. */
function fit(sizes: Sizes, { rows, columns, ld, stride, dtype }: Operand, traits: DeviceTraits): void {
  const most = Math.floor((traits.maxBindingBytes - bindingSlack(traits.storageAlignment)) / elementBytes(dtype));
  const extent = (sizes[rows] - 1) * ld + sizes[columns];
  if (extent <= most) {
    if (stride > 0) sizes.batchCount = Math.min(sizes.batchCount, 1 + Math.floor((most - extent) / stride));
    return;
  }
  sizes.batchCount = 1;
  if (sizes[columns] > most) sizes[columns] = round(most);
  const fitting = 1 + Math.floor((most - sizes[columns]) / ld);
  if (sizes[rows] > fitting) sizes[rows] = round(fitting);
}

/** Rounds down so that panels keep the alignment of their operands. */
function round(size: number): number {
  const multiple = [64, 4].find((candidate) => size >= candidate) ?? 1;
  return size - (size % multiple);
}
