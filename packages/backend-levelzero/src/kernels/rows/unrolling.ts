import type { Kernel } from '@concord/backend-core/kernel';

/** Nodes up to which a graph is small: its code may stand there several times. */
const FEW_NODES = 8;

/** Values that a work-item folds at the same time, with the same aim: as many as hide the time of an addition. */
export function waysOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 4 : 2;
}

/** Vectors of neighbouring rows that a CPU's work-item takes at the same time, where vectors lie along rows. */
export function acrossOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 8 : 2;
}
