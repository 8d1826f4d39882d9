import type {
  BatchedGemmCall,
  ComputeBackend,
  Conv2dCall,
  DevicePtr,
  DType,
  Epilogue,
  GemmCall,
} from '@concord/backend-core';
import { defineKernel, type Value } from '@concord/backend-core/kernel';
import {
  add,
  cast,
  conv2d,
  convTranspose2d,
  matmul,
  permute,
  reshape,
  run,
  slice,
  type Tensor,
  transpose,
  zeros,
} from '@concord/ops';
import { denseStrides } from '@concord/ops/listen';
import { unsupported } from '../errors.ts';
import { vjpKernel } from '../kernel/vjp-kernel.ts';
import { decoded } from './decode.ts';
import { type Given, type KernelRun, passKernel, placeOf } from './run.ts';
import { type Entry, place, type Tape } from './tape.ts';

type Factors = readonly [Tensor, Tensor];

/** A product or convolution as it is differentiated. */
interface Product {
  readonly op: string;
  readonly backend: ComputeBackend;
  readonly factors: Factors;
  readonly output: Tensor;
  readonly epilogue: Epilogue | undefined;
  /** Passes the gradient of what it gives before the epilogue on to each factor, with the other one. */
  readonly pass: readonly [(gradient: Tensor, other: Tensor) => void, (gradient: Tensor, other: Tensor) => void];
  /** Other tensors that these read. */
  readonly kept?: readonly Tensor[];
}

function entryOfProduct(tape: Tape, { backend, factors, output, epilogue, pass, ...product }: Product): Entry {
  const { op, kept = [] } = product;
  const { shape } = output;
  const inputs: Record<string, Tensor> = { acc: place(backend, shape) };
  for (const [name, given] of Object.entries(epilogue?.inputs ?? {})) {
    inputs[name] = placeOf(tape, backend, 'f32', shape, given as Given);
  }
  const wanted = factors.map((factor) => tape.wants(factor));
  const names = Object.keys(inputs).filter((name) =>
    name === 'acc' ? wanted.includes(true) : tape.wants(inputs[name] as Tensor),
  );
  const reads = epilogue === undefined || names.length === 0 ? NONE : vjpKernel(epilogue.kernel, names).reads;
  // Functions of tensors leave what they apply an activation to where somebody listens.
  if (reads.has('acc')) throw unsupported(op, 'its epilogue is not linear', 'apply it by a function of its own');
  // The gradient of a factor is a product with the other.
  const read = [...factors.filter((_, index) => wanted[1 - index]), ...kept];
  for (const [name, input] of Object.entries(inputs)) if (reads.has(name)) read.push(input);
  const all = [...factors, ...kept, ...Object.values(inputs)];
  if (names.length === 0) {
    for (const each of all) each.dispose();
    return { op, outputs: [output] };
  }
  // Of what is not read the place is enough.
  for (const each of all) if (!read.includes(each)) each.dispose();
  const backward = ([gradient]: readonly (Tensor | undefined)[]): void => {
    let own = gradient;
    if (epilogue !== undefined) {
      const acc = inputs['acc'] as Tensor;
      const { kernel, params = {} } = epilogue;
      const call: KernelRun = { backend, kernel, shape, folded: 0, inputs, params };
      passKernel(tape, call, names, [gradient]);
      own = tape.take(acc);
    }
    if (own !== undefined) {
      if (wanted[0] === true) pass[0](own, factors[1]);
      if (wanted[1] === true) pass[1](own, factors[0]);
    }
    if (own !== gradient) own?.dispose();
  };
  return { op, outputs: [output], kept: read, backward };
}

const NONE: ReadonlySet<string> = new Set();

/** The same numbers in float32. */
export function floatOf(x: Tensor): Tensor {
  return x.dtype === 'f32' ? x : cast(x, 'f32');
}

/** The entry of a product of matrices: `dA = dC B^T`, `dB^T = dC^T A`. Weights of integers are decoded, and get none. */
export function entryOfGemm(tape: Tape, backend: ComputeBackend, call: GemmCall & Partial<BatchedGemmCall>): Entry {
  const { m, n, k, transA = 'N', transB = 'N', dtype = 'f32', dtypeB = dtype, quantB, batchCount = 1 } = call;
  if ((call.alpha ?? 1) !== 1 || (call.beta ?? 0) !== 0) {
    throw unsupported('gemm', 'alpha and beta', 'multiply and add by functions of tensors');
  }
  const [isA, isB] = [transA === 'N', transB === 'N'];
  const { lda = isA ? k : m, ldb = isB ? n : k, ldc = n, strideA = 0, strideB = 0, strideC = 0 } = call;
  const matrix = (ptr: DevicePtr, size: Size, [batch, row, column]: Size, type: DType): Tensor =>
    tape.at(backend, ptr, size, [batchCount === 1 ? 0 : batch, row, column], type);
  const stored = (batch: number, ld: number, isRows: boolean): Size => (isRows ? [batch, ld, 1] : [batch, 1, ld]);
  const a = matrix(call.a, [batchCount, m, k], stored(strideA, lda, isA), dtype);
  // As B^T, which is what its gradient is computed as.
  const weight = quantB === undefined ? undefined : decoded(tape, backend, call);
  const b = weight?.data ?? matrix(call.b, [batchCount, n, k], stored(strideB, ldb, !isB), dtypeB as DType);
  const columns = (factor: Tensor): Tensor => weight?.decode() ?? factor;
  return entryOfProduct(tape, {
    ...{ op: 'product', backend, factors: [a, b], epilogue: call.epilogue, kept: weight?.kept ?? [] },
    output: matrix(call.c, [batchCount, m, n], [strideC, ldc, 1], dtype),
    pass: [
      (gradient, other) => tape.fill(a, (out) => matmul(gradient, columns(other), out)),
      (gradient, other) => tape.fill(b, (out) => matmul(transpose(gradient), other, out)),
    ],
  });
}

type Size = readonly [batch: number, row: number, column: number];

/** The entry of a convolution: its input's gradient is the transposed convolution, and the other way round. */
export function entryOfConv2d(tape: Tape, backend: ComputeBackend, call: Conv2dCall): Entry {
  const { inputShape, filterShape, outputShape, dtype = 'f32', dtypeFilter = dtype, transposed = false } = call;
  const { stride = [1, 1], dilation = [1, 1], groups = 1 } = call;
  const [top, left, bottom = top, right = left] = call.padding ?? [0, 0];
  const options = { stride, dilation, groups, padding: [top, left, bottom, right] } as const;
  const at = (ptr: DevicePtr, shape: readonly number[], type: DType): Tensor =>
    tape.at(backend, ptr, shape, denseStrides(shape), type);
  const input = at(call.input, inputShape, dtype);
  const filter = at(call.filter, filterShape, dtypeFilter);
  const [, , h, w] = inputShape;
  return entryOfProduct(tape, {
    ...{
      op: 'convolution',
      backend,
      factors: [input, filter],
      output: at(call.output, outputShape, dtype),
      epilogue: call.epilogue,
    },
    pass: [
      (gradient, other) => {
        const f = floatOf(other);
        // An output padding may leave room for more.
        if (transposed) return tape.give(input, slice(conv2d(gradient, f, options), [null, null, [0, h], [0, w]]));
        const reach = (axis: 0 | 1): number =>
          (inputShape[axis + 2] as number) -
          ((outputShape[axis + 2] as number) - 1) * stride[axis] -
          dilation[axis] * ((filterShape[axis + 2] as number) - 1) -
          1;
        const extra = [reach(0) + top + bottom, reach(1) + left + right] as const;
        tape.fill(input, (out) => convTranspose2d(gradient, f, { ...options, outputPadding: extra, ...out }));
      },
      (gradient, other) => {
        const [image, steps] = transposed ? [gradient, floatOf(other)] : [floatOf(other), gradient];
        tape.give(filter, filterGradient(image, steps, filterShape, { stride, dilation, groups, origin: [top, left] }));
      },
    ],
  });
}

/** The most elements of a matrix of patches that is in memory at a time. */
const MOST_PATCHES = 2 ** 26;

interface Patches {
  readonly stride: readonly [number, number];
  readonly dilation: readonly [number, number];
  readonly groups: number;
  /** Rows and columns of padding before the image. */
  readonly origin: readonly [number, number];
}

/**
 * `sum over n,p,q of steps[n,k,p,q] * image[n,c,p*sh - top + r*dh, q*sw - left + s*dw]`, `[k, c, r, s]`: the product of the steps and
 * the patches of the image that filters of that shape see.
 */
function filterGradient(image: Tensor, steps: Tensor, filterShape: readonly number[], how: Patches): Tensor {
  const { groups } = how;
  const [n = 0, k = 0, p = 0, q = 0] = steps.shape;
  const [, c = 0, r = 0, s = 0] = filterShape;
  const taps = c * r * s;
  const atOnce = Math.max(1, Math.floor(MOST_PATCHES / (groups * taps * p * q)));
  let sum: Tensor | undefined;
  for (let first = 0; first < n; first += atOnce) {
    const images = Math.min(atOnce, n - first);
    const some = (of: Tensor): Tensor => slice(of, [[first, first + images]]);
    const params = { sh: how.stride[0], sw: how.stride[1], dh: how.dilation[0], dw: how.dilation[1] };
    const origin = { top: how.origin[0], left: how.origin[1], c };
    const shape = [groups, c, r, s, images, p, q];
    const patches = run(PATCHES, { image: some(image) }, { shape, params: { ...params, ...origin } }).patches;
    const places = images * p * q;
    const rows = reshape(permute(some(steps), [1, 0, 2, 3]), [groups, k / groups, places]);
    const columns = transpose(reshape(patches, [groups, taps, places]));
    if (sum === undefined) sum = matmul(rows, columns);
    else add(sum, matmul(rows, columns), { out: sum });
  }
  return reshape(sum ?? zeros(image.backend, filterShape), filterShape);
}

/** A kernel over groups, channels of one, rows and columns of the filter, images, rows and columns of steps. */
const PATCHES = defineKernel(
  'patches',
  {
    inputs: { image: { type: 'f32', access: 'gather', rank: 4 } },
    params: { sh: 'i32', sw: 'i32', dh: 'i32', dw: 'i32', top: 'i32', left: 'i32', c: 'u32' },
  },
  ({ image, sh, sw, dh, dw, top, left, c }, k) => {
    const along = (step: number, tap: number, stride: Value<'i32'>, dilation: Value<'i32'>, first: Value<'i32'>) =>
      k.sub(k.add(k.mul(k.toI32(k.index(step)), stride), k.mul(k.toI32(k.index(tap)), dilation)), first);
    // All indices of a gather are of one type.
    const channel = k.toI32(k.add(k.mul(k.index(0), c), k.index(1)));
    const place = [k.toI32(k.index(4)), channel, along(5, 2, sh, dh, top), along(6, 3, sw, dw, left)] as const;
    return { patches: k.gather(image, place, 0) };
  },
);
