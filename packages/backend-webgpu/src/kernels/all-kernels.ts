import { allKernels as attention } from './attention/plan.ts';
import { allKernels as conv2d } from './conv2d/plan.ts';
import { allKernels as gemm } from './gemm/families.ts';
import type { Kernel } from './kernel.ts';
import { copyBytes } from './memory/copy-bytes.wgsl.ts';
import { fillWords } from './memory/fill-words.wgsl.ts';
import { mergeWord } from './memory/merge-word.wgsl.ts';
import type { DeviceTraits } from './recorder.ts';
import { allKernels as topK } from './top-k/plan.ts';

const MEMORY: readonly Kernel[] = [copyBytes, fillWords, mergeWord];
const FAMILIES = [gemm, conv2d, attention, topK];

/** Every kernel that can run on such a device, but those that graphs are made into: every variant, with every set of parameters. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return [...MEMORY, ...FAMILIES.flatMap((kernelsOfFamily) => kernelsOfFamily(traits))];
}
