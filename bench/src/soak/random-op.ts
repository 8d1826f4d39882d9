import { BINARY_OPS, type OpName, OP_NAMES, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';

/** Dependent folds: what a program without an op of its own for it runs. */
const SOFTMAX = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});

/** A call with the lengths of its operands in place of pointers. */
export interface SoakOp {
  readonly op: OpName;
  readonly dtype: 'f32' | 'f16';
  /** The call without pointers. */
  readonly shape: object;
  /** Elements of each operand but the output that is looked at, by its name in the call. */
  readonly inputs: Readonly<Record<string, number>>;
  readonly output: { readonly name: string; readonly length: number };
}

/** Random numbers in [0, 1) from a seed: mulberry32, by Tommy Ettinger, in the public domain. */
export function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Any of the ops, with modest sizes and the options that choose other kernels. */
export function randomOp(next: () => number): SoakOp {
  const integer = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const pick = <T>(items: readonly T[]): T => items[integer(0, items.length - 1)] as T;
  const op = pick(OP_NAMES);
  switch (op) {
    case 'gemm':
    case 'gemmF16': {
      const [m, n, k] = [integer(1, 96), integer(1, 96), integer(1, 96)];
      const shape = { m, n, k, ...transposes(pick), alpha: pick([1, 0.5]) };
      const dtype = op === 'gemm' ? 'f32' : 'f16';
      return { op, dtype, shape, inputs: { a: m * k, b: k * n }, output: { name: 'c', length: m * n } };
    }
    case 'batchedGemm': {
      const [m, n, k, batchCount] = [integer(1, 48), integer(1, 48), integer(1, 48), integer(1, 6)];
      const strides = { strideA: m * k, strideB: pick([0, k * n]), strideC: m * n };
      const shape = { m, n, k, batchCount, ...strides, ...transposes(pick) };
      const inputs = { a: batchCount * m * k, b: batchCount * k * n };
      return { op, dtype: 'f32', shape, inputs, output: { name: 'c', length: batchCount * m * n } };
    }
    case 'conv2dForward':
      return randomConv2d(integer, pick);
    case 'attention': {
      const [batch, heads, seqQ, seqKv] = [integer(1, 2), integer(1, 4), integer(1, 48), integer(1, 48)];
      const headDim = pick([8, 16, 32, 64]);
      const shape = { batch, heads, seqQ, seqKv, headDim, scale: 1 / Math.sqrt(headDim), causal: pick([true, false]) };
      const [ofQ, ofKv] = [batch * heads * seqQ * headDim, batch * heads * seqKv * headDim];
      return { op, dtype: 'f32', shape, inputs: { q: ofQ, k: ofKv, v: ofKv }, output: { name: 'o', length: ofQ } };
    }
    case 'topK': {
      const [rows, columns, k] = [integer(1, 64), integer(16, 256), integer(1, 16)];
      const shape = { rows, columns, k, largest: pick([true, false]) };
      const inputs = { input: rows * columns, indices: rows * k };
      return { op, dtype: 'f32', shape, inputs, output: { name: 'values', length: rows * k } };
    }
    case 'run': {
      const shape = [integer(1, 64), integer(1, 512)];
      const n = shape.reduce((product, size) => product * size);
      const call = { kernel: SOFTMAX, shape, folded: 1 };
      return { op, dtype: 'f32', shape: call, inputs: { x: n }, output: { name: 'y', length: n } };
    }
    case 'reduce': {
      const sizes = [integer(1, 12), integer(1, 64), integer(1, 64)];
      const axis = integer(0, 2);
      const shape = { op: pick(REDUCE_OPS), shape: sizes, axis };
      const total = sizes.reduce((product, size) => product * size);
      const output = { name: 'output', length: total / (sizes[axis] as number) };
      return { op, dtype: 'f32', shape, inputs: { input: total }, output };
    }
    case 'unary': {
      const n = integer(1, 20_000);
      const shape = { op: pick(UNARY_OPS), n };
      return { op, dtype: 'f32', shape, inputs: { input: n }, output: { name: 'output', length: n } };
    }
    case 'binary': {
      const n = integer(1, 20_000);
      const shape = { op: pick(BINARY_OPS), n };
      return { op, dtype: 'f32', shape, inputs: { a: n, b: n }, output: { name: 'output', length: n } };
    }
  }
}

type Integer = (least: number, most: number) => number;
type Pick = <T>(items: readonly T[]) => T;

function transposes(pick: Pick): object {
  return { transA: pick(['N', 'T']), transB: pick(['N', 'T']) };
}

function randomConv2d(integer: Integer, pick: Pick): SoakOp {
  const groups = pick([1, 1, 2]);
  const [n, c, k] = [integer(1, 2), groups * integer(1, 8), groups * integer(1, 8)];
  const [h, w, window] = [integer(5, 24), integer(5, 24), pick([1, 3, 5])];
  const [stride, padding] = [pick([1, 2]), integer(0, 2)];
  const outputSize = (size: number): number => Math.floor((size + 2 * padding - window) / stride) + 1;
  const outputShape = [n, k, outputSize(h), outputSize(w)];
  const inputShape = [n, c, h, w];
  const filterShape = [k, c / groups, window, window];
  const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size);
  return {
    op: 'conv2dForward',
    dtype: 'f32',
    shape: { inputShape, filterShape, outputShape, stride: [stride, stride], padding: [padding, padding], groups },
    inputs: { input: product(inputShape), filter: product(filterShape) },
    output: { name: 'output', length: product(outputShape) },
  };
}
