import type { ConstantTable } from './constant-table.ts';
import type { Requirements, Sections } from './sections.ts';
import {
  isAlignment,
  type LabelId,
  nameOf,
  type PointerType,
  type ScalarType,
  type Type,
  type TypeId,
  type ValueId,
} from './type.ts';
import type { TypeTable } from './type-table.ts';
import { nameOfOther, type Operand, type Region, type Value } from './value.ts';
import { Decoration, Op } from './generated/spirv.ts';
import { SpirvError } from './spirv-error.ts';
import { pushInstruction } from './words.ts';

/** The tables that the functions of a module share. */
export interface ModuleContext {
  /** The module, which its values carry. */
  readonly module: object;
  readonly sections: Sections;
  readonly types: TypeTable;
  readonly constants: ConstantTable;
  readonly requirements: Requirements;
  /** Id of the OpenCL.std instruction set. */
  openCl(): number;
  /** The input variable of a built-in of the kernel environment. */
  builtIn(builtIn: number, type: Type): Value;
  /** Returns whether it is a function of the module, and complete. */
  hasFunction(handle: object): boolean;
}

/** The declaration of a function. */
interface Declaration {
  readonly id: ValueId;
  readonly type: TypeId;
  readonly result: Type;
  readonly control: number;
  readonly parameters: readonly Value[];
}

/**
 * The code of one function while it is written: appends instructions to the current block and refuses operands that would
 * not be valid there. The instructions of `ops/` are written with it.
 */
export class FunctionBody {
  /** The place for messages: `kernel gemm`. */
  readonly place: string;
  readonly context: ModuleContext;
  readonly types: TypeTable;
  /** Kernels have built-ins and workgroup memory, other functions do not. */
  readonly isKernel: boolean;
  readonly #entry: LabelId;
  /** OpVariable has to stand at the start of the first block, wherever in the code it is asked for. */
  readonly #variables: number[] = [];
  readonly #instructions: number[] = [];
  readonly #regions: Region[] = [];
  readonly #inputs = new Set<Value>();
  #block: LabelId | undefined;
  /** An exception left a branch or loop, whose blocks have no end. */
  #isBroken = false;

  constructor(place: string, context: ModuleContext, isKernel: boolean) {
    this.place = place;
    this.context = context;
    this.types = context.types;
    this.isKernel = isKernel;
    this.#regions.push({ owner: this, isOpen: true });
    this.#entry = this.newLabel();
    this.#block = this.#entry;
  }

  /** The block that instructions are appended to: the parent of a phi's value. */
  get block(): LabelId {
    if (this.#block === undefined) throw this.error('code', 'the function is already complete');
    return this.#block;
  }

  newLabel(): LabelId {
    return this.context.sections.nextId() as LabelId;
  }

  newValue(type: Type): Value {
    return this.#valueIn(this.#regions.at(-1), type);
  }

  /** A value that lives as long as the function, whatever branch or loop asks for it. */
  newVariable(type: PointerType): Value {
    return this.#valueIn(this.#regions[0], type);
  }

  /** A variable of the function, at the start of its first block. */
  declareVariable(type: PointerType, ...operands: readonly number[]): Value {
    const result = this.newVariable(type);
    pushInstruction(this.#variables, Op.Variable, [type.id, result.id, ...operands]);
    return result;
  }

  /** A parameter; an alignment says that the address is a multiple of this many bytes. */
  parameter(type: Type, align: number | undefined): Value {
    const value = this.newValue(type);
    if (align === undefined) return value;
    if (!isAlignment(align)) throw this.error('align', `${align} is not a power of two`);
    this.context.sections.push('decorations', Op.Decorate, value.id, Decoration.Alignment, align);
    return value;
  }

  /** The variable of a built-in, which the entry point has to name. */
  input(builtIn: number, type: Type): Value {
    const input = this.context.builtIn(builtIn, type);
    this.#inputs.add(input);
    return input;
  }

  /** Starts a block; the one before must have been ended by `terminate`. */
  startBlock(label: LabelId): void {
    if (this.#block !== undefined) throw this.error('code', 'the block before has no end');
    pushInstruction(this.#instructions, Op.Label, [label]);
    this.#block = label;
  }

  /** Appends an instruction that ends the block. */
  terminate(op: Op, ...operands: readonly number[]): void {
    this.perform(op, ...operands);
    this.#block = undefined;
  }

  /** Runs `write` in its own region, whose values end with it; gives what it gives. */
  inRegion<T>(write: () => T): T {
    const region = { owner: this, isOpen: true };
    this.#regions.push(region);
    try {
      return write();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    } finally {
      region.isOpen = false;
      this.#regions.pop();
    }
  }

  /** Appends an instruction with a result. */
  emit(op: Op, type: Type, ...operands: readonly number[]): Value {
    const result = this.newValue(type);
    this.perform(op, type.id, result.id, ...operands);
    return result;
  }

  /** Appends an instruction without a result, or with one that the caller made. Returns where its words begin. */
  perform(op: Op, ...operands: readonly number[]): number {
    if (this.#block === undefined) throw this.error('code', 'the function is already complete');
    const start = this.#instructions.length;
    pushInstruction(this.#instructions, op, operands);
    return start;
  }

  /** Sets a word that was not known when its instruction was appended. */
  patch(position: number, word: number): void {
    this.#instructions[position] = word;
  }

  /** Checks that a value can be used here. */
  use(value: Value, instruction: string, operand: string): Value {
    if (typeof value !== 'object' || value === null || value.module === undefined) {
      throw this.error(instruction, `${operand} is not a value: got ${nameOfOther(value)}`);
    }
    if (value.module !== this.context.module) {
      throw this.error(instruction, `${operand} belongs to another module`);
    }
    if (value.region !== undefined && !value.region.isOpen) {
      throw this.error(instruction, `${operand} is used outside of the branch, loop or function that defines it`);
    }
    if (value.region !== undefined && value.region.owner !== this) {
      throw this.error(instruction, `${operand} belongs to another function`);
    }
    if (value.type.kind === 'void') throw this.error(instruction, `${operand} is of a function that gives nothing`);
    return value;
  }

  /** Makes an operand of the given type, or refuses it. */
  operand(operand: Operand, type: Type, instruction: string, name: string): Value {
    if (typeof operand !== 'object') return this.#literal(type, operand, instruction, `${name}: `);
    const value = this.use(operand, instruction, name);
    if (value.type !== type) {
      throw this.error(instruction, `${name} is ${nameOf(value.type)}, expected ${nameOf(type)}`);
    }
    return value;
  }

  /** A constant of the given type, the same in each component of a vector. */
  constant(type: Type, value: number | bigint | boolean): Value {
    return this.#literal(type, value, 'constant', '');
  }

  /** Id of a constant of u32, as which instructions take scopes and semantics. */
  u32(value: number): ValueId {
    return this.constant(this.types.int(32), value).id;
  }

  /** Does what may throw without a place in this function, and says the place. */
  placed<T>(instruction: string, name: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw error instanceof SpirvError ? this.error(instruction, name + error.problem) : error;
    }
  }

  error(instruction: string, message: string): SpirvError {
    return new SpirvError(`${this.place}, ${instruction}`, message);
  }

  /** Ends the function: its words, and the variables that its entry point has to name. */
  complete(
    { id, type, result, control, parameters }: Declaration,
    returned: Operand | undefined,
  ): { readonly words: readonly number[]; readonly interfaces: readonly number[] } {
    if (result.kind === 'void') this.terminate(Op.Return);
    else this.terminate(Op.ReturnValue, this.operand(returned as Operand, result, 'return', 'value').id);
    if (this.#isBroken) throw this.error('code', 'an exception left a branch or loop, which has no end');
    for (const region of this.#regions) region.isOpen = false;
    const words: number[] = [];
    pushInstruction(words, Op.Function, [result.id, id, control, type]);
    for (const { id: parameter, type: declared } of parameters) {
      pushInstruction(words, Op.FunctionParameter, [declared.id, parameter]);
    }
    pushInstruction(words, Op.Label, [this.#entry]);
    for (const part of [this.#variables, this.#instructions]) for (const word of part) words.push(word);
    pushInstruction(words, Op.FunctionEnd, []);
    // Before SPIR-V 1.4 an entry point names its inputs only.
    return { words, interfaces: [...this.#inputs].map((input) => input.id) };
  }

  #valueIn(region: Region | undefined, type: Type): Value {
    if (region?.isOpen !== true) throw this.error('code', 'the function is already complete');
    this.context.requirements.valuesOf(type);
    return { id: this.context.sections.nextId() as ValueId, type, module: this.context.module, region };
  }

  #literal(type: Type, value: number | bigint | boolean, instruction: string, name: string): Value {
    const { constants } = this.context;
    return this.placed(instruction, name, () => {
      this.types.expect(type, instruction);
      if (type.kind !== 'vector') return constants.scalar(type as ScalarType, value);
      const scalar = constants.scalar(type.component, value);
      return constants.composite(
        type,
        Array.from({ length: type.count }, () => scalar),
      );
    });
  }
}
