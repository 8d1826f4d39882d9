import type { DeviceTraits } from './recorder.ts';

type Sizes = Pick<DeviceTraits, 'subgroupSizes'>;

/** The smallest size of sub-groups that there are kernels for. */
export function smallestLanes({ subgroupSizes }: Sizes): 8 | 16 | undefined {
  return ([8, 16] as const).find((lanes) => subgroupSizes.includes(lanes));
}

/**
 * The size to ask for in kernels that need many registers, where the driver's compiler is not to decide: without sub-groups
 * of 8 it takes 32, and spills; where there are some, its own choice is right.
 */
export function lanesToAskFor(traits: Sizes): 16 | undefined {
  return smallestLanes(traits) === 16 ? 16 : undefined;
}
