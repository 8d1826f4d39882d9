import { defineKernel, type Kernel, type KernelBuilder } from '@concord/backend-core/kernel';
import * as ops from '@concord/ops';
import type { Activation, QuantizedTensor, Tensor } from '@concord/ops';
import { Kernels } from '@concord/ops/listen';
import { type HostTensor, hostTensor, scalars } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { upload } from '../run/value.ts';
import { type Activated, ACTIVATIONS, swish } from './activations.ts';
import { ATTENTION } from './attention.ts';
import { convolution } from './convolution.ts';
import { elements, float, type Num } from './elements.ts';
import type { Operator, Operators } from './operator.ts';
import { unpacked } from './quantised.ts';

/** A weight of 4 or 8 bits, in blocks: its integers, scales and zero points are three inputs from `first` on. */
function packed(call: Call, first: number): QuantizedTensor {
  const [integers, scales, zeros] = [first, first + 1, first + 2];
  const [bits, blockSize] = [call.int('bits', 4), call.int('block_size')];
  if (bits !== 4 && bits !== 8) return call.refuse(`${bits} bits`);
  const floats = (index: number): Float32Array => Float32Array.from(scalars(call.host(index)) as ArrayLike<number>);
  const isBytes = call.has(zeros) && call.type(zeros) === 'uint8';
  const zeroPoints = isBytes ? (call.host(zeros).data as Uint8Array) : call.has(zeros) ? floats(zeros) : undefined;
  const made = ops.fromMatMulNBits(call.backend, {
    ...{ n: call.int('N'), k: call.int('K'), bits, blockSize, dtypeScales: call.x(0).dtype as 'f32' | 'f16' },
    ...{ b: call.host(integers).data as Uint8Array, scales: floats(scales), zeroPoints },
  });
  call.uploaded.push(...made.parts);
  return made;
}

/** What is packed of the constants among the inputs, once. */
function packedOnce<T>(call: Call, inputs: readonly number[], make: () => T): T {
  call.floats(0);
  if (!inputs.every((index) => call.inputs[index]?.isConstant !== false)) call.refuse('a weight that is no constant');
  if (call.x(0).dtype === 'bf16') call.refuse('bfloat16');
  const made = call.keep(make);
  call.release(...inputs);
  return made;
}

/** The product of a weight of 4 or 8 bits, in blocks. */
function matMulNBits(call: Call): Results {
  const weight = packedOnce(call, [1, 2, 3], () => packed(call, 1));
  return ops.linear(call.x(0), weight, { bias: call.maybe(5) });
}

/** Computes what a pass made of two such products, `silu(x gate) (x up)`. */
function gated(call: Call): Results {
  const { gate, up } = packedOnce(call, [1, 2, 3, 4, 5, 6], () => {
    const [gate, up] = [packed(call, 1), packed(call, 4)];
    return { gate, up, [Symbol.dispose]: () => [gate, up].forEach((each) => each.dispose()) };
  });
  return ops.swiglu(call.x(0), gate, up);
}

/** Rows of a table of 4 or 8 bits, in blocks. */
function gatherBlockQuantized(call: Call): Results {
  const type = call.type(0);
  const bits = call.int('bits', 4);
  const isBytes = type === 'uint8';
  if (bits !== 4 && (bits !== 8 || !isBytes)) return call.refuse(`${bits} bits of ${type}`);
  const rank = call.dims(0).length;
  const from = call.axis(call.int('gather_axis', 0));
  const axis = call.axis(call.int('quantize_axis', 1));
  if (from === axis) call.refuse('a gather_axis that is quantised');
  if (![0, 3].every((index) => call.inputs[index]?.isConstant !== false)) call.refuse('a table that is no constant');
  const dims = call.dims(0).map((size, i) => (isBytes && bits === 4 && i === rank - 1 ? 2 * size : size));
  const whole = call.int('block_size', 128);
  // An axis may be shorter than a block.
  const blockSize = Math.min(whole, dims[axis] as number);
  if ((dims[axis] as number) % blockSize !== 0) call.refuse(`an axis of ${dims[axis]} in blocks of ${whole}`);
  const last = dims[rank - 1] as number;
  if (bits === 4 && (from === rank - 1 || last % 2 !== 0 || (axis === rank - 1 && blockSize % 2 !== 0)))
    call.refuse('a row whose bytes are parted');
  const { table, zeros } = call.keep(() => {
    const { data } = call.host(0) as { data: Uint8Array };
    const stored = [...dims.slice(0, -1), bits === 4 ? last / 2 : last];
    const codes = fixed(call, hostTensor(type === 'int4' ? 'int8' : 'uint8', stored, data));
    const given = call.has(3) ? call.host(3) : undefined;
    // Of bytes each row is whole ones, of u4 and i4 it is not.
    const twice = given && [...given.dims.slice(0, -1), 2 * (given.dims.at(-1) as number)];
    const points = given && (isBytes && twice ? { ...given, type: 'uint4' as const, dims: twice } : given);
    const all = points && fixed(call, bits === 8 ? given : unpacked(points));
    const own = all && ops.slice(all, [...all.shape.slice(1).map(() => null), [0, call.dims(2).at(-1) as number]]);
    if (own) call.uploaded.push(own);
    return { table: codes, zeros: own, [Symbol.dispose]: () => [codes, all, own].forEach((each) => each?.dispose()) };
  });
  const rows = (x: Tensor): Tensor => ops.gather(x, call.x(1), { axis: from });
  const zeroPoint = zeros ? rows(zeros) : isBytes ? 2 ** (bits - 1) : 0;
  const place = axis > from ? axis + call.dims(1).length - 1 : axis;
  return ops.dequantize(rows(table), rows(call.x(2)), { axis: place, blockSize, zeroPoint, bits });
}

/** Copies to the device what is kept. */
function fixed(call: Call, host: HostTensor): Tensor {
  const tensor = upload(call.backend, host, 'refuse');
  call.uploaded.push(tensor);
  return tensor;
}

const skipKernels = new Kernels();

/** Norm of a sum, and the sum, in one launch. */
function skipNorm(call: Call, isCentred: boolean): Results {
  call.floats(0, 1);
  const [, wantsMean, wantsDeviation, wantsSum] = call.node.outputs;
  if (wantsMean || wantsDeviation) call.refuse('the mean or deviation as a result');
  const places = isCentred ? { beta: 3, bias: 4 } : { bias: 3 };
  const given: Record<string, Tensor> = { x: call.x(0), skip: call.x(1), gamma: call.x(2) };
  for (const [name, index] of Object.entries(places)) if (call.has(index)) given[name] = call.x(index);
  const eps = call.float('epsilon', 1e-12);
  const key = `${isCentred} ${!wantsSum} ${eps} ${Object.keys(given).join()}`;
  const kernel = skipKernels.of(key, () => {
    const inputs = Object.fromEntries(Object.keys(given).map((name) => [name, 'f32'] as const));
    return defineKernel('skipNorm', { inputs }, (symbols, k): Record<string, Num> => {
      const of = (name: string): Num => symbols[name] as Num;
      const skipped = k.add(of('x'), of('skip'));
      const total = 'bias' in given ? k.add(skipped, of('bias')) : skipped;
      const centred = isCentred ? k.sub(total, k.fold('mean', total)) : total;
      const scale = k.rsqrt(k.add(k.fold('mean', k.mul(centred, centred)), eps));
      const y = k.mul(k.mul(centred, scale), of('gamma'));
      return { y: 'beta' in given ? k.add(y, of('beta')) : y, ...(wantsSum ? { total } : {}) };
    }) as Kernel;
  });
  const { dtype } = call.x(0);
  const dtypes = { y: dtype, ...(wantsSum && { total: dtype }) };
  const { y, total } = ops.run(kernel, given, { dtypes }) as Record<string, Tensor>;
  return [y, undefined, undefined, total];
}

/** A function of the sum of an input and a bias that may be left out. */
function ofSum(compute: (k: KernelBuilder, x: Num) => unknown): Operator {
  return {
    run: (call) => {
      call.floats(0);
      const operands = call.has(1) ? [call.x(0), call.x(1)] : [call.x(0)];
      const formula = (k: KernelBuilder, x: Num, bias?: Num): Num => compute(k, bias ? k.add(x, bias) : x) as Num;
      return elements(`${call.node.op} ${operands.length}`, formula, operands, call.x(0).dtype);
    },
  };
}

function fusedMatMul(call: Call): Results {
  call.floats(0, 1);
  if (call.int('transBatchA', 0) !== 0 || call.int('transBatchB', 0) !== 0) call.refuse('transBatchA and transBatchB');
  const [a, b] = [['transA', 0] as const, ['transB', 1] as const].map(([name, index]) => {
    const x = call.x(index);
    return call.int(name, 0) === 1 && x.rank > 1 ? ops.transpose(x) : x;
  }) as [Tensor, Tensor];
  const product = ops.matmul(a, b);
  const alpha = call.float('alpha', 1);
  return alpha === 1 ? product : ops.mul(product, alpha);
}

const FUSED: Readonly<Record<string, Activation>> = { Relu: 'relu', Tanh: 'tanh', Sigmoid: 'sigmoid' };

const clip: Activated = (k, x, low, high) => k.clamp(x, low, high);

function fusedConv(call: Call): Results {
  const name = call.text('activation', '');
  const activation = FUSED[name];
  if (name === '' || (activation !== undefined && !call.has(3)))
    return convolution(call, { ...(activation && { activation }), ...(call.has(3) && { residual: call.x(3) }) });
  // What is added comes before the function.
  const sum = convolution(call, call.has(3) ? { residual: call.x(3) } : {});
  const compute = name === 'Clip' ? clip : (ACTIVATIONS[name]?.[0] ?? call.refuse(`activation ${name}`));
  const [a, b] = call.list('activation_params') ?? [];
  return elements(`${name} ${a} ${b}`, (k, x) => compute(k, x, a as number, b as number), [sum]);
}

/** Operators of com.microsoft that are not of quantised numbers. */
export const MICROSOFT: Operators = {
  ...ATTENTION,
  'com.microsoft.MatMulNBits': matMulNBits,
  'concord.Gated': gated,
  'com.microsoft.GatherBlockQuantized': gatherBlockQuantized,
  'com.microsoft.SkipLayerNormalization': (call) => skipNorm(call, true),
  'com.microsoft.SkipSimplifiedLayerNormalization': (call) => skipNorm(call, false),
  'com.microsoft.Gelu': ofSum((k, x) => k.gelu(x)),
  'com.microsoft.BiasGelu': ofSum((k, x) => k.gelu(x)),
  'com.microsoft.FastGelu': ofSum((k, x) => k.geluTanh(x)),
  'com.microsoft.QuickGelu': float(swish, { alpha: 1.702 }),
  'com.microsoft.FusedMatMul': fusedMatMul,
  'com.microsoft.FusedConv': fusedConv,
};
