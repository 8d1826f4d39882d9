import { allKernels as attention } from './attention/plan.ts';
import { allKernels as binary } from './binary/plan.ts';
import { allKernels as conv2d } from './conv2d/plan.ts';
import { allKernels as gemm } from './gemm/families.ts';
import type { Kernel } from './kernel.ts';
import { copyBytes } from './memory/copy-bytes.wgsl.ts';
import { fillWords } from './memory/fill-words.wgsl.ts';
import { mergeWord } from './memory/merge-word.wgsl.ts';
import type { DeviceTraits } from './recorder.ts';
import { allKernels as reduce } from './reduce/plan.ts';
import { allKernels as topK } from './top-k/plan.ts';
import { allKernels as unary } from './unary/plan.ts';

const MEMORY: readonly Kernel[] = [copyBytes, fillWords, mergeWord];
const FAMILIES = [gemm, conv2d, attention, topK, reduce, unary, binary];

/** Every kernel that can run on such a device: every variant of every family, with every set of parameters. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return [...MEMORY, ...FAMILIES.flatMap((kernelsOfFamily) => kernelsOfFamily(traits))];
}
