import {
  BINARY_OPS,
  type BinaryOp,
  REDUCE_OPS,
  type ReduceOp,
  UNARY_OPS,
  type UnaryOp,
} from '../contract/function-names.ts';
import { defineKernel } from './define-kernel.ts';
import type { Kernel } from './graph.ts';
import type { KernelBuilder } from './kernel-builder.ts';
import type { Value } from './value.ts';

/** A kernel of one operand. */
export type UnaryKernel = Kernel<{ readonly input: 'f32' }, {}, 'output'>;
/** A kernel of two operands. */
export type BinaryKernel = Kernel<{ readonly a: 'f32'; readonly b: 'f32' }, {}, 'output'>;

const UNARY: Readonly<Record<UnaryOp, (k: KernelBuilder, x: Value<'f32'>) => Value<'f32'>>> = {
  relu: (k, x) => k.max(x, 0),
  sigmoid: (k, x) => k.sigmoid(x),
  tanh: (k, x) => k.tanh(x),
  exp: (k, x) => k.exp(x),
  log: (k, x) => k.log(x),
  sqrt: (k, x) => k.sqrt(x),
  abs: (k, x) => k.abs(x),
  neg: (k, x) => k.neg(x),
  gelu: (k, x) => k.gelu(x),
  silu: (k, x) => k.silu(x),
};

const unary = new Map<UnaryOp, UnaryKernel>();
const binary = new Map<BinaryOp, BinaryKernel>();
const reduce = new Map<ReduceOp, UnaryKernel>();

/** The kernel that `unary` runs: `input`, `output`. */
export function unaryKernel(op: UnaryOp): UnaryKernel {
  return remembered(unary, op, () =>
    defineKernel(op, { inputs: { input: 'f32' } }, ({ input }, k) => ({ output: UNARY[op](k, input) })),
  );
}

/** The kernel that `binary` runs: `a`, `b`, `output`. */
export function binaryKernel(op: BinaryOp): BinaryKernel {
  return remembered(binary, op, () =>
    defineKernel(op, { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
      output: op === 'pow' ? k.pow(a, b) : k[op](a, b),
    })),
  );
}

/** The kernel that `reduce` runs over the folded axis: `input`, `output`. */
export function reduceKernel(op: ReduceOp): UnaryKernel {
  return remembered(reduce, op, () =>
    defineKernel(op, { inputs: { input: 'f32' } }, ({ input }, k) => ({
      output: op === 'mean' ? k.fold(op, input) : k.fold(op, input),
    })),
  );
}

function remembered<Op, K>(kernels: Map<Op, K>, op: Op, define: () => K): K {
  const known = kernels.get(op);
  if (known !== undefined) return known;
  const kernel = define();
  kernels.set(op, kernel);
  return kernel;
}

/** A kernel of `unary`, `binary` or `reduce`, and which. */
export type BuiltIn =
  | { readonly op: 'unary'; readonly function: UnaryOp }
  | { readonly op: 'binary'; readonly function: BinaryOp }
  | { readonly op: 'reduce'; readonly function: ReduceOp };

let byKey: ReadonlyMap<string, BuiltIn> | undefined;

/**
 * Returns the built-in that a kernel is by its graph, whatever its name: for backends that wrap a library of fixed
 * functions. Undefined for any other kernel.
 */
export function builtInOf(kernel: Kernel): BuiltIn | undefined {
  byKey ??= new Map<string, BuiltIn>([
    ...UNARY_OPS.map((name) => [unaryKernel(name).key, { op: 'unary', function: name }] as const),
    ...BINARY_OPS.map((name) => [binaryKernel(name).key, { op: 'binary', function: name }] as const),
    ...REDUCE_OPS.map((name) => [reduceKernel(name).key, { op: 'reduce', function: name }] as const),
  ]);
  return byKey.get(kernel.key);
}
