import {
  type Code,
  codeOf,
  type Local,
  type Operand,
  type Statement,
  TYPE_BYTE,
  unsigned,
  type Value,
  type ValueType,
} from './instruction.ts';
import { i32 } from './scalars.ts';

/** The target of a branch: the end of a block, or the start of a loop. */
export interface Label {
  readonly depth: number;
}

/** A function of a module, as calls name it. */
export interface FunctionHandle<
  P extends readonly ValueType[] = readonly ValueType[],
  R extends ValueType | 'none' = ValueType | 'none',
> {
  readonly index: number;
  readonly params: P;
  readonly result: R;
}

/** Operands of a call, by the types of the function's parameters. */
export type CallOperands<P extends readonly ValueType[]> = { readonly [I in keyof P]: Operand<P[I]> };

/** The statements of one function, in order, and its locals. */
export class FunctionBody {
  readonly #locals: ValueType[] = [];
  readonly #code: (number | Code)[] = [];
  readonly #paramCount: number;
  #depth = 0;

  /** @param paramCount - parameters, which are the first locals */
  constructor(paramCount: number) {
    this.#paramCount = paramCount;
  }

  /** A new local, 0 until it is set. */
  local<T extends ValueType>(type: T): Local<T> {
    const index = this.#paramCount + this.#locals.push(type) - 1;
    return { type, index, code: [0x20, ...unsigned(index)] };
  }

  /** Computes a value here, once, into a new local. */
  let<T extends ValueType>(value: Value<T>): Local<T> {
    const local = this.local(value.type);
    this.set(local, value);
    return local;
  }

  /** Gives a local a new value. Expressions of the local that are not fixed by `let` see the new value. */
  set<T extends ValueType>(local: Local<T>, value: Operand<T>): void {
    this.#code.push(codeOf(local.type, value), 0x21, ...unsigned(local.index));
  }

  /** Adds to a local. */
  increase(local: Local<'i32'>, by: Operand<'i32'>): void {
    this.set(local, i32.add(local, by));
  }

  /** Stores, calls without a result, and other instructions that leave nothing. */
  emit(...statements: Statement[]): void {
    for (const { code } of statements) this.#code.push(code);
  }

  /** Computes a value for its effect. */
  drop(value: Value): void {
    this.#code.push(value.code, 0x1a);
  }

  /** Leaves the function; with a value where it has a result. */
  return(value?: Value): void {
    if (value !== undefined) this.#code.push(value.code);
    this.#code.push(0x0f);
  }

  /** Statements that a branch to the label leaves. */
  block(statements: (exit: Label) => void): void {
    this.#nested(0x02, statements);
  }

  /** Statements that a branch to the label begins again; without one they are done once. */
  loop(statements: (again: Label) => void): void {
    this.#nested(0x03, statements);
  }

  /** `then` where the condition is not 0, else `otherwise`. */
  if(condition: Operand<'i32'>, then: () => void, otherwise?: () => void): void {
    this.#code.push(codeOf('i32', condition));
    this.#code.push(0x04, 0x40);
    this.#depth++;
    then();
    if (otherwise !== undefined) {
      this.#code.push(0x05);
      otherwise();
    }
    this.#depth--;
    this.#code.push(0x0b);
  }

  /** Statements as long as the condition holds, which is computed again before each turn. */
  while(condition: Value<'i32'>, statements: () => void): void {
    this.if(condition, () =>
      this.loop((again) => {
        statements();
        this.branchIf(again, condition);
      }),
    );
  }

  /** Counts a new local from `start` by `step` while it is below `end`, unsigned; `end` is read once. */
  for(
    start: Operand<'i32'>,
    end: Operand<'i32'>,
    step: Operand<'i32'>,
    statements: (counter: Local<'i32'>) => void,
  ): void {
    const counter = this.local('i32');
    const limit = typeof end === 'number' ? end : this.let(end);
    const by = typeof step === 'number' ? step : this.let(step);
    this.set(counter, start);
    this.while(i32.ltU(counter, limit), () => {
      statements(counter);
      this.increase(counter, by);
    });
  }

  branch(label: Label): void {
    this.#code.push(0x0c, ...unsigned(this.#depth - label.depth));
  }

  branchIf(label: Label, condition: Operand<'i32'>): void {
    this.#code.push(codeOf('i32', condition), 0x0d, ...unsigned(this.#depth - label.depth));
  }

  /** Traps: here something is wrong that no caller can cause. */
  unreachable(): void {
    this.#code.push(0x00);
  }

  /** The size, locals and instructions as the code section has them. */
  encode(): Code {
    const flat: number[] = [...unsigned(this.#locals.length)];
    for (const type of this.#locals) flat.push(1, TYPE_BYTE[type]);
    flatten(this.#code, flat);
    flat.push(0x0b);
    return [...unsigned(flat.length), flat];
  }

  #nested(opcode: number, statements: (label: Label) => void): void {
    this.#code.push(opcode, 0x40);
    this.#depth++;
    statements({ depth: this.#depth });
    this.#depth--;
    this.#code.push(0x0b);
  }
}

/** A call of a function with a result. */
export function call<P extends readonly ValueType[], R extends ValueType>(
  target: FunctionHandle<P, R>,
  ...operands: CallOperands<P>
): Value<R> {
  return { type: target.result, code: callCode(target, operands) };
}

/** A call of a function without a result. */
export function callStatement<P extends readonly ValueType[]>(
  target: FunctionHandle<P, 'none'>,
  ...operands: CallOperands<P>
): Statement {
  return { type: 'none', code: callCode(target, operands) };
}

function callCode(target: FunctionHandle, operands: readonly Operand<ValueType>[]): Code {
  return [...target.params.map((type, i) => codeOf(type, operands[i]!)), 0x10, ...unsigned(target.index)];
}

/** Appends the bytes of code in order. */
export function flatten(code: Code, to: number[]): void {
  for (const part of code) {
    if (typeof part === 'number') to.push(part);
    else flatten(part, to);
  }
}
