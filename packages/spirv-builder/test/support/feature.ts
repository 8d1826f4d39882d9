import { type FunctionBuilder, type KernelOptions, ModuleBuilder, type Value } from '../../src/index.ts';

/** One thing that the builder can write, and what it does to memory. */
export interface Feature {
  readonly name: string;
  /** Writes the kernel `feature`, whose one parameter points to u32. */
  readonly emit: () => Uint32Array;
  /** Work-items; all in one group. */
  readonly items: number;
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** The device has to have sub-groups. */
  readonly needsSubgroups?: boolean;
  /** The environment to validate it for. Default: OpenCL 2.2, which leaves arithmetic on halves to an extension. */
  readonly environment?: 'spv1.2';
}

type Write = (k: FunctionBuilder, data: Value, module: ModuleBuilder) => void;

/** Completes a feature. */
export function feature(
  name: string,
  before: readonly number[],
  after: readonly number[],
  write: Write,
  { kernel = {}, ...options }: Partial<Feature> & { readonly kernel?: KernelOptions } = {},
): Feature {
  const items = options.items ?? 1;
  const emit = (): Uint32Array => {
    const module = new ModuleBuilder();
    const parameters = { data: module.globalPointer(module.int(32)) };
    module.kernel('feature', parameters, (k, { data }) => write(k, data, module), {
      localSize: [items, 1, 1],
      ...kernel,
    });
    return module.build();
  };
  return { name, emit, items, before, after, ...options };
}

/** The bits of floats. */
export const bits = (...values: readonly number[]): number[] => [...new Uint32Array(new Float32Array(values).buffer)];
export const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
/** first, first + 1, ... */
export const ramp = (count: number, first = 0): number[] => Array.from({ length: count }, (_, index) => first + index);
