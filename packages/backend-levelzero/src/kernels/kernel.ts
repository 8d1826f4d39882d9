import { madeOnce } from '@concord/kernel';
import { type FunctionBuilder, ModuleBuilder, type PointerType, type Type, type Value } from '@concord/spirv-builder';

/** The content of the memory behind a pointer. */
export type Pointee = 'f32' | 'f16' | 'u32' | 'u16' | 'u8';

/** A parameter of a kernel: an address in device memory (`type: 'pointer'`), or a value. */
export interface Parameter {
  readonly name: string;
  readonly type: 'pointer' | 'u32' | 'u64' | 'f32';
  /** The type that a pointer points to. */
  readonly pointee?: Pointee;
}

/** A specialisation constant, and the value that this kernel has it with. */
export interface SpecConstant {
  /** The module's SpecId. */
  readonly id: number;
  readonly type: 'u32';
  readonly value: number;
}

/** A SPIR-V module with one entry point, `main`: the unit that is built and cached. */
export interface Kernel {
  /** The name for messages: family, variant and parameters, such as `gemm/local f32 64x64`. Unique in the backend. */
  readonly name: string;
  /** The parameters in the order of the module. */
  readonly parameters: readonly Parameter[];
  /** Work-items of a group along x, y and z: the module's LocalSize. */
  readonly groupSize: readonly [number, number, number];
  /** Empty for most kernels. */
  readonly constants: readonly SpecConstant[];
  /** Options for the driver's compiler; empty for most kernels. */
  readonly flags: string;
  /** The module; emitted at the first call and kept. */
  words(): Uint32Array;
}

/** Types as kernels are written: `f32`, `u64`, and so on. */
export type ParameterType = `${Pointee}*` | 'u32' | 'u64' | 'f32';

/** The builder that the code of a kernel is written with. */
export interface KernelScope<Names extends string, Constants extends string> {
  readonly module: ModuleBuilder;
  /** Parameters by name. */
  readonly args: Readonly<Record<Names, Value>>;
  /** Specialisation constants by name, as u32. */
  readonly constants: Readonly<Record<Constants, Value>>;
}

/** The definition of a kernel for {@link defineKernel}. */
export interface KernelSource<Names extends string, Constants extends string> {
  readonly name: string;
  /** Types of the parameters by name, in order: `{ input: 'f32*', n: 'u64' }`. */
  readonly parameters: Readonly<Record<Names, ParameterType>>;
  readonly groupSize: readonly [number, number, number];
  /**
   * Numbers that the driver's compiler gets as constants, so that kernels that differ in them alone share a module. SpecIds
   * are 0, 1, ... in this order; `fallback` is what the module holds until the driver is told `value`.
   */
  readonly constants?: Readonly<Record<Constants, { readonly value: number; readonly fallback: number }>>;
  /** Sub-groups of this size are asked for; else the driver's compiler decides. */
  readonly subgroupSize?: number | undefined;
  /** Twice the registers for half the threads, on devices that have the choice; others ignore it. */
  readonly registers?: 'large' | undefined;
  /** `off`: products and sums do not become one instruction with one rounding. Default: they may. */
  readonly contraction?: 'off' | undefined;
  /** Writes the code of `main`. */
  readonly write: (k: FunctionBuilder, scope: KernelScope<Names, Constants>) => void;
}

/** A build option of Level Zero: 256 registers a thread, not 128. */
const LARGE_REGISTER_FILE = '-ze-opt-large-register-file';

/** Completes a kernel, whose module is emitted when it is first wanted. */
export function defineKernel<Names extends string, Constants extends string = never>(
  source: KernelSource<Names, Constants>,
): Kernel {
  let words: Uint32Array | undefined;
  const constants = Object.values<{ value: number }>(source.constants ?? {});
  return {
    name: source.name,
    parameters: Object.entries<ParameterType>(source.parameters).map(([name, type]) =>
      isPointer(type) ? { name, type: 'pointer', pointee: pointeeOf(type) } : { name, type },
    ),
    groupSize: source.groupSize,
    constants: constants.map(({ value }, id) => ({ id, type: 'u32', value })),
    flags: source.registers === 'large' ? LARGE_REGISTER_FILE : '',
    words: () => (words ??= emit(source)),
  };
}

/** Makes `define` give the same kernel object for the same parameters, so that built modules are found by it. */
export function variants<Params extends object>(define: (params: Params) => Kernel): (params: Params) => Kernel {
  const made = new Map<string, Kernel>();
  return (params) => {
    const key = JSON.stringify(params);
    return madeOnce(made, key, () => define(params));
  };
}

function emit<Names extends string, Constants extends string>(source: KernelSource<Names, Constants>): Uint32Array {
  const module = new ModuleBuilder();
  const parameters = mapValues(source.parameters, (type) => parameterType(module, type));
  let id = 0;
  const none = {} as Readonly<Record<Constants, { value: number; fallback: number }>>;
  const constants = mapValues(source.constants ?? none, ({ fallback }, name) => {
    const constant = module.specConstant(module.int(32), fallback, id++);
    module.name(constant, name);
    return constant;
  });
  const { groupSize: localSize, subgroupSize, contraction, write } = source;
  const options = {
    localSize,
    ...(subgroupSize === undefined ? {} : { subgroupSize }),
    ...(contraction === undefined ? {} : { contraction }),
  };
  module.kernel('main', parameters, (k, args) => write(k, { module, args, constants }), options);
  return module.build();
}

function parameterType(module: ModuleBuilder, type: ParameterType): Type {
  if (isPointer(type)) return pointerType(module, pointeeOf(type));
  return type === 'f32' ? module.float(32) : module.int(type === 'u32' ? 32 : 64);
}

function pointerType(module: ModuleBuilder, pointee: Pointee): PointerType {
  const [, kind, bits] = /^([fu])(\d+)$/.exec(pointee) as unknown as [string, string, string];
  const width = Number(bits);
  return module.globalPointer(kind === 'f' ? module.float(width as 16 | 32) : module.int(width as 8 | 16 | 32));
}

const isPointer = (type: ParameterType): type is `${Pointee}*` => type.endsWith('*');
const pointeeOf = (type: `${Pointee}*`): Pointee => type.slice(0, -1) as Pointee;

function mapValues<Names extends string, From, To>(
  record: Readonly<Record<Names, From>>,
  map: (value: From, name: Names) => To,
): Record<Names, To> {
  const entries = Object.entries<From>(record) as [Names, From][];
  return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)])) as Record<Names, To>;
}
