import { checkKernel, type Kernel } from '@concord/backend-core/kernel';
import { invalidArgument } from '../errors.ts';
import { partsOf, tieParts, type VjpPart } from './parts.ts';
import { type VjpGraph, vjpGraph } from './vjp-graph.ts';

/** The kernels that compute the gradients of a kernel's inputs. */
export interface VjpKernel {
  /** The parts, to be launched in this order over the domain of the kernel. */
  readonly parts: readonly VjpPart[];
  /** The output whose gradient is that of an input as it is, by the input's name: no part computes it. */
  readonly same: ReadonlyMap<string, string>;
  /** Parameters of parts that hold the size of an axis of a gather input. */
  readonly sizes: VjpGraph['sizes'];
  /** Inputs of the kernel that parts read. */
  readonly reads: ReadonlySet<string>;
  /**
   * The input of parts that holds the gradient of an output: `d y` of `y`. That of an output that combines by max or min
   * is given divided by how many values each element is equal to: by 1 where it equals what was there before, and what
   * {@link VjpKernel.ties} add to that.
   */
  readonly gradientOf: (output: string) => string;
  /** The input of parts that holds what an output that combines by max or min is afterwards. */
  readonly resultOf: (output: string) => string;
  /** Parts that add 1 to memory of an output's shape for each value that it was equal to, by the outputs that combine by max or min. */
  readonly ties: ReadonlyMap<string, readonly VjpPart[]>;
}

/** Options of {@link vjpKernel}. */
export interface VjpOptions {
  /** Outputs whose gradients are given; those of the others are 0. Default: all that are f32. */
  readonly given?: Iterable<string>;
  /** Element inputs whose gradient is added to what its memory holds. Default: none. */
  readonly adds?: Iterable<string>;
  /** The number of axes of the domain. Needed for scans of max and min. */
  readonly rank?: number | undefined;
}

const known = new WeakMap<Kernel, Map<string, VjpKernel>>();

/**
 * The gradient of a kernel, as kernels: from those of its outputs, `d y`, to those of its inputs, `d x`, each over the domain of its
 * own level, where it is computed with the values of the inputs. A gradient of a gather input is added by index to what its memory
 * holds. Parameters, integers and truths get none.
 *
 * Equal elements share what a fold of max or min passes back, as do the operands of `k.max` and `k.min`; beside a constant or
 * parameter (relu, clamp), and for abs, it is 0 at the bend. A branch that `k.select` did not take gets 0, whatever its own values are.
 * Scans of max and min pass back to the last of equal elements; those stored at one place by max or min share equally.
 *
 * @param wanted - inputs whose gradients are wanted. Default: all that are f32
 * @throws {BackendError} INVALID_ARGUMENT for what is no f32 input of the kernel, or no output
 * @throws {BackendError} UNSUPPORTED for a scan of max or min without `rank`, and where one gradient exceeds the limits of a kernel
 * @example
 * ```ts
 * const cube = defineKernel('cube', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, k.mul(x, x)) }));
 * const { parts } = vjpKernel(cube, ['x']);
 * parts[0].kernel.inputs.map(({ name }) => name); // ['d y', 'x']
 * ```
 */
export function vjpKernel(kernel: Kernel, wanted?: Iterable<string>, options: VjpOptions = {}): VjpKernel {
  const own = checkKernel(kernel);
  const floats = (list: readonly { readonly name: string; readonly type: string }[]): string[] =>
    list.filter(({ type }) => type === 'f32').map(({ name }) => name);
  const inputs = [...(wanted ?? floats(own.inputs))].sort();
  const outputs = [...(options.given ?? floats(own.outputs))].sort();
  const adds = [...(options.adds ?? [])].sort();
  const bad = [...inputs, ...adds].find((name) => !floats(own.inputs).includes(name));
  const other = outputs.find((name) => !floats(own.outputs).includes(name));
  if (bad !== undefined || other !== undefined) {
    throw invalidArgument(
      'vjpKernel',
      `${own.name} has no f32 ${bad === undefined ? 'output' : 'input'} ${bad ?? other}`,
    );
  }
  let byKey = known.get(own);
  if (byKey === undefined) known.set(own, (byKey = new Map()));
  // Others have one gradient, whatever the rank.
  const isPlaced = own.nodes.some((node) => node.kind === 'scan' && node.type === 'f32' && node.op.startsWith('m'));
  const rank = isPlaced ? options.rank : undefined;
  const key = JSON.stringify([inputs, outputs, adds, rank]);
  let vjp = byKey.get(key);
  if (vjp === undefined) byKey.set(key, (vjp = make(own, new Set(inputs), new Set(outputs), new Set(adds), rank)));
  return vjp;
}

function make(
  kernel: Kernel,
  wanted: ReadonlySet<string>,
  given: ReadonlySet<string>,
  adds: ReadonlySet<string>,
  rank: number | undefined,
): VjpKernel {
  const taken = new Set([...kernel.inputs, ...kernel.params].map(({ name }) => name));
  // No gradient has the name of anything that is read: that would be its place.
  let prefix = 'd ';
  while ([...taken].some((name) => name.includes(prefix))) prefix = `d${prefix}`;
  const nameOf = (input: string): string => `${prefix}${input}`;
  const gradientOf = (output: string): string => `${prefix}${output}${taken.has(output) ? ' out' : ''}`;
  const resultOf = (output: string): string => `result of ${gradientOf(output)}`;
  const vjp = vjpGraph(kernel, wanted, given, { nameOf, gradientOf, resultOf }, rank);
  const same = new Map<string, string>();
  const jobs = vjp.jobs.filter(({ input, value, level, indices }) => {
    const node = vjp.graph.at(value);
    const output = kernel.outputs.find(({ name }) => node.kind === 'input' && node.name === gradientOf(name));
    if (input === undefined || output === undefined || indices !== undefined || node.level !== level) return true;
    same.set(input, output.name);
    return false;
  });
  const parts = partsOf(kernel, { ...vjp, jobs }, adds);
  const ties = new Map(
    kernel.outputs
      .filter(({ name, scatter }) => given.has(name) && (scatter?.mode === 'max' || scatter?.mode === 'min'))
      .map((output) => [output.name, tieParts(kernel, output, resultOf(output.name))]),
  );
  const read = new Set([parts, ...ties.values()].flat().flatMap((part) => part.kernel.inputs.map(({ name }) => name)));
  const reads = new Set(kernel.inputs.map(({ name }) => name).filter((name) => read.has(name)));
  return { parts, same, sizes: vjp.sizes, reads, gradientOf, resultOf, ties };
}
