import { LoopControl, SelectionControl } from './generated/enums.ts';
import { Op } from './generated/opcodes.ts';
import type { LabelId } from './ids.ts';
import { MemoryBuilder } from './memory-builder.ts';
import { nameOf, type Type } from './type.ts';
import type { Operand, Value } from './value.ts';

/** A counting loop. `from` and `to` are of one integer type. */
export interface ForLoopOptions {
  /** First value. Default 0. */
  readonly from?: Operand;
  /** The loop ends before this value. */
  readonly to: Value;
  /** Default 1. */
  readonly step?: Operand;
  /** Compare as signed integers. Default: unsigned. */
  readonly isSigned?: boolean;
  /** What the compiler is told. Default: nothing. */
  readonly unroll?: 'unroll' | 'dont-unroll';
}

/** One branch of a switch. */
export interface SwitchCase<Results> {
  readonly value: number | bigint;
  readonly body: () => Results;
}

type Values = readonly Value[];

/** The results of a branch, and the block from which it jumps to the merge. */
interface Branch {
  readonly values: Values;
  readonly from: LabelId;
}

/** Of a switch: a limit of the specification (2.17, universal limits). */
const MAX_CASES = 16_383;

/** Structured control flow. Each helper emits its own merge; values leave a branch or loop only as its results. */
export abstract class ControlBuilder extends MemoryBuilder {
  /** Runs `then` where the condition holds. */
  when(condition: Value, then: () => void): void {
    const [body, merge] = [this.newLabel(), this.newLabel()];
    this.#select(condition, 'when', merge, body, merge);
    // Whatever an arrow function happens to give is nobody's result here.
    const write = (): void => this.#refuseAsync(then(), 'when');
    this.#branch('when', body, merge, write);
    this.startBlock(merge);
  }

  /** Runs one of two branches; their results, of the same types in both, are the results. */
  ifElse(condition: Value, then: () => Values | void, otherwise: () => Values | void): Values {
    const [yes, no, merge] = [this.newLabel(), this.newLabel(), this.newLabel()];
    this.#select(condition, 'ifElse', merge, yes, no);
    const results = [this.#branch('ifElse', yes, merge, then), this.#branch('ifElse', no, merge, otherwise)];
    this.startBlock(merge);
    return this.#join(results, 'ifElse');
  }

  /** Runs the case with the selector's value, else `otherwise`; their results are the results. */
  switchOn(selector: Value, cases: readonly SwitchCase<Values | void>[], otherwise: () => Values | void): Values {
    const { type } = this.use(selector, 'switchOn', 'selector');
    if (type.kind !== 'int') throw this.error('switchOn', `selector is ${nameOf(type)}, expected an integer`);
    if (cases.length > MAX_CASES) throw this.error('switchOn', `cannot have more than ${MAX_CASES} cases`);
    const labels = cases.map(() => this.newLabel());
    const [fallback, merge] = [this.newLabel(), this.newLabel()];
    const targets = cases.flatMap(({ value }, index) => [
      ...this.literalWords(type, value, 'switchOn', `case ${index + 1}: `),
      labels[index] as LabelId,
    ]);
    if (new Set(cases.map(({ value }) => BigInt.asUintN(type.width, BigInt(value)))).size < cases.length) {
      throw this.error('switchOn', 'two cases have the same value');
    }
    this.perform(Op.SelectionMerge, merge, SelectionControl.None);
    this.terminate(Op.Switch, selector.id, fallback, ...targets);
    const results = cases.map(({ body }, index) => this.#branch('switchOn', labels[index] as LabelId, merge, body));
    results.push(this.#branch('switchOn', fallback, merge, otherwise));
    this.startBlock(merge);
    return this.#join(results, 'switchOn');
  }

  /**
   * Counts from `from` to just before `to`. `body` gets the counter and the carried values, and gives the carried values
   * of the next turn; those after the last turn are the results.
   */
  forLoop(
    options: ForLoopOptions,
    carried: readonly Value[],
    body: (counter: Value, carried: Values) => Values | void,
  ): Values {
    const { from = 0, to, step = 1, isSigned = false, unroll } = options;
    const { type } = this.use(to, 'forLoop', 'to');
    if (type.kind !== 'int') throw this.error('forLoop', `to is ${nameOf(type)}, expected an integer`);
    const first = this.operand(from, type, 'forLoop', 'from');
    const increment = this.operand(step, type, 'forLoop', 'step');
    if (increment.integer?.value === 0n && !increment.integer.isSpecialised) {
      throw this.error('forLoop', 'step is 0: the loop would not end');
    }
    return this.#loop(
      'forLoop',
      [first, ...carried],
      ([counter]) => (isSigned ? this.slt(counter as Value, to) : this.ult(counter as Value, to)),
      ([counter, ...values]) => this.#results(body(counter as Value, values), 'forLoop'),
      ([counter]) => [this.add(counter as Value, increment)],
      unroll,
    ).slice(1);
  }

  /** Runs `body` while the condition holds. Both get the carried values; `body` gives those of the next turn. */
  whileLoop(
    carried: readonly Value[],
    condition: (carried: Values) => Value,
    body: (carried: Values) => Values | void,
  ): Values {
    return this.#loop(
      'whileLoop',
      carried,
      condition,
      (values) => this.#results(body(values), 'whileLoop'),
      () => [],
      undefined,
    );
  }

  /** Phis for `initial` in the header; `advance` gives the first of their next values, and `body` the others. */
  #loop(
    name: string,
    initial: readonly Value[],
    condition: (carried: Values) => Value,
    body: (carried: Values) => Values,
    advance: (carried: Values) => Values,
    unroll: ForLoopOptions['unroll'],
  ): Values {
    const [header, start, next, merge] = [this.newLabel(), this.newLabel(), this.newLabel(), this.newLabel()];
    const before = this.block;
    const initials = initial.map((value, index) => this.use(value, name, `carried value ${index + 1}`));
    this.terminate(Op.Branch, header);
    this.startBlock(header);
    // The next values are known only after the body: their places in the phis are filled in then.
    const phis = initials.map(({ id, type }) => {
      const value = this.newValue(type);
      const words = this.perform(Op.Phi, type.id, value.id, id, before, 0, next);
      return { value, place: words + 5 };
    });
    const values = phis.map(({ value }) => value);
    this.inRegion(() => {
      const holds = this.#condition(condition(values), name);
      this.perform(Op.LoopMerge, merge, next, loopControl(unroll));
      this.terminate(Op.BranchConditional, holds.id, start, merge);
      this.startBlock(start);
      const results = body(values);
      this.terminate(Op.Branch, next);
      this.startBlock(next);
      const following = [...advance(values), ...results];
      if (following.length !== phis.length) {
        const own = initial.length - (following.length - results.length);
        throw this.error(name, `body gives ${results.length} values for ${own} carried ones`);
      }
      phis.forEach(({ value, place }, index) => {
        const result = this.operand(following[index] as Value, value.type, name, `next value ${index + 1}`);
        this.patch(place, result.id);
      });
      this.terminate(Op.Branch, header);
    });
    this.startBlock(merge);
    return values;
  }

  #select(condition: Value, name: string, merge: LabelId, yes: LabelId, no: LabelId): void {
    const holds = this.#condition(condition, name);
    this.perform(Op.SelectionMerge, merge, SelectionControl.None);
    this.terminate(Op.BranchConditional, holds.id, yes, no);
  }

  #condition(condition: Value, name: string): Value {
    return this.operand(condition, this.types.bool(), name, 'condition');
  }

  /** One branch, up to its jump to the merge. */
  #branch(name: string, label: LabelId, merge: LabelId, write: () => Values | void): Branch {
    this.startBlock(label);
    return this.inRegion(() => {
      const values = this.#results(write(), name).map((value, index) => this.use(value, name, `result ${index + 1}`));
      const from = this.block;
      this.terminate(Op.Branch, merge);
      return { values, from };
    });
  }

  #results(given: Values | void, name: string): Values {
    this.#refuseAsync(given, name);
    if (given === undefined) return [];
    if (!Array.isArray(given)) throw this.error(name, 'the results of a branch or body have to be an array');
    return given as Values;
  }

  #refuseAsync(given: unknown, name: string): void {
    if (given instanceof Promise) throw this.error(name, 'code cannot be asynchronous: it ends when it returns');
  }

  /** The results of branches that meet. */
  #join(branches: readonly Branch[], name: string): Values {
    const types: readonly Type[] = branches[0]?.values.map(({ type }) => type) ?? [];
    for (const { values } of branches) {
      if (values.length !== types.length || values.some(({ type }, index) => type !== types[index])) {
        const lists = branches.map((branch) => `(${branch.values.map(({ type }) => nameOf(type)).join(', ')})`);
        throw this.error(name, `branches give different results: ${lists.join(' and ')}`);
      }
    }
    return types.map((type, index) =>
      this.emit(Op.Phi, type, ...branches.flatMap(({ values, from }) => [(values[index] as Value).id, from])),
    );
  }
}

function loopControl(unroll: ForLoopOptions['unroll']): number {
  if (unroll === undefined) return LoopControl.None;
  return unroll === 'unroll' ? LoopControl.Unroll : LoopControl.DontUnroll;
}
