import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { concat } from '../shaping/concat.ts';
import { slice } from '../views/slice.ts';
import { checkTensor } from './arguments.ts';
import { nestedOf, type NestedOf } from './nested.ts';
import { tidy } from './scope.ts';
import type { Host } from './storage.ts';
import type { Tensor } from './tensor.ts';

/** Elements up to which all are shown. */
const MAX_SHOWN = 1000;
/** Shown at each end of an axis otherwise. */
const EDGE = 3;

/**
 * Writes a tensor to the console after the work queued so far: what it is, and its elements as lists, floats to 6 digits. Of more
 * than 1,000 elements the first and the last three of each axis are read and shown.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but a tensor, also one that was disposed
 * @throws {BackendError} OUT_OF_MEMORY
 * @throws {BackendError} DEVICE_ERROR on timeout
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2.5], [-30, 4]]);
 * const nothing = await print(x);
 * // Tensor f32[2, 2] on cpu
 * // [[  1, 2.5],
 * //  [-30,   4]]
 * nothing; // undefined
 * ```
 */
export async function print(x: Tensor): Promise<void> {
  checkTensor('print', 'x', x);
  const isWhole = x.size <= MAX_SHOWN;
  const isCut = x.shape.map((length) => !isWhole && length > 2 * EDGE);
  const shown = isWhole ? x : tidy(() => edgesOf(x, isCut));
  try {
    const isFloat = ELEMENT_TYPES[x.dtype].value === 'f32';
    const texts = Array.from(await shown.toArray(), (value) => String(isFloat ? Number(value.toPrecision(6)) : value));
    const width = texts.reduce((most, { length }) => Math.max(most, length), 0);
    const padded = texts.map((text) => text.padStart(width));
    (globalThis as Host).console?.log(`${x.toString()}\n${listed(nestedOf(padded, shown.shape), isCut, 1)}`);
  } finally {
    if (shown !== x) shown.dispose();
  }
}

function edgesOf(x: Tensor, isCut: readonly boolean[]): Tensor {
  return isCut.reduce((rest, isLong, axis) => {
    if (!isLong) return rest;
    const before = Array.from({ length: axis }, () => null);
    return concat([slice(rest, [...before, [0, EDGE]]), slice(rest, [...before, [-EDGE]])], { axis });
  }, x);
}

/** Lists as NumPy writes them: the rows of a matrix below each other, matrices with lines between. */
function listed(texts: NestedOf<string>, [isCut = false, ...inner]: readonly boolean[], depth: number): string {
  if (typeof texts === 'string') return texts;
  const parts = texts.map((each) => listed(each, inner, depth + 1));
  if (isCut) parts.splice(EDGE, 0, '...');
  return `[${parts.join(inner.length === 0 ? ', ' : `,${'\n'.repeat(inner.length)}${' '.repeat(depth)}`)}]`;
}
