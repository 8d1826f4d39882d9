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

/** A tensor whose elements are those of another, each at the place that is named for its index. */
export function picked(
  x: HostTensor,
  dims: readonly number[],
  place: (index: readonly number[]) => number,
  limit: 'shared' | 'own' = 'shared',
): HostTensor {
  checkSize(dims, limit);
  const places = Array.from({ length: sizeOf(dims) }, (_, i) => place(indexOf(i, dims)));
  if (x.type === 'string') return { ...x, dims, data: places.map((at) => x.data[at] as string) };
  const elements = scalars(x);
  return hostTensor(
    x.type,
    dims,
    places.map((at) => elements[at] as Scalar),
  );
}

/** Returns the place of the element of an index in a tensor that broadcasts to the index's shape. */
export function broadcastPlace(dims: readonly number[]): (index: readonly number[]) => number {
  const strides = denseStrides(dims);
  return (index) => {
    let place = 0;
    const shift = index.length - dims.length;
    for (const [axis, size] of dims.entries())
      if (size !== 1) place += (index[axis + shift] as number) * (strides[axis] as number);
    return place;
  };
}

/** The place of an index. */
export function placeOf(index: readonly number[], strides: readonly number[]): number {
  return index.reduce((place, at, axis) => place + at * (strides[axis] as number), 0);
}
