import { ConstantTable } from './constant-table.ts';
import { FunctionBody, type ModuleContext } from './function-body.ts';
import { type FunctionBuilder, functionBuilder } from './function-builder.ts';
import {
  AddressingModel,
  Capability,
  Decoration,
  ExecutionMode,
  ExecutionModel,
  FunctionControl,
  LinkageType,
  MemoryModel,
  Op,
  StorageClass,
} from './generated/spirv.ts';
import type { FloatType, IntType, PointerType, ScalarType, Type, ValueId, VectorCount, VectorType } from './type.ts';
import { checkKernel, checkName, checkParameters, type KernelOptions } from './kernel-options.ts';
import type { FunctionHandle } from './ops/calls.ts';
import { Requirements, Sections } from './sections.ts';
import { SpirvError } from './spirv-error.ts';
import { TypeTable } from './type-table.ts';
import type { Operand, Value } from './value.ts';
import { encodeString } from './words.ts';

type Parameters<Names extends string> = Readonly<Record<Names, Type>>;
type Arguments<Names extends string> = Readonly<Record<Names, Value>>;

/**
 * A SPIR-V module for kernels: OpenCL's memory model, 64-bit addresses. Declares what the code needs, and refuses code that
 * would not be valid.
 *
 * @example
 * const module = new ModuleBuilder();
 * const f32 = module.float(32);
 * module.kernel('double', { x: module.globalPointer(f32) }, (k, { x }) => {
 *   const element = k.at(x, k.globalId(0));
 *   k.store(element, k.mul(k.load(element), 2));
 * });
 * const words = module.build();
 */
export class ModuleBuilder {
  readonly #sections = new Sections();
  readonly #requirements = new Requirements(this.#sections);
  readonly #builtIns = new Map<number, Value>();
  readonly #context: ModuleContext;
  readonly #kernels = new Set<string>();
  readonly #imports = new Set<string>();
  #openCl: number | undefined;
  /** Functions that are being written: one may be started while another is, to be called there. */
  readonly #open = new Set<FunctionBody>();
  readonly #functions = new Set<object>();

  /** Types other than the common ones that have their own methods here. */
  readonly types: TypeTable;
  readonly #constants: ConstantTable;

  constructor() {
    this.types = new TypeTable(this.#sections, this.#requirements);
    this.#constants = new ConstantTable(this.#sections, this.types, this.#requirements, this);
    this.#sections.push('memoryModel', Op.MemoryModel, AddressingModel.Physical64, MemoryModel.OpenCL);
    this.#context = {
      module: this,
      sections: this.#sections,
      types: this.types,
      constants: this.#constants,
      requirements: this.#requirements,
      openCl: () => this.#importOpenCl(),
      builtIn: (builtIn, type) => this.#builtIn(builtIn, type),
      hasFunction: (handle) => this.#functions.has(handle),
    };
  }

  int(width: IntType['width']): IntType {
    return this.types.int(width);
  }
  float(width: FloatType['width']): FloatType {
    return this.types.float(width);
  }
  vector(component: ScalarType, count: VectorCount): VectorType {
    return this.types.vector(component, count);
  }
  /** A pointer to device memory. */
  globalPointer(pointee: Type): PointerType {
    return this.types.pointer(StorageClass.CrossWorkgroup, pointee);
  }
  /** A pointer to workgroup memory; as a parameter, its size is set at launch. */
  localPointer(pointee: Type): PointerType {
    return this.types.pointer(StorageClass.Workgroup, pointee);
  }

  /** @throws {SpirvError} for a value that the type cannot hold */
  constant(type: ScalarType, value: number | bigint | boolean): Value {
    return this.#constants.scalar(type, value);
  }
  /** A constant that the driver may be told another value for, under `specId`, when it builds the module. */
  specConstant(type: ScalarType, value: number | bigint | boolean, specId: number): Value {
    return this.#constants.specialisable(type, value, specId);
  }
  /** The result of an integer operation on specialisation constants. */
  specOperation(operation: 'add' | 'sub' | 'mul' | 'udiv' | 'umod', a: Value, b: Value): Value {
    if (a.module !== this || b.module !== this || a.type !== b.type || !a.integer || !b.integer) {
      throw new SpirvError('specialisation constant', 'an operation takes two integer constants of one type');
    }
    const op = { add: Op.IAdd, sub: Op.ISub, mul: Op.IMul, udiv: Op.UDiv, umod: Op.UMod }[operation];
    if (op === undefined) throw new SpirvError('specialisation constant', `there is no operation ${String(operation)}`);
    return this.#constants.specialisedOperation(a.type, op, [a, b]);
  }

  /** A kernel: an entry point, whose parameters are set by name here and by number at launch. */
  kernel<Names extends string>(
    name: string,
    parameters: Parameters<Names>,
    write: (k: FunctionBuilder, parameters: Arguments<Names>) => void,
    options: KernelOptions = {},
  ): void {
    this.#expectNew(`kernel ${name}`, name);
    checkKernel(`kernel ${name}`, parameters, options);
    this.#kernels.add(name);
    const nothing = this.types.void();
    const { id, interfaces } = this.#write(`kernel ${name}`, parameters, nothing, options, FunctionControl.None, write);
    this.#sections.push('entryPoints', Op.EntryPoint, ExecutionModel.Kernel, id, ...encodeString(name), ...interfaces);
    if (options.localSize !== undefined) {
      this.#sections.push('executionModes', Op.ExecutionMode, id, ExecutionMode.LocalSize, ...options.localSize);
    }
    if (options.subgroupSize !== undefined) {
      this.#requirements.capability(Capability.SubgroupDispatch);
      this.#sections.push('executionModes', Op.ExecutionMode, id, ExecutionMode.SubgroupSize, options.subgroupSize);
    }
    if (options.contraction === 'off') {
      this.#sections.push('executionModes', Op.ExecutionMode, id, ExecutionMode.ContractionOff);
    }
  }

  /** A function that kernels can call. Built-ins are for kernels: pass what a function needs of them. */
  function<Names extends string>(
    name: string,
    parameters: Parameters<Names>,
    result: Type,
    write: (k: FunctionBuilder, parameters: Arguments<Names>) => Operand,
  ): FunctionHandle {
    const { id } = this.#write(`function ${name}`, parameters, result, undefined, FunctionControl.Inline, write);
    return this.#handle(name, id, result, Object.values<Type>(parameters));
  }

  /**
   * A function that the driver's compiler has, such as one of Intel's built-ins: to be called like the module's own.
   *
   * @param name - as the compiler knows it, mangled: `_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f`
   */
  importFunction<Names extends string>(name: string, parameters: Parameters<Names>, result: Type): FunctionHandle {
    const place = `import ${name}`;
    this.#expectNew(place, name);
    const entries = this.#parameters(place, parameters, result);
    this.#imports.add(name);
    const types = entries.map(([, parameter]) => parameter);
    const type = this.types.function(result, types);
    const id = this.#sections.nextId() as ValueId;
    this.#requirements.capability(Capability.Linkage);
    const linkage = [Decoration.LinkageAttributes, ...encodeString(name), LinkageType.Import];
    this.#sections.push('decorations', Op.Decorate, id, ...linkage);
    this.#sections.push('importedFunctions', Op.Function, result.id, id, FunctionControl.None, type);
    for (const [parameterName, parameter] of entries) {
      this.#requirements.valuesOf(parameter);
      const parameterId = this.#sections.nextId();
      this.#sections.push('importedFunctions', Op.FunctionParameter, parameter.id, parameterId);
      this.#sections.push('names', Op.Name, parameterId, ...encodeString(parameterName));
    }
    this.#sections.push('importedFunctions', Op.FunctionEnd);
    return this.#handle(name, id, result, types);
  }

  /** A name that `spirv-dis` and its like show. */
  name(value: Value, name: string): void {
    checkName('name', name);
    if (value?.module !== this) throw new SpirvError(`name ${name}`, 'is for a value of this module');
    this.#sections.push('names', Op.Name, value.id, ...encodeString(name));
  }

  /** The module. More may be added afterwards, and it built again. */
  build(): Uint32Array {
    const [open] = this.#open;
    if (open !== undefined) {
      throw new SpirvError(open.place, 'the function has no end yet: its code is running, or an exception left it');
    }
    if (this.#kernels.size === 0) throw new SpirvError('module', 'has no kernel');
    return this.#sections.concatenate();
  }

  /** Entry points and imports are told apart by their names. */
  #expectNew(place: string, name: string): void {
    if (this.#kernels.has(name)) throw new SpirvError(place, 'there is a kernel of this name');
    if (this.#imports.has(name)) throw new SpirvError(place, 'there is an import of this name');
    checkName(place, name);
  }

  #parameters(place: string, parameters: Parameters<string>, result: Type): (readonly [string, Type])[] {
    const entries = Object.entries<Type>(parameters);
    for (const each of [result, ...entries.map(([, parameter]) => parameter)]) this.types.expect(each, place);
    checkParameters(place, entries);
    return entries;
  }

  #handle(name: string, id: ValueId, result: Type, parameters: readonly Type[]): FunctionHandle {
    const handle = Object.freeze({ name, id, result, parameters });
    this.#functions.add(handle);
    return handle;
  }

  #write<Names extends string>(
    place: string,
    parameters: Parameters<Names>,
    result: Type,
    options: KernelOptions | undefined,
    control: number,
    write: (k: FunctionBuilder, parameters: Arguments<Names>) => Operand | void,
  ): { id: ValueId; interfaces: readonly number[] } {
    const entries = this.#parameters(place, parameters, result);
    const type = this.types.function(
      result,
      entries.map(([, parameter]) => parameter),
    );
    const id = this.#sections.nextId() as ValueId;
    const body = new FunctionBody(place, this.#context, options !== undefined);
    this.#open.add(body);
    const values = entries.map(([name, parameter]) => {
      const value = body.parameter(parameter, options?.align?.[name]);
      this.name(value, name);
      return value;
    });
    const given = Object.fromEntries(entries.map(([name], index) => [name, values[index]])) as Arguments<Names>;
    // Left open when `write` throws: half a function is in no module.
    const returned = write(functionBuilder(body), given) as unknown;
    if (returned instanceof Promise)
      throw new SpirvError(place, 'code cannot be asynchronous: it ends when it returns');
    const declaration = { id, type, result, control, parameters: values };
    const { words, interfaces } = body.complete(declaration, returned as Operand | undefined);
    this.#sections.append('functions', words);
    this.#open.delete(body);
    return { id, interfaces };
  }

  #importOpenCl(): number {
    if (this.#openCl === undefined) {
      this.#openCl = this.#sections.nextId();
      this.#sections.push('imports', Op.ExtInstImport, this.#openCl, ...encodeString('OpenCL.std'));
    }
    return this.#openCl;
  }

  /** Declared as OpenCL's compilers do: imported, constant, and read with one load. */
  #builtIn(builtIn: number, type: Type): Value {
    let input = this.#builtIns.get(builtIn);
    if (input === undefined) {
      const pointer = this.types.pointer(StorageClass.Input, type);
      const id = this.#sections.nextId() as ValueId;
      this.#sections.push('declarations', Op.Variable, pointer.id, id, StorageClass.Input);
      this.#sections.push('decorations', Op.Decorate, id, Decoration.BuiltIn, builtIn);
      this.#sections.push('decorations', Op.Decorate, id, Decoration.Constant);
      input = { id, type: pointer, module: this, region: undefined };
      this.#builtIns.set(builtIn, input);
    }
    return input;
  }
}
