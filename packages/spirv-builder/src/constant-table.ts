import { Capability, Decoration, Op } from './generated/spirv.ts';
import { nameOf, type ScalarType, type Type, type ValueId } from './type.ts';
import type { Requirements, Sections } from './sections.ts';
import { SpirvError } from './spirv-error.ts';
import type { TypeTable } from './type-table.ts';
import { nameOfOther, type Value } from './value.ts';
import { literalWords } from './words.ts';

/** The constants of a module: each is declared once, when it is first asked for. */
export class ConstantTable {
  readonly #sections: Sections;
  readonly #types: TypeTable;
  readonly #requirements: Requirements;
  readonly #module: object;
  readonly #constants = new Map<string, Value>();
  readonly #specIds = new Set<number>();

  constructor(sections: Sections, types: TypeTable, requirements: Requirements, module: object) {
    this.#sections = sections;
    this.#types = types;
    this.#requirements = requirements;
    this.#module = module;
  }

  /** @throws {SpirvError} for a number that the type cannot hold, and for one where a boolean belongs */
  scalar(type: ScalarType, value: number | bigint | boolean): Value {
    this.#types.expect(type, 'constant');
    const words = scalarWords(type, value);
    // The words, because -0 and 0 are different floats and equal numbers.
    return this.#intern(`${type.id} ${words.join(' ')} ${String(value === true)}`, () => {
      if (type.kind === 'bool') return this.#declare(value === true ? Op.ConstantTrue : Op.ConstantFalse, type);
      return { ...this.#declare(Op.Constant, type, ...words), ...integerOf(type, words, false) };
    });
  }

  composite(type: Type, parts: readonly Value[]): Value {
    const ids = parts.map(({ id }) => id);
    return this.#intern(`${type.id} of ${ids.join(' ')}`, () => this.#declare(Op.ConstantComposite, type, ...ids));
  }

  /** A constant that can be given another value when the module is built. Never shared. */
  specialisable(type: ScalarType, value: number | bigint | boolean, specId: number): Value {
    this.#types.expect(type, 'specialisation constant');
    if (specId >>> 0 !== specId) throw new SpirvError('specialisation constant', `${specId} is not an id`);
    const words = scalarWords(type, value);
    if (this.#specIds.has(specId)) throw new SpirvError('specialisation constant', `there is one with id ${specId}`);
    this.#specIds.add(specId);
    const op = type.kind === 'bool' ? (value === true ? Op.SpecConstantTrue : Op.SpecConstantFalse) : Op.SpecConstant;
    const constant = this.#declare(op, type, ...words);
    this.#sections.push('decorations', Op.Decorate, constant.id, Decoration.SpecId, specId);
    return { ...constant, ...integerOf(type, words, true) };
  }

  /** The result of an operation on specialisation constants, worked out when the module is built. */
  specialisedOperation(type: Type, op: Op, operands: readonly Value[]): Value {
    const result = this.#declare(Op.SpecConstantOp, type, op, ...operands.map(({ id }) => id));
    return { ...result, integer: { value: undefined, isSpecialised: true } };
  }

  #intern(key: string, make: () => Value): Value {
    let constant = this.#constants.get(key);
    if (constant === undefined) this.#constants.set(key, (constant = make()));
    return constant;
  }

  #declare(op: Op, type: Type, ...operands: readonly number[]): Value {
    // Only pointers to halves are free.
    if (type.kind === 'float' && type.width === 16) this.#requirements.capability(Capability.Float16);
    const id = this.#sections.nextId() as ValueId;
    this.#sections.push('declarations', op, type.id, id, ...operands);
    return { id, type, module: this.#module, region: undefined };
  }
}

/** @throws {SpirvError} for what the type cannot hold */
export function scalarWords(type: Type, value: number | bigint | boolean): number[] {
  const refuse = (): never => {
    throw new SpirvError('constant', `${nameOfOther(value)} is not of type ${nameOf(type)}`);
  };
  if (type.kind !== 'bool' && type.kind !== 'float' && type.kind !== 'int') {
    throw new SpirvError('constant', `a literal cannot be a ${nameOf(type)}`);
  }
  if (type.kind === 'bool') return typeof value === 'boolean' ? [] : refuse();
  if (typeof value !== 'number' && typeof value !== 'bigint') return refuse();
  if (type.kind === 'float') return literalWords(type, value);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return refuse();
  const wide = BigInt(value);
  // Either sign's range: -1 is a handy way to write all ones.
  if (wide >= 1n << BigInt(type.width) || wide < -(1n << BigInt(type.width - 1))) return refuse();
  return literalWords(type, value);
}

function integerOf(type: Type, [low = 0, high = 0]: readonly number[], isSpecialised: boolean): Pick<Value, 'integer'> {
  return type.kind === 'int' ? { integer: { value: (BigInt(high) << 32n) | BigInt(low), isSpecialised } } : {};
}
