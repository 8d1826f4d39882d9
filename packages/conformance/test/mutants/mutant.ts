import type { ComputeBackend, OpCalls, StoredFloatDType } from '@concord/backend-core';
import type {
  DefinedOp,
  Operand,
  ResolvedAttention,
  ResolvedConv2d,
  ResolvedGemm,
  ResolvedRun,
} from '@concord/backend-core/implement';
import type { CpuBackend } from '@concord/backend-cpu';
import type { CaseSubject } from '../../src/index.ts';

/** A bug planted into the CPU backend. The cases of its `ops` must find it. */
export interface Mutant {
  readonly name: string;
  readonly ops: readonly CaseSubject[];
  /** Of the cases of `ops` those that must find it; default: all. */
  readonly within?: RegExp;
  /** Puts the bug around a new backend object. */
  readonly wrap: (backend: CpuBackend) => ComputeBackend;
}

/** A bug, planted around a new backend object. */
export type Wrap = Mutant['wrap'];

/** A mutant for each of some bugs, whose names begin with `what`. */
export function mutantsOf(
  what: string,
  ops: Mutant['ops'],
  bugs: Readonly<Record<string, Wrap>>,
  within?: RegExp,
): Mutant[] {
  return Object.entries(bugs).map(([name, wrap]) => ({
    ...{ name: `${what} ${name}`, ops, wrap },
    ...(within === undefined ? {} : { within }),
  }));
}

/** The input of each of a backend's kernels after all checks: where the bugs of a real kernel sit. */
export interface KernelCalls {
  gemm: ResolvedGemm<ArrayBuffer>;
  conv2dForward: ResolvedConv2d<ArrayBuffer>;
  attention: ResolvedAttention<ArrayBuffer>;
  run: ResolvedRun<ArrayBuffer>;
}

/** Replaces one kernel, after the checks. `run` is the right one. */
export function inKernel<Name extends keyof KernelCalls>(
  name: Name,
  bug: (call: KernelCalls[Name], run: (call: KernelCalls[Name]) => void) => void,
): Mutant['wrap'] {
  return (backend) => {
    type Kernels = { [Own in Name]: { readonly run: (call: KernelCalls[Name]) => void } };
    const { kernels } = backend as unknown as { readonly kernels: Kernels };
    const { [name]: right } = kernels;
    kernels[name] = { ...right, run: (call) => bug(call, (changed) => right.run(changed)) };
    return backend;
  };
}

/** Replaces public methods, in front of the checks; the rest is the backend's. */
export function inFront(overrides: (backend: CpuBackend) => Partial<ComputeBackend>): Mutant['wrap'] {
  return (backend) => {
    const replaced = overrides(backend);
    return new Proxy<ComputeBackend>(backend, {
      get(target, key) {
        const from = Object.hasOwn(replaced, key) ? replaced : target;
        const value: unknown = Reflect.get(from, key);
        return typeof value === 'function' ? (value.bind(from) as unknown) : value;
      },
    });
  };
}

type Method = keyof {
  [
    Name in keyof ComputeBackend & keyof CpuBackend as CpuBackend[Name] extends (...given: never) => unknown
      ? Name
      : never
  ]: Name;
};

/** Replaces one public method, in front of the checks. */
export function inMethod<Name extends Method>(
  name: Name,
  bug: (backend: CpuBackend, ...given: Parameters<CpuBackend[Name]>) => ReturnType<CpuBackend[Name]>,
): Mutant['wrap'] {
  return inFront((backend) => ({ [name]: (...given: Parameters<CpuBackend[Name]>) => bug(backend, ...given) }));
}

/** Changes the arguments of one op, in front of the checks. */
export function inCall<Op extends DefinedOp>(
  op: Op,
  bug: (call: OpCalls[Op], run: (call: OpCalls[Op]) => void, backend: CpuBackend) => void,
): Mutant['wrap'] {
  return inFront((backend) => {
    const run = (backend[op] as (call: OpCalls[Op]) => void).bind(backend);
    return { [op]: (call: OpCalls[Op]) => bug(call, run, backend) };
  });
}

/** The elements of an operand, not a copy; f16 as bits. */
export function storage(operand: Operand<ArrayBuffer>, dtype: StoredFloatDType): Float32Array | Uint16Array {
  const { buffer, byteOffset, byteLength } = operand;
  return dtype === 'f32'
    ? new Float32Array(buffer, byteOffset, byteLength / 4)
    : new Uint16Array(buffer, byteOffset, byteLength / 2);
}

/** The float32 elements of an operand, not a copy. */
export function floats(operand: Operand<ArrayBuffer>): Float32Array {
  return storage(operand, 'f32') as Float32Array;
}

/** The bytes that follow an operand in its buffer, not a copy. */
export function bytesBehind({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset + byteLength);
}

/** Keeps `bits` bits of a mantissa, rounding to nearest: 10 is tf32, 7 is bf16. */
export function roundMantissa(bits: number): (x: number) => number {
  return (x) => {
    if (!Number.isFinite(x) || x === 0) return x;
    const step = 2 ** (Math.floor(Math.log2(Math.abs(x))) - bits);
    return Math.round(x / step) * step;
  };
}
