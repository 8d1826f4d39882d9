import type { Mutant } from '../mutant.ts';
import { type Bug, partMutants } from './naive-mutant.ts';

const inside = (index: number, size: number): boolean => index >= 0 && index < size;

const BUGS: Readonly<Record<string, Bug>> = {
  'an index off by one': () => ({ gatherIndex: (index, size) => (inside(index, size - 1) ? index + 1 : undefined) }),
  'an index after the last one read': () => ({
    gatherIndex: (index, size) => (inside(index, size + 1) ? Math.min(index, size) : undefined),
  }),
  'indices clamped': () => ({ gatherIndex: (index, size) => Math.min(Math.max(index, 0), size - 1) }),
  'negative indices count from the end': () => ({
    gatherIndex: (index, size) => (inside(index, size) ? index : inside(index + size, size) ? index + size : undefined),
  }),
  'indices modulo the size': () => ({ gatherIndex: (index, size) => ((index % size) + size) % size }),
  'only the first axis checked': () => ({
    gatherIndex: (index, size, axis) => (axis > 0 || inside(index, size) ? Math.max(index, 0) % (2 * size) : undefined),
  }),
  'only the last axis checked': () => ({
    gatherIndex: (index, size, axis, { shape }) =>
      axis < shape.length - 1 ? ((index % size) + size) % size : inside(index, size) ? index : undefined,
  }),
  'large unsigned indices taken for negative ones': () => ({
    gatherIndex: (index, size) => (index >= 2 ** 31 ? 0 : inside(index, size) ? index : undefined),
  }),
  'the axes of a tensor exchanged': () => ({
    layout: (layout) =>
      layout.access === 'gather' && layout.shape.length === 2
        ? { ...layout, strides: [...layout.strides].reverse() }
        : layout,
  }),
  'what an index at the end gives is otherwise': () => ({
    gatherIndex: (index, size) => (inside(index, size - 1) ? index : undefined),
  }),
};

/** Bugs of gathers. */
export const runGatherMutants: readonly Mutant[] = partMutants(BUGS, /^run\/gather\//);
