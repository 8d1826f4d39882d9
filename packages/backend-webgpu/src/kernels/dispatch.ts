import { BackendError } from '@concord/backend-core';
import { type Kernel, uniformWords, wordOf } from './kernel.ts';
import type { Launch, Span } from './recorder.ts';

/** One dispatch of a launch. */
interface GridPart {
  /** Number of the first workgroup. */
  readonly first: number;
  readonly grid: readonly [x: number, y: number, z: number];
}

/**
 * Splits `groups` workgroups into dispatches whose grids respect the limit of each dimension. The last row of a grid may
 * reach beyond `groups`.
 */
export function dispatches(groups: number, maxPerDimension: number): readonly GridPart[] {
  if (groups <= maxPerDimension) return groups > 0 ? [{ first: 0, grid: [groups, 1, 1] }] : [];
  const result: GridPart[] = [];
  const max = maxPerDimension ** 3;
  for (let first = 0; first < groups; first += max) {
    const wanted = Math.min(groups - first, max);
    const z = Math.ceil(wanted / maxPerDimension ** 2);
    const y = Math.ceil(wanted / z / maxPerDimension);
    const x = Math.ceil(wanted / z / y);
    result.push({ first, grid: [x, y, z] });
  }
  return result;
}

/** A binding that may be elsewhere in the next call. */
export interface Moving {
  /** The number of the binding. */
  readonly index: number;
  /** The word that says where the operand begins, and the bytes that it counts. */
  readonly word: number;
  readonly bytes: number;
}

/** One dispatch of a launch, as the device gets it. */
export interface Dispatch {
  readonly kernel: Kernel;
  /** The bound buffers, in the kernel's order. */
  readonly spans: readonly Span[];
  /** The kernel's uniforms. */
  readonly words: Uint32Array;
  readonly grid: readonly [x: number, y: number, z: number];
  readonly variant: string | undefined;
  readonly moving: readonly Moving[];
}

/** The dispatches of a launch: one, unless it has more workgroups than fit a grid and none of its own. */
export function dispatchesOf(
  { kernel, storage, uniforms, groups, grid: own, variant, moving: given = {} }: Launch,
  most: number,
): Dispatch[] {
  const spans = kernel.storage.map(({ name }) => spanOf(kernel, storage, name));
  const moving = kernel.storage.flatMap(({ name }, index): Moving[] => {
    const [uniform, bytes] = given[name] ?? [];
    return uniform === undefined || bytes === undefined ? [] : [{ index, word: wordOf(kernel, uniform), bytes }];
  });
  if (own !== undefined)
    return [{ kernel, spans, words: uniformWords(kernel, 0, groups, uniforms), grid: own, variant, moving }];
  return dispatches(groups, most).map(({ first, grid }) => {
    return { kernel, spans, words: uniformWords(kernel, first, groups, uniforms), grid, variant, moving };
  });
}

function spanOf(kernel: Kernel, storage: Launch['storage'], name: string): Span {
  const found = storage[name];
  if (found === undefined) throw new BackendError('DEVICE_ERROR', `kernel ${kernel.name}: nothing is bound to ${name}`);
  return found;
}
