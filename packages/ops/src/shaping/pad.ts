import { checkHolds } from '../create/check-holds.ts';
import type { OutOption } from '../compute/produce.ts';
import { OUT, checkList, checkOptions, checkTensor, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { remap } from './remap.ts';

/** Options of {@link pad}. */
export interface PadOptions extends OutOption {
  /**
   * The values around `x`: `'constant'` is `value`, `'edge'` the outermost elements, `'reflect'` `x` mirrored at them,
   * `'symmetric'` with them repeated, `'wrap'` `x` again and again. Default `'constant'`.
   */
  readonly mode?: 'constant' | 'reflect' | 'edge' | 'symmetric' | 'wrap';
  /** Default 0. */
  readonly value?: number;
}

const MODES: readonly unknown[] = ['constant', 'reflect', 'edge', 'symmetric', 'wrap'];

/**
 * `x` with elements before and after it along each axis, as NumPy's pad and Pad of ONNX. In one launch, if the axes with
 * pads and those between them are at most 4.
 *
 * @param pads - `[before, after]` of each axis
 * @throws {BackendError} INVALID_ARGUMENT for pads that are not two of each axis, and for a mode that reads the edge of an empty axis
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2, 3]);
 * await pad(x, [[1, 2]]).toArray(); // [0, 1, 2, 3, 0, 0]
 * await pad(x, [[2, 1]], { mode: 'reflect' }).toArray(); // [3, 2, 1, 2, 3, 2]
 * await pad(x, [[2, 1]], { mode: 'edge' }).toArray(); // [1, 1, 1, 2, 3, 3]
 * await pad(x, [[2, 1]], { mode: 'symmetric' }).toArray(); // [2, 1, 1, 2, 3, 3]
 * await pad(x, [[2, 1]], { mode: 'wrap' }).toArray(); // [2, 3, 1, 2, 3, 1]
 * ```
 */
export function pad(x: Tensor, pads: readonly (readonly [number, number])[], options: PadOptions = {}): Tensor {
  checkTensor('pad', 'x', x);
  checkList('pad', 'pads', pads);
  for (const [axis, each] of pads.entries()) checkList('pad', `pads[${axis}]`, each);
  checkOptions('pad', options, { ...OUT, mode: 'any', value: 'number' });
  const { mode = 'constant', value = 0 } = options;
  checkHolds('pad', x.dtype, value);
  if (!MODES.includes(mode)) throw refuse('pad', `mode must be ${MODES.join(', ')}, got ${shown(mode)}`);
  const own = pads.map(([before, after]) => [before, after] as const);
  if (own.length !== x.rank || !own.flat().every((size) => Number.isSafeInteger(size) && size >= 0)) {
    const list = own.map(shown).join(', ');
    throw refuse('pad', `pads must be [before, after] of each axis of ${shapeText(x.shape)}, got [${list}]`);
  }
  const shape = x.shape.map((length, axis) => length + (own[axis]?.[0] ?? 0) + (own[axis]?.[1] ?? 0));
  const changes = own.map(([before, after]) => before + after > 0);
  const bare = changes.findIndex((changed, axis) => changed && x.shape[axis] === 0);
  if (mode !== 'constant' && bare >= 0) {
    throw refuse('pad', `axis ${bare} of ${shapeText(x.shape)} has no edge for mode ${mode}`);
  }
  return remap('pad', x, { mode, shape, changes, value, before: own.map(([before]) => before) }, options);
}
