import { type ConstantTable, scalarWords } from './constant-table.ts';
import { Op } from './generated/opcodes.ts';
import type { LabelId, ValueId } from './ids.ts';
import type { Requirements } from './requirements.ts';
import type { Sections } from './sections.ts';
import { SpirvError } from './spirv-error.ts';
import { componentOf, nameOf, type PointerType, type ScalarType, type Type, type VectorType } from './type.ts';
import type { TypeTable } from './type-table.ts';
import { nameOfOther, type Operand, type Region, type Value } from './value.ts';
import { pushInstruction } from './words.ts';

/** What functions share: the tables of their module. */
export interface ModuleContext {
  readonly sections: Sections;
  readonly types: TypeTable;
  readonly constants: ConstantTable;
  readonly requirements: Requirements;
  /** Id of the OpenCL.std instruction set. */
  openCl(): number;
  /** The input variable of a built-in of the kernel environment. */
  builtIn(builtIn: number, type: Type): Value;
  /** Whether it is a function of the module, and complete. */
  hasFunction(handle: object): boolean;
}

/**
 * The code of one function while it is written: appends instructions to the current block and refuses operands that
 * would not be valid there. The builders of instructions stand on it.
 */
export abstract class BlockBuilder {
  /** For messages: `kernel gemm`. */
  readonly place: string;
  protected readonly context: ModuleContext;
  /** Types of the module, for vectors and pointers to be made in kernels. */
  readonly types: TypeTable;
  readonly #module: object;
  /** OpVariable has to stand at the start of the first block, wherever in the code it is asked for. */
  readonly #variables: number[] = [];
  readonly #body: number[] = [];
  readonly #regions: Region[] = [];
  #block: LabelId | undefined;
  /** An exception left a branch or loop, whose blocks have no end. */
  #isBroken = false;

  constructor(place: string, module: object, context: ModuleContext) {
    this.place = place;
    this.#module = module;
    this.context = context;
    this.types = context.types;
    this.#regions.push({ owner: this, isOpen: true });
  }

  /** A constant of the given type, the same in each component of a vector. */
  constant(type: Type, value: number | bigint | boolean): Value {
    return this.#literal(type, value, 'constant', '');
  }

  /** The block that instructions are appended to: the parent of a phi's value. */
  protected get block(): LabelId {
    if (this.#block === undefined) throw this.error('code', 'the function is already complete');
    return this.#block;
  }

  protected newLabel(): LabelId {
    return this.context.sections.nextId() as LabelId;
  }

  protected newValue(type: Type): Value {
    const region = this.#regions.at(-1);
    return this.#valueIn(region, type);
  }

  /** A value that lives as long as the function, whatever branch or loop asks for it. */
  protected newVariable(type: PointerType): Value {
    return this.#valueIn(this.#regions[0], type);
  }

  /** Starts a block; the one before must have been ended by `terminate`. */
  protected startBlock(label: LabelId): void {
    if (this.#block !== undefined) throw this.error('code', 'the block before has no end');
    pushInstruction(this.#body, Op.Label, [label]);
    this.#block = label;
  }

  protected terminate(op: Op, ...operands: readonly number[]): void {
    this.perform(op, ...operands);
    this.#block = undefined;
  }

  /** Runs `write` in a region of its own, whose values end with it; gives what it gives. */
  protected inRegion<T>(write: () => T): T {
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
  protected emit(op: Op, type: Type, ...operands: readonly number[]): Value {
    const result = this.newValue(type);
    this.perform(op, type.id, result.id, ...operands);
    return result;
  }

  /** Appends an instruction without a result, or with one that the caller made. Returns where its words begin. */
  protected perform(op: Op, ...operands: readonly number[]): number {
    if (this.#block === undefined) throw this.error('code', 'the function is already complete');
    const start = this.#body.length;
    pushInstruction(this.#body, op, operands);
    return start;
  }

  /** Sets a word that was not known when its instruction was appended. */
  protected patch(position: number, word: number): void {
    this.#body[position] = word;
  }

  protected declareVariable(type: PointerType, ...operands: readonly number[]): Value {
    const result = this.newVariable(type);
    pushInstruction(this.#variables, Op.Variable, [type.id, result.id, ...operands]);
    return result;
  }

  /** The whole code, after the end of the last block. */
  protected finish(entry: LabelId): number[] {
    if (this.#isBroken) throw this.error('code', 'an exception left a branch or loop, which has no end');
    const [body] = this.#regions;
    if (body !== undefined) body.isOpen = false;
    // The label of the first block comes before its variables.
    const label: number[] = [];
    pushInstruction(label, Op.Label, [entry]);
    return [...label, ...this.#variables, ...this.#body.slice(label.length)];
  }

  /** Checks that a value can be used here. */
  protected use(value: Value, instruction: string, operand: string): Value {
    if (typeof value !== 'object' || value === null || value.module === undefined) {
      throw this.error(instruction, `${operand} is no value: got ${nameOfOther(value)}`);
    }
    if (value.module !== this.#module) {
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
  protected operand(operand: Operand, type: Type, instruction: string, name: string): Value {
    if (typeof operand !== 'object') return this.#literal(type, operand, instruction, `${name}: `);
    const value = this.use(operand, instruction, name);
    if (value.type !== type) {
      throw this.error(instruction, `${name} is ${nameOf(value.type)}, expected ${nameOf(type)}`);
    }
    return value;
  }

  /** The words of a literal integer, which is no constant of the module. */
  protected literalWords(type: Type, value: number | bigint, instruction: string, name: string): number[] {
    return this.placed(instruction, name, () => scalarWords(type, value));
  }

  /** Two operands of one type, of which at most one is a literal. */
  protected pair(a: Operand, b: Operand, instruction: string): [Value, Value] {
    const type = typeOf(a) ?? typeOf(b);
    if (type === undefined) throw this.error(instruction, 'one operand at least must be a value, not a literal');
    return [this.operand(a, type, instruction, 'operand 1'), this.operand(b, type, instruction, 'operand 2')];
  }

  /** bool, or as many of them as a vector has components. */
  protected boolLike(type: Type): Type {
    const bool = this.types.bool();
    return type.kind === 'vector' ? this.types.vector(bool, type.count) : bool;
  }

  /** Refuses a value whose components are not of one of these kinds. */
  protected expectKind(value: Value, kinds: readonly Type['kind'][], instruction: string): void {
    if (!kinds.includes(componentOf(value.type).kind)) {
      throw this.error(instruction, `takes ${kinds.join(' or ')} operands, got ${nameOf(value.type)}`);
    }
  }

  /** Refuses a type of another module, or none. */
  protected expectType(type: Type, instruction: string): void {
    this.placed(instruction, 'the type ', () => this.types.expect(type, instruction));
  }

  protected expectVector(value: Value, instruction: string): VectorType {
    if (value.type.kind !== 'vector') throw this.error(instruction, `takes a vector, got ${nameOf(value.type)}`);
    return value.type;
  }

  /** Does what may throw without a place in this function, and says the place. */
  protected placed<T>(instruction: string, name: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw error instanceof SpirvError ? this.error(instruction, name + error.problem) : error;
    }
  }

  protected error(instruction: string, message: string): SpirvError {
    return new SpirvError(`${this.place}, ${instruction}`, message);
  }

  #valueIn(region: Region | undefined, type: Type): Value {
    if (region?.isOpen !== true) throw this.error('code', 'the function is already complete');
    this.context.requirements.valuesOf(type);
    return { id: this.context.sections.nextId() as ValueId, type, module: this.#module, region };
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

function typeOf(operand: Operand): Type | undefined {
  return typeof operand === 'object' && operand !== null ? operand.type : undefined;
}
