import type { FunctionBody } from '../function-body.ts';
import type { Value } from '../value.ts';
import { Op, SelectionControl } from '../generated/spirv.ts';
import { type LabelId, nameOf, type Type } from '../type.ts';
import { literalWords } from '../operand-checks.ts';

/** Values that leave a branch, or a loop's body. */
export type Values = readonly Value[];

/** The result of the code of a branch or of a loop's body: values, or nothing. */
export function codeResults(body: FunctionBody, given: Values | void, instruction: string): Values {
  refuseAsync(body, given, instruction);
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw body.error(instruction, 'the results of a branch or body have to be an array');
  return given as Values;
}

/** Refuses what asynchronous code gives. */
function refuseAsync(body: FunctionBody, given: unknown, instruction: string): void {
  if (given instanceof Promise) throw body.error(instruction, 'code cannot be asynchronous: it ends when it returns');
}

/** One branch of a switch. */
export interface SwitchCase<Results> {
  readonly value: number | bigint;
  readonly body: () => Results;
}

/** Structured branches. Each writes its own merge; values leave a branch only as its results. */
export interface Branches {
  /** Runs `then` where the condition holds. */
  when(condition: Value, then: () => void): void;
  /** Runs one of two branches; their results, of the same types in both, are the results. */
  ifElse(condition: Value, then: () => Values | void, otherwise: () => Values | void): Values;
  /** Runs the case with the selector's value, else `otherwise`; their results are the results. */
  switchOn(selector: Value, cases: readonly SwitchCase<Values | void>[], otherwise: () => Values | void): Values;
}

/** The results of a branch, and the block from which it jumps to the merge. */
interface Branch {
  readonly values: Values;
  readonly from: LabelId;
}

/** The limit of a switch by the specification (2.17, universal limits). */
const MAX_CASES = 16_383;

/** Branches in a function. */
export function branches(body: FunctionBody): Branches {
  const startSelection = (condition: Value, name: string, merge: LabelId, yes: LabelId, no: LabelId): void => {
    const holds = body.operand(condition, body.types.bool(), name, 'condition');
    body.perform(Op.SelectionMerge, merge, SelectionControl.None);
    body.terminate(Op.BranchConditional, holds.id, yes, no);
  };
  return {
    when: (condition, then) => {
      const [label, merge] = [body.newLabel(), body.newLabel()];
      startSelection(condition, 'when', merge, label, merge);
      // Whatever an arrow function happens to give is no result here.
      const write = (): void => refuseAsync(body, then(), 'when');
      writeBranch(body, 'when', label, merge, write);
      body.startBlock(merge);
    },

    ifElse: (condition, then, otherwise) => {
      const [yes, no, merge] = [body.newLabel(), body.newLabel(), body.newLabel()];
      startSelection(condition, 'ifElse', merge, yes, no);
      const both = [writeBranch(body, 'ifElse', yes, merge, then), writeBranch(body, 'ifElse', no, merge, otherwise)];
      body.startBlock(merge);
      return join(body, both, 'ifElse');
    },

    switchOn: (selector, cases, otherwise) => {
      const { type } = body.use(selector, 'switchOn', 'selector');
      if (type.kind !== 'int') throw body.error('switchOn', `selector is ${nameOf(type)}, expected an integer`);
      if (cases.length > MAX_CASES) throw body.error('switchOn', `cannot have more than ${MAX_CASES} cases`);
      const labelled = cases.map((each) => ({ ...each, label: body.newLabel() }));
      const [fallback, merge] = [body.newLabel(), body.newLabel()];
      const targets = labelled.flatMap(({ value, label }, index) => [
        ...literalWords(body, type, value, 'switchOn', `case ${index + 1}: `),
        label,
      ]);
      if (new Set(cases.map(({ value }) => BigInt.asUintN(type.width, BigInt(value)))).size < cases.length) {
        throw body.error('switchOn', 'two cases have the same value');
      }
      body.perform(Op.SelectionMerge, merge, SelectionControl.None);
      body.terminate(Op.Switch, selector.id, fallback, ...targets);
      const all = [...labelled, { label: fallback, body: otherwise }].map(({ label, body: write }) =>
        writeBranch(body, 'switchOn', label, merge, write),
      );
      body.startBlock(merge);
      return join(body, all, 'switchOn');
    },
  };
}

/** One branch, up to its jump to the merge. */
function writeBranch(
  body: FunctionBody,
  name: string,
  label: LabelId,
  merge: LabelId,
  write: () => Values | void,
): Branch {
  body.startBlock(label);
  return body.inRegion(() => {
    const values = codeResults(body, write(), name).map((value, index) => body.use(value, name, `result ${index + 1}`));
    const from = body.block;
    body.terminate(Op.Branch, merge);
    return { values, from };
  });
}

/** The results of branches that meet. */
function join(body: FunctionBody, all: readonly Branch[], name: string): Values {
  const types: readonly Type[] = all[0]?.values.map(({ type }) => type) ?? [];
  for (const { values } of all) {
    if (values.length !== types.length || values.some(({ type }, index) => type !== types[index])) {
      const lists = all.map((branch) => `(${branch.values.map(({ type }) => nameOf(type)).join(', ')})`);
      throw body.error(name, `branches give different results: ${lists.join(' and ')}`);
    }
  }
  return types.map((type, index) =>
    body.emit(Op.Phi, type, ...all.flatMap(({ values, from }) => [(values[index] as Value).id, from])),
  );
}
