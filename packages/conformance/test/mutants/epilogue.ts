import { f16BitsToF32 } from '@concord/backend-core';
import type {
  BackendKernels,
  CheckedEpilogue,
  Operand,
  ResolvedConv2d,
  ResolvedGemm,
} from '@concord/backend-core/implement';
import { checkedRun } from '@concord/backend-core/kernel';
import { inCall, inKernel, type Mutant, mutantsOf, type Wrap } from './mutant.ts';

type Call = ResolvedGemm<ArrayBuffer> | ResolvedConv2d<ArrayBuffer>;
type Primitive = 'gemm' | 'conv2dForward';
/** The context of a bug besides the call: the right kernel, and `run`. */
interface Right {
  readonly run: (call: Call) => void;
  readonly kernels: BackendKernels<ArrayBuffer>;
}

/** Replaces a kernel of the backend's record, for calls that have an epilogue. */
function inEpilogue(primitive: Primitive, bug: (call: Call, epilogue: CheckedEpilogue, right: Right) => void): Wrap {
  return replaced(primitive, (call, right) => {
    if (call.epilogue === undefined) right.run(call);
    else bug(call, call.epilogue, right);
  });
}

function replaced(primitive: Primitive, bug: (call: Call, right: Right) => void): Wrap {
  return (backend) => {
    const { kernels } = backend as unknown as { kernels: BackendKernels<ArrayBuffer> };
    return inKernel(primitive, (call, run) => bug(call, { run, kernels }))(backend);
  };
}

function outputOf(call: Call): Operand<ArrayBuffer> {
  return 'c' in call ? call.c : call.output;
}

/** Runs an epilogue on sums that lie as the output does. */
function apply(call: Call, { geometry, params }: CheckedEpilogue, acc: Operand<ArrayBuffer>, { kernels }: Right): void {
  const operands = call as unknown as Readonly<Record<string, Operand<ArrayBuffer>>>;
  const inputs = geometry.inputs.map(({ name }) => (name === 'acc' ? acc : operands[`epilogue.${name}`]));
  kernels.run?.run({ geometry, inputs, outputs: [outputOf(call)], params, inPlace: [true] });
}

/** The epilogue with other strides of its inputs. */
function restrided(
  { kernel, geometry, ...rest }: CheckedEpilogue,
  change: (strides: readonly number[]) => readonly number[],
): CheckedEpilogue {
  const views = geometry.inputs.map(({ name, strides, dtype }) => [
    name,
    { strides: name === 'acc' ? strides : change(strides), dtype },
  ]);
  const outputs = geometry.outputs.map(({ name, strides, dtype }) => [name, { strides, dtype }]);
  const { shape } = geometry;
  const asked = { shape, inputs: Object.fromEntries(views), outputs: Object.fromEntries(outputs) };
  return { ...rest, kernel, geometry: checkedRun(kernel, asked) };
}

const isBias = (strides: readonly number[]): boolean => strides.filter((stride) => stride > 0).length === 1;
let params: readonly number[] | undefined;

const bugsOf = (primitive: Primitive, isF16: boolean): Readonly<Record<string, Wrap>> => ({
  'the epilogue is skipped': inEpilogue(primitive, (call, _, { run }) => run({ ...call, epilogue: undefined })),
  'the epilogue is applied twice': inEpilogue(primitive, (call, epilogue, right) => {
    right.run(call);
    const acc = { ...outputOf(call) };
    if (call.dtype === 'f16') Object.assign(acc, floatsOf(acc));
    apply(call, epilogue, acc, right);
  }),
  'a bias runs along the axis before': inEpilogue(primitive, (call, epilogue, { run }) =>
    run({
      ...call,
      epilogue: restrided(epilogue, (strides) =>
        isBias(strides) ? [...strides.slice(1), strides[0] as number] : strides,
      ),
    }),
  ),
  'an input of the epilogue is taken to be dense': inEpilogue(primitive, (call, epilogue, { run }) => {
    const { strides } = epilogue.geometry.outputs[0] as { strides: readonly number[] };
    run({ ...call, epilogue: restrided(epilogue, (own) => (isBias(own) ? own : strides)) });
  }),
  'parameters of the first call are kept': inEpilogue(primitive, (call, epilogue, { run }) => {
    if (epilogue.params.length > 0) params ??= epilogue.params;
    run({ ...call, epilogue: { ...epilogue, params: epilogue.params.length > 0 ? (params ?? []) : [] } });
  }),
  ...(isF16
    ? {
        'the sum is rounded to f16 before the epilogue': inEpilogue(primitive, (call, epilogue, right) => {
          if (call.dtype === 'f32') return right.run(call);
          right.run({ ...call, epilogue: undefined });
          apply(call, epilogue, floatsOf(outputOf(call)), right);
        }),
      }
    : {}),
});

/** A copy of f16 elements as float32. */
function floatsOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Operand<ArrayBuffer> {
  const floats = Float32Array.from(new Uint16Array(buffer, byteOffset, byteLength / 2), f16BitsToF32);
  return { buffer: floats.buffer, byteOffset: 0, byteLength: floats.byteLength };
}

const productBugs = (op: 'gemm' | 'gemmF16' | 'batchedGemm'): Readonly<Record<string, Wrap>> => ({
  'the epilogue is skipped where k is 0': inCall(op as 'gemm', (call, run) => {
    const { epilogue, ...plain } = call;
    run(call?.k === 0 && epilogue !== undefined ? plain : call);
  }),
  'the epilogue is skipped where alpha is 0': inCall(op as 'gemm', (call, run) => {
    const { epilogue, ...plain } = call;
    run(call?.alpha === 0 && epilogue !== undefined ? plain : call);
  }),
});

const BATCH_BUGS: Readonly<Record<string, Wrap>> = {
  'all C are taken to be apart': replaced('gemm', (call, { run }) => {
    const { m, n, ldc } = call as ResolvedGemm<ArrayBuffer>;
    run({ ...call, strideC: Math.max((call as ResolvedGemm<ArrayBuffer>).strideC, (m - 1) * ldc + n) });
  }),
};

const CONVOLUTION_BUGS: Readonly<Record<string, Wrap>> = {
  'zeros on the right and below taken for those on the left and above': replaced('conv2dForward', (call, { run }) => {
    const [top, left, bottom, right] = (call as ResolvedConv2d<ArrayBuffer>).padding;
    run({ ...call, padding: [bottom, right, top, left] });
  }),
};

/** Bugs of epilogues, of C that interleave, and of separate zeros on each side. */
export const epilogueMutants: readonly Mutant[] = [
  ...(['gemm', 'gemmF16', 'batchedGemm'] as const).flatMap((op) =>
    mutantsOf(`${op}:`, [op], { ...bugsOf('gemm', op !== 'gemm'), ...productBugs(op) }),
  ),
  ...mutantsOf('batchedGemm:', ['batchedGemm'], BATCH_BUGS),
  ...mutantsOf('conv2dForward:', ['conv2dForward'], { ...bugsOf('conv2dForward', true), ...CONVOLUTION_BUGS }),
];
