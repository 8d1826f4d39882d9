import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import type { Place } from '../compute/copy.ts';
import { checkSameBackend } from '../compute/produce.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Numbers of the channels, by name; those that are not given are left out. */
export type PerChannel = Readonly<Record<string, Tensor | undefined>>;

/**
 * Checks the given tensors of the channels.
 *
 * @param axis - that of the channels
 * @throws {BackendError} INVALID_ARGUMENT unless `x` is of floats and each of them `[c]` of floats
 */
export function checkPerChannel(
  op: string,
  x: Tensor,
  axis: number,
  perChannel: PerChannel,
): Readonly<Record<string, Tensor>> {
  const shown = (each: Tensor): string => `${each.dtype}${shapeText(each.shape)}`;
  if (ELEMENT_TYPES[x.dtype].value !== 'f32') throw refuse(op, `takes f32, f16 and bf16, got ${shown(x)}`);
  const given: Record<string, Tensor> = {};
  for (const [name, each] of Object.entries(perChannel)) {
    if (each === undefined) continue;
    if (each.rank !== 1 || each.shape[0] !== x.shape[axis] || ELEMENT_TYPES[each.dtype].value !== 'f32') {
      throw refuse(op, `${name} is ${shown(each)}, the channels of ${shown(x)} take floats [${String(x.shape[axis])}]`);
    }
    given[name] = each;
  }
  checkSameBackend(op, x.backend, Object.values(given));
  return given;
}

/** Returns the places of a channel's numbers: strides of the axes from `first` on that the channels are split into. */
export function channelPlaces(
  given: Readonly<Record<string, Tensor>>,
  rank: number,
  first: number,
  stridesOf: (stride: number) => readonly number[],
): Record<string, Place> {
  const places: Record<string, Place> = {};
  for (const [name, { ptr, dtype, strides }] of Object.entries(given)) {
    const own = stridesOf(strides[0] as number);
    places[name] = { ptr, dtype, strides: Array.from({ length: rank }, (_, axis) => own[axis - first] ?? 0) };
  }
  return places;
}
