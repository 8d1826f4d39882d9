import type { FunctionBody } from '../function-body.ts';
import { LoopControl, Op } from '../generated/spirv.ts';
import { nameOf } from '../type.ts';
import type { Operand, Value } from '../value.ts';
import type { ArithmeticOps } from './arithmetic.ts';
import { codeResults, type Values } from './branches.ts';
import type { ComparisonOps } from './comparisons.ts';

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
  /** The hint for the compiler. Default: none. */
  readonly unroll?: 'unroll' | 'dont-unroll';
}

/** Structured loops. Each writes its own merge; values leave a loop only as its results. */
export interface Loops {
  /**
   * Counts from `from` to just before `to`. `body` gets the counter and the carried values, and gives the carried values
   * of the next iteration; those after the last iteration are the results.
   */
  forLoop(options: ForLoopOptions, carried: Values, body: (counter: Value, carried: Values) => Values | void): Values;
  /** Runs `body` while the condition holds. Both get the carried values; `body` gives those of the next iteration. */
  whileLoop(carried: Values, condition: (carried: Values) => Value, body: (carried: Values) => Values | void): Values;
}

/** A loop as SPIR-V has it. Each function gets all carried values. */
interface Loop {
  readonly name: string;
  readonly initial: Values;
  readonly condition: (carried: Values) => Value;
  /** Gives the next values that `advance` does not give. */
  readonly write: (carried: Values) => Values | void;
  /** Gives the first of the next values, after the code of `write`. */
  readonly advance: (carried: Values) => Values;
  readonly unroll: ForLoopOptions['unroll'];
}

/** Loops in a function. */
export function loops(
  body: FunctionBody,
  { add, slt, ult }: Pick<ArithmeticOps & ComparisonOps, 'add' | 'slt' | 'ult'>,
): Loops {
  return {
    forLoop: ({ from = 0, to, step = 1, isSigned = false, unroll }, carried, write) => {
      const { type } = body.use(to, 'forLoop', 'to');
      if (type.kind !== 'int') throw body.error('forLoop', `to is ${nameOf(type)}, expected an integer`);
      const first = body.operand(from, type, 'forLoop', 'from');
      const increment = body.operand(step, type, 'forLoop', 'step');
      if (increment.integer?.value === 0n && !increment.integer.isSpecialised) {
        throw body.error('forLoop', 'step is 0: the loop would not end');
      }
      return writeLoop(body, {
        name: 'forLoop',
        initial: [first, ...carried],
        condition: ([counter]) => (isSigned ? slt : ult)(counter as Value, to),
        write: ([counter, ...values]) => write(counter as Value, values),
        advance: ([counter]) => [add(counter as Value, increment)],
        unroll,
      }).slice(1);
    },

    whileLoop: (carried, condition, write) =>
      writeLoop(body, {
        name: 'whileLoop',
        initial: carried,
        condition,
        write,
        advance: () => [],
        unroll: undefined,
      }),
  };
}

/** Writes a loop, with phis for the carried values in its header; gives those after the last iteration. */
function writeLoop(body: FunctionBody, { name, initial, condition, write, advance, unroll }: Loop): Values {
  const [header, start, next, merge] = [body.newLabel(), body.newLabel(), body.newLabel(), body.newLabel()];
  const before = body.block;
  const initials = initial.map((value, index) => body.use(value, name, `carried value ${index + 1}`));
  body.terminate(Op.Branch, header);
  body.startBlock(header);
  // The next values are known only after the body: their places in the phis are filled in then.
  const phis = initials.map(({ id, type }) => {
    const value = body.newValue(type);
    const words = body.perform(Op.Phi, type.id, value.id, id, before, 0, next);
    return { value, place: words + 5 };
  });
  const values = phis.map(({ value }) => value);
  body.inRegion(() => {
    const holds = body.operand(condition(values), body.types.bool(), name, 'condition');
    body.perform(Op.LoopMerge, merge, next, loopControl(unroll));
    body.terminate(Op.BranchConditional, holds.id, start, merge);
    body.startBlock(start);
    const results = codeResults(body, write(values), name);
    body.terminate(Op.Branch, next);
    body.startBlock(next);
    const following = [...advance(values), ...results];
    if (following.length !== phis.length) {
      const own = initial.length - (following.length - results.length);
      throw body.error(name, `body gives ${results.length} values for ${own} carried ones`);
    }
    phis.forEach(({ value, place }, index) => {
      const result = body.operand(following[index] as Value, value.type, name, `next value ${index + 1}`);
      body.patch(place, result.id);
    });
    body.terminate(Op.Branch, header);
  });
  body.startBlock(merge);
  return values;
}

function loopControl(unroll: ForLoopOptions['unroll']): number {
  if (unroll === undefined) return LoopControl.None;
  return unroll === 'unroll' ? LoopControl.Unroll : LoopControl.DontUnroll;
}
