import { denseStrides } from '@concord/ops/listen';
import { type HostTensor, hostTensor, type Scalar, scalars, sizeOf } from '../graph/host-tensor.ts';

/** The index of an element along each axis. */
export function indexOf(place: number, dims: readonly number[]): number[] {
  const index = dims.map(() => 0);
  for (let axis = dims.length - 1, rest = place; axis >= 0; axis--) {
    const size = dims[axis] as number;
    index[axis] = rest % size;
    rest = Math.floor(rest / size);
  }
  return index;
}

/** The maximum number of elements that the host computes: if the device can too, and if only the host can. */
const LIMITS: Readonly<Record<'shared' | 'own', number>> = { shared: 2 ** 16, own: 2 ** 26 };

/** Thrown where the host would give more elements than it should, or has none to fold: the device does it, if it can. */
export class TooLarge extends Error {}

/** @throws {TooLarge} */
export function checkSize(dims: readonly number[], limit: 'shared' | 'own' = 'shared'): void {
  if (!(sizeOf(dims) <= LIMITS[limit]))
    throw new TooLarge(`a result of [${dims.join(', ')}] is too large for the host`);
}

/** The place of an index. */
export function placeOf(index: readonly number[], strides: readonly number[]): number {
  return index.reduce((place, at, axis) => place + at * (strides[axis] as number), 0);
}

/** Strides of a tensor that broadcasts to a shape of so many axes. */
export function broadcastStrides(dims: readonly number[], rank: number): number[] {
  const own = denseStrides(dims).map((stride, axis) => (dims[axis] === 1 ? 0 : stride));
  return [...Array.from({ length: rank - dims.length }, () => 0), ...own];
}

/** A tensor whose elements are those of another, each at the place that is computed for its index. */
function picked(
  x: HostTensor,
  dims: readonly number[],
  place: (index: readonly number[]) => number,
  limit?: 'shared' | 'own',
): HostTensor {
  checkSize(dims, limit);
  const places = Array.from({ length: sizeOf(dims) }, (_, i) => place(indexOf(i, dims)));
  if (x.type === 'string') return { ...x, dims, data: places.map((at) => x.data[at] as string) };
  const elements = scalars(x);
  const values = places.map((at) => elements[at] as Scalar);
  return hostTensor(x.type, dims, values);
}

/** What is seen of a tensor by other sizes and strides, from a place on. */
export function strided(x: HostTensor, dims: readonly number[], strides: readonly number[], offset = 0): HostTensor {
  return picked(x, dims, (index) => offset + placeOf(index, strides));
}

/** The parts of a tensor at places along an axis. */
export function taken(x: HostTensor, axis: number, places: readonly number[], limit?: 'shared' | 'own'): HostTensor {
  const strides = denseStrides(x.dims);
  const dims = x.dims.map((size, each) => (each === axis ? places.length : size));
  const from = (index: readonly number[]): number[] =>
    index.map((at, each) => (each === axis ? (places[at] as number) : at));
  return picked(x, dims, (index) => placeOf(from(index), strides), limit);
}
