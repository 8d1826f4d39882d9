import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import { type ElementwiseVariant, QUADS_PER_GROUP, RUN_WIDTH } from './elementwise.spv.ts';
import { gridOf } from './grid.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch, Recorder } from './recorder.ts';

/** An element-wise op on float32: `output[i] = f(inputs[i] ...)` for i in 0..n-1. */
export interface Elementwise {
  /** Family and op, such as `unary/exp`. */
  readonly name: string;
  readonly kernel: (variant: ElementwiseVariant) => Kernel;
  /**
   * Inputs by the names that the kernel knows them under, each the output or disjoint from it; `output`; and numbers
   * that are the same for all elements.
   */
  readonly operands: Launch['args'];
  readonly n: number;
}

/** Elements that are not worth sharing out: a few microseconds of work. */
const LEAST_RUN = 8192;
/** Runs for each thread, so that they end at about the same time. */
const RUNS_PER_THREAD = 8;

type Way = NamedVariant & { readonly variant: ElementwiseVariant };

const WAYS: Readonly<Record<ElementwiseVariant, Way>> = {
  run: { id: 'elementwise/run', variant: 'run' },
  quad: { id: 'elementwise/quad', variant: 'quad' },
};

/** Every variant of `unary` and `binary`. */
export const VARIANT_IDS: readonly string[] = Object.values(WAYS).map(({ id }) => id);

/** How a device takes element-wise ops. */
export function variantFor({ isCpuLike }: DeviceTraits): ElementwiseVariant {
  return isCpuLike ? 'run' : 'quad';
}

/** Plans an element-wise op: one launch. */
export function planElementwise({ name, kernel, operands, n }: Elementwise, recorder: Recorder): void {
  const { traits } = recorder;
  const preferred = WAYS[variantFor(traits)];
  const shapeClass = (): string => `${name} ${sizeStep(n)}`;
  const { id, variant } = pickVariant(recorder, { shapeClass, candidates: [preferred], preferred });
  if (variant === 'quad') {
    const groups = gridOf(Math.ceil(n / QUADS_PER_GROUP), traits);
    recorder.launch({ kernel: kernel(variant), args: { n, ...operands }, groups, variant: id });
    return;
  }
  const chunk = runLength(n, traits);
  const groups = gridOf(Math.ceil(n / chunk), traits);
  recorder.launch({ kernel: kernel(variant), args: { n, chunk, ...operands }, groups, variant: id });
}

/** Elements of a work-item, whole vectors. */
function runLength(n: number, { computeUnits }: DeviceTraits): number {
  if (n <= LEAST_RUN) return LEAST_RUN;
  const shared = Math.ceil(n / (computeUnits * RUNS_PER_THREAD) / RUN_WIDTH) * RUN_WIDTH;
  return Math.max(LEAST_RUN, shared);
}
