import type {
  AttentionShape,
  BatchedGemmShape,
  BinaryOp,
  Conv2dShape,
  FloatDType,
  GemmShape,
  OpPlan,
  ReduceOp,
  ReduceShape,
  UnaryOp,
} from '@concord/backend-core';
import {
  attentionReference,
  binaryFunction,
  conv2dReference,
  gemmReference,
  reduceReference,
  unaryFunction,
} from '@concord/backend-cpu/reference';
import type { BenchCase, BenchWork, ExpectedEntry } from '../bench-case.ts';
import { bytesOf, elements, materialize, type Operand, operand, type OperandOptions } from '../operand.ts';

/** A case of an op: its call, its operands, and an entry of its output. */
interface OpCase extends Pick<BenchCase, 'id' | 'title' | 'unit' | 'flops'>, Pick<BenchWork, 'call'> {
  /** The call without its pointers. */
  readonly plan: OpPlan;
  /** Elements of the inputs, in their order. */
  readonly inputs: readonly (OperandOptions & { readonly length: number })[];
  readonly output: { readonly length: number; readonly dtype?: Operand['dtype'] };
  /** Default: that of all operands. */
  readonly bytes?: number;
  readonly entry: (index: number, inputs: readonly Operand[]) => ExpectedEntry;
}

/** A case whose inputs are noise, the same in every run. */
export function opCase({ id, title, unit, flops, plan, inputs, output, bytes, call, entry }: OpCase): BenchCase {
  const { length: outputLength, dtype: outputDtype = 'f32' } = output;
  const all = [...inputs, output].reduce((sum, { length, dtype = 'f32' }) => sum + length * bytesOf(dtype), 0);
  return {
    ...{ id: `${plan.op}/${id}`, op: plan.op, title, unit, flops, bytes: bytes ?? all },
    prepare() {
      const made = inputs.map(({ length, ...options }, i) => operand(length, i + 1, options));
      return { inputs: made, outputLength, outputDtype, plan, call, expected: (index) => entry(index, made) };
    },
  };
}

/** The storage of a product. Default: row-major and packed, in f32. */
export interface GemmOptions {
  /** A is stored k x m. */
  readonly transA?: 'T' | undefined;
  /** B is stored n x k, as weights often are. */
  readonly transB?: 'T' | undefined;
  /** Elements between the rows of A and those of B. */
  readonly padding?: number;
  /** The dtype of all matrices; sums are in f32. */
  readonly dtype?: FloatDType;
}

/** The sizes of a product. */
export type GemmSize = Pick<GemmShape, 'm' | 'n' | 'k'>;

/** `C = A B`. */
export function gemmCase(
  origin: string,
  text: string,
  m: number,
  n: number,
  k: number,
  options: GemmOptions = {},
): BenchCase {
  const op = options.dtype === 'f16' ? 'gemmF16' : 'gemm';
  return productCase(origin, text, { m, n, k }, 1, options, (shape) => ({
    plan: { op, call: shape },
    call: (backend, at, c) => backend[op]({ ...shape, a: at(0), b: at(1), c }),
  }));
}

/** A batch of products of one shape, packed one after the other. */
export function batchedGemmCase(
  origin: string,
  text: string,
  count: number,
  { m, n, k, transB }: GemmSize & Pick<GemmOptions, 'transB'>,
): BenchCase {
  const batch = { strideA: m * k, strideB: k * n, strideC: m * n, batchCount: count };
  return productCase(origin, text, { m, n, k }, count, { transB }, (one) => {
    const shape: Omit<BatchedGemmShape, 'quantB'> = { ...one, ...batch };
    return {
      plan: { op: 'batchedGemm', call: shape },
      call: (backend, at, c) => backend.batchedGemm({ ...shape, a: at(0), b: at(1), c }),
    };
  });
}

/**
 * The tolerance of a float32 sum of products, relative to the sum of their magnitudes: far above what roundings in any order
 * give, and below what inputs of fewer bits do, such as TF32.
 */
const SUM_TOLERANCE = 1e-5;

function productCase(
  origin: string,
  title: string,
  { m, n, k }: GemmSize,
  count: number,
  { transA, transB, padding = 0, dtype = 'f32' }: GemmOptions,
  callOf: (shape: Omit<GemmShape, 'quantB'>) => Pick<OpCase, 'plan' | 'call'>,
): BenchCase {
  const [rowsA, lda] = transA === 'T' ? [k, m + padding] : [m, k + padding];
  const [rowsB, ldb] = transB === 'T' ? [n, k + padding] : [k, n + padding];
  const trans = { ...(transA && { transA }), ...(transB && { transB }) };
  const layout = (transA ?? transB) ? `-${transA ?? 'N'}${transB ?? 'N'}` : '';
  const size = `${count > 1 ? `${count}x` : ''}${m}x${n}x${k}${layout}${padding === 0 ? '' : '-gaps'}`;
  return opCase({
    ...{ id: `${origin}/${size}`, title, unit: 'GFLOP/s', flops: 2 * count * m * n * k },
    ...callOf({ m, n, k, ...trans, ...(padding && { lda, ldb }) }),
    inputs: [rowsA * lda, rowsB * ldb].map((each) => ({ length: count * each, dtype })),
    output: { length: count * m * n, dtype },
    entry(index, [a, b]) {
      const batch = Math.floor(index / (m * n));
      const [row, column] = [Math.floor(index / n) % m, index % n];
      const [firstA, stepA] = transA === undefined ? [row * lda, 1] : [row, lda];
      const [firstB, stepB] = transB === undefined ? [column, ldb] : [column * ldb, 1];
      const left = elements(a as Operand, batch * rowsA * lda + firstA, k, stepA);
      const right = elements(b as Operand, batch * rowsB * ldb + firstB, k, stepB);
      const [want, magnitude] = valueOf(gemmReference({ m: 1, n: 1, k }, left, right));
      return { want, tolerance: SUM_TOLERANCE * magnitude + storedAs(dtype, want) };
    },
  });
}

/** The tolerance for rounding to the storage of a result. */
const storedAs = (dtype: FloatDType, want: number): number =>
  dtype === 'f16' ? 2 ** -10 * Math.abs(want) + 2 ** -24 : 0;

/** The first value of an oracle's answer, and the sum of the magnitudes that it is made of. */
function valueOf({ value, magnitude }: ReturnType<typeof gemmReference>): readonly [number, number] {
  return [value[0] as number, magnitude[0] as number];
}

/** A layer on square images, with a square window. */
export interface Conv2dLayer {
  readonly batch?: number;
  readonly channels: number;
  /** Height and width of the image. */
  readonly size: number;
  readonly filters: number;
  readonly window: number;
  readonly stride?: number;
  readonly padding?: number;
}

/** A convolution layer; the title tells its sizes. */
export function conv2dCase(origin: string, title: string, layer: Conv2dLayer): BenchCase {
  const { batch = 1, channels, size, filters, window, stride = 1, padding = 0 } = layer;
  const side = Math.floor((size + 2 * padding - window) / stride) + 1;
  const shape: Conv2dShape = {
    inputShape: [batch, channels, size, size],
    filterShape: [filters, channels, window, window],
    outputShape: [batch, filters, side, side],
    stride: [stride, stride],
    padding: [padding, padding],
  };
  const step = stride === 1 ? '' : `s${stride}`;
  const one = [1, channels, window, window] as const;
  return opCase({
    ...{ id: `${origin}/n${batch}c${channels}x${size}-k${filters}-${window}x${window}${step}`, title, unit: 'GFLOP/s' },
    flops: 2 * productOf(shape.outputShape) * channels * window ** 2,
    plan: { op: 'conv2dForward', call: shape },
    inputs: [{ length: productOf(shape.inputShape) }, { length: productOf(shape.filterShape) }],
    output: { length: productOf(shape.outputShape) },
    call: (backend, at, output) => backend.conv2dForward({ ...shape, input: at(0), filter: at(1), output }),
    // The oracle on the part of the image that the entry comes from.
    entry(index, [input, filter]) {
      const [x, y, plane] = [index % side, Math.floor(index / side) % side, Math.floor(index / side ** 2)];
      const [image, k] = [Math.floor(plane / filters), plane % filters];
      const part = Float32Array.from({ length: channels * window ** 2 }, (_, at) => {
        const column = x * stride - padding + (at % window);
        const row = y * stride - padding + (Math.floor(at / window) % window);
        const channel = image * channels + Math.floor(at / window ** 2);
        const isInside = column >= 0 && column < size && row >= 0 && row < size;
        return isInside ? (input as Operand).at((channel * size + row) * size + column) : 0;
      });
      const weights = elements(filter as Operand, k * part.length, part.length);
      const shapes = { inputShape: one, filterShape: one, outputShape: [1, 1, 1, 1] } as const;
      const [want, magnitude] = valueOf(conv2dReference(shapes, part, weights));
      return { want, tolerance: SUM_TOLERANCE * magnitude };
    },
  });
}

/** The sizes of an attention case. Default for `batch`: 1. */
export type AttentionSizes = Pick<AttentionShape, 'heads' | 'seqQ' | 'seqKv' | 'headDim' | 'causal' | 'dtype'> & {
  readonly batch?: number;
};

/** Attention of all heads of one layer. */
export function attentionCase(origin: string, title: string, sizes: AttentionSizes): BenchCase {
  const { batch = 1, heads, seqQ, seqKv, headDim, causal = false, dtype = 'f32' } = sizes;
  const shape: AttentionShape = { ...sizes, batch, scale: 1 / Math.sqrt(headDim) };
  const [queries, keys] = [batch * heads * seqQ * headDim, batch * heads * seqKv * headDim];
  const seen = causal ? (seqQ * (seqQ + 1)) / 2 : seqQ * seqKv;
  const size = `${batch > 1 ? `${batch}x` : ''}${heads}x${seqQ}x${seqKv}-d${headDim}${causal ? '-causal' : ''}${dtype === 'f16' ? '-f16' : ''}`;
  return opCase({
    ...{ id: `${origin}/${size}`, title, unit: 'GFLOP/s' },
    // Both products; the softmax between them is not counted, as is the custom.
    flops: 4 * batch * heads * seen * headDim,
    plan: { op: 'attention', call: shape },
    inputs: [queries, keys, keys].map((length) => ({ length, dtype })),
    output: { length: queries, dtype },
    call: (backend, at, o) => backend.attention({ ...shape, q: at(0), k: at(1), v: at(2), o }),
    // The oracle on one query and the keys that it sees.
    entry(index, inputs) {
      const [q, k, v] = inputs as [Operand, Operand, Operand];
      const row = Math.floor(index / headDim);
      const visible = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
      const start = Math.floor(row / seqQ) * seqKv * headDim;
      const one = { batch: 1, heads: 1, seqQ: 1, seqKv: visible, headDim, scale: shape.scale };
      const [keysSeen, valuesSeen] = [elements(k, start, visible * headDim), elements(v, start, visible * headDim)];
      const { value } = attentionReference(one, elements(q, row * headDim, headDim), keysSeen, valuesSeen);
      // A mean of numbers in [-1, 1) with weights that add up to 1.
      const want = value[index % headDim] as number;
      return { want, tolerance: 2e-5 + storedAs(dtype, want) };
    },
  });
}

/** The tolerance of a function of an element. */
const near = (want: number): ExpectedEntry => ({ want, tolerance: 1e-4 * Math.abs(want) + 1e-5 });

/** A function of `n` numbers. */
export function unaryCase(origin: string, title: string, op: UnaryOp, n: number): BenchCase {
  return opCase({
    ...{ id: `${origin}/${op}-${n}`, title, unit: 'GB/s', flops: n, plan: { op: 'unary', call: { op, n } } },
    ...{ inputs: [{ length: n }], output: { length: n } },
    call: (backend, at, output) => backend.unary({ op, n, input: at(0), output }),
    entry: (index, [x]) => near(unaryFunction(op)((x as Operand).at(index))),
  });
}

/** A function of `n` pairs of numbers. */
export function binaryCase(origin: string, title: string, op: BinaryOp, n: number): BenchCase {
  return opCase({
    ...{ id: `${origin}/${op}-${n}`, title, unit: 'GB/s', flops: n, plan: { op: 'binary', call: { op, n } } },
    ...{ inputs: [{ length: n }, { length: n }], output: { length: n } },
    call: (backend, at, output) => backend.binary({ op, n, a: at(0), b: at(1), output }),
    entry: (index, [x, y]) => near(binaryFunction(op)((x as Operand).at(index), (y as Operand).at(index))),
  });
}

/** A reduction of a tensor along one axis. */
export function reduceCase(
  origin: string,
  title: string,
  op: ReduceOp,
  shape: readonly number[],
  axis: number,
): BenchCase {
  const call: ReduceShape = { op, shape, axis };
  const [length, line, inner] = [productOf(shape), shape[axis] as number, productOf(shape.slice(axis + 1))];
  return opCase({
    ...{ id: `${origin}/${op}-${shape.join('x')}-axis${axis}`, title, unit: 'GB/s', flops: length },
    ...{ plan: { op: 'reduce', call }, inputs: [{ length, isPositive: true }], output: { length: length / line } },
    call: (backend, at, output) => backend.reduce({ ...call, input: at(0), output }),
    entry(index, [input]) {
      const start = Math.floor(index / inner) * line * inner + (index % inner);
      const values = elements(input as Operand, start, line, inner);
      const [want, magnitude] = valueOf(reduceReference({ op, shape: [line], axis: 0 }, values));
      return { want, tolerance: 1e-4 * magnitude };
    },
  });
}

/** The greatest `k` of each row. */
export function topKCase(origin: string, title: string, rows: number, columns: number, k: number): BenchCase {
  const call = { rows, columns, k };
  return opCase({
    ...{ id: `${origin}/${rows}x${columns}-k${k}`, title, unit: 'GB/s', flops: rows * columns },
    plan: { op: 'topK', call },
    // The places have to go somewhere too.
    inputs: [{ length: rows * columns }, { length: rows * k }],
    output: { length: rows * k },
    call: (backend, at, output) => backend.topK({ ...call, input: at(0), values: output, indices: at(1) }),
    entry(index, [input]) {
      const sorted = elements(input as Operand, Math.floor(index / k) * columns, columns).sort((a, b) => b - a);
      return { want: sorted[index % k] as number, tolerance: 0 };
    },
  });
}

/** The number of elements of a shape. */
export function productOf(sizes: readonly number[]): number {
  return sizes.reduce((x, y) => x * y, 1);
}

/** The direction of a copy. */
export type CopyDirection = 'upload' | 'download' | 'device';

const TEXT: Readonly<Record<CopyDirection, string>> = {
  upload: 'host to device',
  download: 'device to host',
  device: 'within the device',
};

/** A copy of `bytes` bytes. Within the device each is read and written; from or to the host it counts once. */
export function copyCase(direction: CopyDirection, bytes: number): BenchCase {
  const size = `${bytes / 2 ** 20} MiB`;
  return {
    id: `memory/${direction}/${bytes}`,
    op: 'memory',
    title: `copy ${TEXT[direction]}, ${size}`,
    unit: 'GB/s',
    flops: 0,
    bytes: direction === 'device' ? 2 * bytes : bytes,
    prepare: () => workOf(direction, bytes),
  };
}

function workOf(direction: CopyDirection, bytes: number): BenchWork {
  const values = operand(bytes / 4, 1);
  const base = {
    ...{ inputs: [values], outputLength: values.length, outputDtype: 'f32' as const },
    expected: (index: number) => ({ want: values.at(index), tolerance: 0 }),
  };
  switch (direction) {
    case 'upload': {
      const host = materialize(values);
      return { ...base, inputs: [], call: (backend, _, output) => backend.copyHtod(output, host) };
    }
    case 'device':
      return { ...base, call: (backend, at, output) => backend.copyDtod(output, at(0), bytes) };
    case 'download': {
      const host = new Float32Array(values.length).fill(Number.NaN);
      const call: BenchWork['call'] = (backend, at) => backend.copyDtoh(host, at(0));
      return { ...base, outputLength: 0, call, hostResult: () => host };
    }
  }
}
