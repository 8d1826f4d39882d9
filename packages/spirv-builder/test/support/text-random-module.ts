import { operandKinds, type InstructionGrammar, type OperandKind } from '../../src/generated/grammar.ts';
import { Op } from '../../src/generated/opcodes.ts';
import { encodeString } from '../../src/literal-string.ts';
import { coreInstructions, enumerantsOf, extendedInstructions, specConstantOperations } from '../../src/text/names.ts';
import { walkOperands, type OperandReader } from '../../src/text/operand-walker.ts';

/** An integer from 0 up to, not including, `end`. */
export type Random = (end: number) => number;

const NUMBER_TYPES = [
  ...[8, 16, 32, 64].flatMap((width) => [0, 1].map((sign) => ({ opcode: Op.TypeInt, width, sign }))),
  ...[16, 32, 64].map((width) => ({ opcode: Op.TypeFloat, width, sign: 0 })),
];

const STRINGS = [
  '',
  'a',
  '12',
  '7',
  'float',
  'v4float',
  'two words',
  'a-b',
  'été',
  '日本',
  '"\\"',
  'line\nline',
  'true',
  '😀',
];

/**
 * Every instruction of the subset `rounds` times, with operands that the grammar allows and no sense at all: what
 * spirv-dis reads without complaint, for it does not validate.
 */
export function randomModule(random: Random, rounds: number): Uint32Array {
  const module = new RandomModule(random);
  const all = [...coreInstructions().byValue];
  for (let count = all.length * rounds; count > 0; count -= 1) {
    const [opcode, grammar] = all[count % all.length]!;
    module.add(opcode, grammar);
  }
  return module.words();
}

class RandomModule {
  readonly random: Random;
  readonly #body: number[] = [];
  #nextId = 100;

  constructor(random: Random) {
    this.random = random;
    this.#push(Op.ExtInstImport, [1, ...encodeString('OpenCL.std')]);
    for (const [index, { opcode, width, sign }] of NUMBER_TYPES.entries()) {
      this.#push(opcode, opcode === Op.TypeInt ? [10 + index, width, sign] : [10 + index, width]);
      // A value of this type, for OpSwitch.
      this.#push(Op.Undef, [10 + index, 50 + index]);
    }
  }

  add(opcode: number, grammar: InstructionGrammar): void {
    const words: number[] = [];
    let hasEnded = false;
    const invent: OperandReader = {
      // What follows an operand that is left out has to be left out too.
      atEnd: () => (hasEnded ||= this.random(3) === 0),
      read: (kind) => {
        const added = this.#operand(opcode, kind, words);
        words.push(...added);
        return added[0]!;
      },
    };
    walkOperands(grammar.operands ?? [], invent);
    this.#push(opcode, words);
  }

  words(): Uint32Array {
    return Uint32Array.from([
      0x07230203,
      0x00010400,
      0x00060000 + this.random(40) * 0x10001,
      this.#nextId,
      0,
      ...this.#body,
    ]);
  }

  #push(opcode: number, operands: readonly number[]): void {
    this.#body.push(((operands.length + 1) << 16) | opcode, ...operands);
  }

  #operand(opcode: number, kind: OperandKind, before: readonly number[]): number[] {
    const { category } = operandKinds[kind];
    if (kind === 'IdResult') return [this.#nextId++];
    if (kind === 'IdResultType' && opcode === Op.Constant) return [10 + this.random(NUMBER_TYPES.length)];
    if (kind === 'IdResultType' && opcode === Op.SpecConstant) return [10 + this.random(NUMBER_TYPES.length)];
    // Only integers: a switch over floats has no text.
    if (kind === 'IdRef' && opcode === Op.Switch && before.length === 0) return [50 + this.random(8)];
    if (kind === 'IdRef' && opcode === Op.ExtInst && before.length === 2) return [1];
    if (category === 'Id') return [1 + this.random(this.#nextId - 1)];
    if (category === 'ValueEnum') return [this.#oneOf([...enumerantsOf(kind).byValue.keys()])];
    if (category === 'BitEnum') return [this.#mask([...enumerantsOf(kind).byValue.keys()])];
    if (kind === 'LiteralString') {
      return encodeString(opcode === Op.ExtInstImport ? 'OpenCL.std' : this.#oneOf(STRINGS));
    }
    if (kind === 'LiteralExtInstInteger') return [this.#oneOf([...extendedInstructions().byValue.keys()])];
    if (kind === 'LiteralSpecConstantOpInteger') return [this.#oneOf([...specConstantOperations().byValue.keys()])];
    if (kind === 'LiteralContextDependentNumber') return this.#number(before[0]!);
    return [this.#word()];
  }

  /** Of the type 10 + n, or of the type of the value 50 + n. */
  #number(id: number): number[] {
    const { opcode, width, sign } = NUMBER_TYPES[(id - 10) % 40]!;
    const [low, high] = [this.#word(), this.#word()];
    if (width === 64) return [low, high];
    if (width === 32) return [low];
    const bits = low & (2 ** width - 1);
    const isNegative = opcode === Op.TypeInt && sign === 1 && bits >> (width - 1) === 1;
    return [(isNegative ? bits - 2 ** width : bits) >>> 0];
  }

  /** Words in which the corners of the number formats are common. */
  #word(): number {
    const random = (this.random(0x10000) * 0x10000 + this.random(0x10000)) >>> 0;
    const corners = [
      0,
      1,
      0x80000000,
      0x7f800000,
      0x7ff00000,
      0xffffffff,
      0x3f800000,
      random & 0xff,
      random & 0x807fffff,
    ];
    return this.random(2) === 0 ? random : corners[this.random(corners.length)]! >>> 0;
  }

  #mask(bits: readonly number[]): number {
    return bits.filter(() => this.random(3) === 0).reduce((mask, bit) => (mask | bit) >>> 0, 0);
  }

  #oneOf<T>(items: readonly T[]): T {
    return items[this.random(items.length)]!;
  }
}
