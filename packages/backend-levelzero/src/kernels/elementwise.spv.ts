import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from './grid.ts';
import { defineKernel, type Kernel } from './kernel.ts';

/** What an element-wise op does to one element, or to as many at once as the vectors have components. */
export type ElementFunction = (k: FunctionBuilder, ...operands: Value[]) => Value;

/** How the elements are shared out. */
export type ElementwiseVariant = 'run' | 'quad';

/** What {@link elementwiseKernel} makes a kernel of. */
export interface ElementwiseParams {
  readonly name: string;
  readonly variant: ElementwiseVariant;
  /** Names of the tensors that are read. */
  readonly inputs: readonly string[];
  /** Names of numbers that are the same for all elements; operands of `element` after the inputs. */
  readonly scalars?: readonly string[];
  readonly element: ElementFunction;
  /** See `KernelSource.contraction`. */
  readonly contraction?: 'off' | undefined;
}

/** Work-items of a group of the variant `quad`. */
const QUAD_GROUP = 256;
/** Elements of a work-item of the variant `quad`. */
const QUAD_WIDTH = 4;
/** Elements of a group of the variant `quad`. */
export const QUADS_PER_GROUP: number = QUAD_GROUP * QUAD_WIDTH;
/** Elements of a launch of the variant `quad`. */
export const MOST_QUAD_ELEMENTS: number = 2 ** 30;
/** Elements at once of the variant `run`. */
export const RUN_WIDTH = 16;

/** Writes the code for elements from `first` on: one, or so many at once. */
type Apply = (first: Value, width: 1 | 4 | 16) => void;

/**
 * `output[i] = element(inputs[i] ...)` for i below `n`, all packed and aligned to elements only.
 *
 * - `run`, for CPUs: a work-item takes `chunk` neighbouring elements, by vectors of 16 and the last few one by one.
 * - `quad`, for GPUs: a work-item takes four neighbouring elements, the last one perhaps fewer; groups of 256 in a grid
 *   of two dimensions. What a group reads is contiguous. Elements are numbered in 32 bits: {@link MOST_QUAD_ELEMENTS} at most.
 *
 * A work-item reads nothing that another writes, so an input may be the output.
 */
export function elementwiseKernel(params: ElementwiseParams): Kernel {
  const { name, variant, inputs, scalars = [], element, contraction } = params;
  const pointers = [...inputs, 'output'];
  const values = variant === 'run' ? (['n', 'chunk'] as const) : (['n'] as const);
  const index = variant === 'run' ? 'u64' : 'u32';
  return defineKernel<string>({
    name: `${name} ${variant}`,
    parameters: {
      ...Object.fromEntries(pointers.map((pointer) => [pointer, 'f32*'] as const)),
      ...Object.fromEntries(values.map((value) => [value, index] as const)),
      ...Object.fromEntries(scalars.map((scalar) => [scalar, 'f32'] as const)),
    },
    groupSize: [variant === 'run' ? 1 : QUAD_GROUP, 1, 1],
    contraction,
    write: (k, { args }) => {
      const arg = (wanted: string): Value => args[wanted] as Value;
      const apply: Apply = (first, width) => {
        const places = pointers.map((pointer) => k.at(arg(pointer), first));
        const target = places.pop() as Value;
        if (width === 1) {
          k.store(target, element(k, ...places.map((place) => k.load(place)), ...scalars.map(arg)));
          return;
        }
        const type = k.types.vector(k.types.float(32), width);
        const same = scalars.map((scalar) => k.splat(type, arg(scalar)));
        k.storeVector(target, element(k, ...places.map((place) => k.loadVector(place, width)), ...same));
      };
      if (variant === 'run') writeRun(k, arg('n'), arg('chunk'), apply);
      else writeQuad(k, arg('n'), apply);
    },
  });
}

function writeRun(k: FunctionBuilder, n: Value, chunk: Value, apply: Apply): void {
  const start = k.mul(groupIndex(k), chunk);
  k.when(k.ult(start, n), () => {
    const size = k.math('u_min', chunk, k.sub(n, start));
    const end = k.add(start, size);
    const tail = k.add(start, k.and(size, -RUN_WIDTH));
    k.forLoop({ from: start, to: tail, step: RUN_WIDTH }, [], (i) => apply(i, RUN_WIDTH));
    k.forLoop({ from: tail, to: end }, [], (i) => apply(i, 1));
  });
}

function writeQuad(k: FunctionBuilder, n: Value, apply: Apply): void {
  const item = k.uconvert(k.add(k.mul(groupIndex(k), QUAD_GROUP), k.localId(0)), n.type);
  const start = k.mul(item, QUAD_WIDTH);
  const end = k.add(start, QUAD_WIDTH);
  k.ifElse(
    k.ule(end, n),
    () => apply(start, QUAD_WIDTH),
    () => {
      // None where the item lies behind the last element.
      k.forLoop({ from: start, to: n }, [], (i) => apply(i, 1));
    },
  );
}
