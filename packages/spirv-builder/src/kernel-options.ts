import { StorageClass } from './generated/spirv.ts';
import { SpirvError } from './spirv-error.ts';
import { holds, nameOf, type Type } from './type.ts';

/** The declaration of a kernel, besides its parameters. */
export interface KernelOptions {
  /** Work-items of a group along x, y and z; fixed, so that the compiler can use it. */
  readonly localSize?: readonly [number, number, number];
  /** Sub-groups of this size. */
  readonly subgroupSize?: number;
  /** No multiplication and addition is made one with a single rounding, but by `fma`. Default: the compiler chooses. */
  readonly contraction?: 'off';
  /** Bytes that the addresses of pointer parameters are multiples of. */
  readonly align?: Readonly<Record<string, number>>;
}

const MAX_PARAMETERS = 255;
const KERNEL_POINTERS: readonly number[] = [
  StorageClass.CrossWorkgroup,
  StorageClass.Workgroup,
  StorageClass.UniformConstant,
];

/** @throws {SpirvError} for a name that a module cannot hold */
export function checkName(place: string, name: string): void {
  // Half of a surrogate pair has no UTF-8, and a zero ends a string.
  if (/[\0\ud800-\udfff]/u.test(name)) throw new SpirvError(place, 'a name has no zeros and no half characters');
}

/** @throws {SpirvError} for parameters that no function can have */
export function checkParameters(place: string, parameters: readonly (readonly [string, Type])[]): void {
  if (parameters.length > MAX_PARAMETERS) {
    throw new SpirvError(place, `has ${parameters.length} parameters, and can have ${MAX_PARAMETERS}`);
  }
  for (const [name, type] of parameters) {
    checkName(place, name);
    // JavaScript puts such names before all others, so the parameters would not be in the order written.
    if (/^(0|[1-9]\d*)$/.test(name)) throw new SpirvError(place, `a parameter cannot be called ${name}, a number`);
    if (type.kind === 'void') throw new SpirvError(`${place}, parameter ${name}`, 'cannot be void');
  }
}

/** @throws {SpirvError} for parameters that a kernel cannot have, and for options that say nothing or the impossible */
export function checkKernel(
  place: string,
  parameters: Readonly<Record<string, Type>>,
  { localSize, subgroupSize, contraction, align = {} }: KernelOptions,
): void {
  for (const [name, type] of Object.entries(parameters)) {
    const refuse = (problem: string): never => {
      throw new SpirvError(`${place}, parameter ${name}`, problem);
    };
    if (holds(type, ({ kind }) => kind === 'bool')) refuse(`cannot be ${nameOf(type)}: booleans have no bits`);
    if (type.kind === 'pointer' && !KERNEL_POINTERS.includes(type.storage)) {
      refuse('a kernel takes pointers to global, constant or workgroup memory');
    }
  }
  if (localSize !== undefined && (localSize.length !== 3 || !localSize.every(isCount))) {
    throw new SpirvError(`${place}, localSize`, `is ${String(localSize)}, expected three whole numbers from 1 on`);
  }
  if (subgroupSize !== undefined && !isCount(subgroupSize)) {
    throw new SpirvError(`${place}, subgroupSize`, `is ${String(subgroupSize)}, expected a whole number from 1 on`);
  }
  if (contraction !== undefined && contraction !== 'off') {
    throw new SpirvError(`${place}, contraction`, `is ${String(contraction)}, expected off`);
  }
  for (const name of Object.keys(align)) {
    if (parameters[name]?.kind !== 'pointer') throw new SpirvError(`${place}, align`, `there is no pointer ${name}`);
  }
}

const isCount = (count: number): boolean => count >= 1 && count >>> 0 === count;
