import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import type { Type, ValueId } from '../type.ts';
import type { Operand, Value } from '../value.ts';

/** A function of a module, to be called with `call`. */
export interface FunctionHandle {
  readonly name: string;
  readonly id: ValueId;
  readonly result: Type;
  readonly parameters: readonly Type[];
}

/** Calls of other functions. */
export interface Calls {
  /** Calls a function of the module, or one that it imports. */
  call(callee: FunctionHandle, ...operands: readonly Operand[]): Value;
}

/** Calls in a function. */
export function calls(body: FunctionBody): Calls {
  return {
    call: (callee, ...operands) => {
      if (callee === undefined || !body.context.hasFunction(callee)) {
        throw body.error('call', 'takes a function of this module that is complete: none can call itself');
      }
      const { name, parameters } = callee;
      if (operands.length !== parameters.length) {
        throw body.error(`call of ${name}`, `takes ${parameters.length} arguments, got ${operands.length}`);
      }
      const ids = parameters.map(
        (type, index) => body.operand(operands[index] as Operand, type, `call of ${name}`, `argument ${index + 1}`).id,
      );
      return body.emit(Op.FunctionCall, callee.result, callee.id, ...ids);
    },
  };
}
