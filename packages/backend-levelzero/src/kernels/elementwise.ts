import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import { cuts } from './cuts.ts';
import { type ElementwiseVariant, MOST_QUAD_ELEMENTS, QUADS_PER_GROUP, RUN_WIDTH } from './elementwise.spv.ts';
import { floatsFrom } from './floats-from.ts';
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

/** Plans an element-wise op: one launch, or on GPUs one for each {@link MOST_QUAD_ELEMENTS}. */
export function planElementwise({ name, kernel, operands, n }: Elementwise, recorder: Recorder): void {
  const { traits } = recorder;
  const preferred = WAYS[variantFor(traits)];
  const shapeClass = (): string => `${name} ${sizeStep(n)}`;
  const { id, variant } = pickVariant(recorder, { shapeClass, candidates: [preferred], preferred });
  if (variant === 'quad') {
    for (const [start, count] of cuts(n, MOST_QUAD_ELEMENTS)) {
      const groups = gridOf(Math.ceil(count / QUADS_PER_GROUP), traits);
      const args = { n: count, ...from(operands, start) };
      recorder.launch({ kernel: kernel(variant), args, groups, variant: id });
    }
    return;
  }
  const chunk = runLength(n, traits);
  const groups = gridOf(Math.ceil(n / chunk), traits);
  recorder.launch({ kernel: kernel(variant), args: { n, chunk, ...operands }, groups, variant: id });
}

/** Operands from element `start` on. */
function from(operands: Launch['args'], start: number): Launch['args'] {
  if (start === 0) return operands;
  const shifted = Object.entries(operands).map(([name, value]) => {
    return [name, typeof value === 'number' ? value : floatsFrom(value, start)] as const;
  });
  return Object.fromEntries(shifted);
}

/** Elements of a work-item, whole vectors. */
function runLength(n: number, { computeUnits }: DeviceTraits): number {
  if (n <= LEAST_RUN) return LEAST_RUN;
  const shared = Math.ceil(n / (computeUnits * RUNS_PER_THREAD) / RUN_WIDTH) * RUN_WIDTH;
  return Math.max(LEAST_RUN, shared);
}
