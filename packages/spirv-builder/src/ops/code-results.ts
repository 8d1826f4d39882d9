import type { FunctionBody } from '../function-body.ts';
import type { Value } from '../value.ts';

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
export function refuseAsync(body: FunctionBody, given: unknown, instruction: string): void {
  if (given instanceof Promise) throw body.error(instruction, 'code cannot be asynchronous: it ends when it returns');
}
