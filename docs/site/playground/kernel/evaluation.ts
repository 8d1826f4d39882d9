import type { Kernel } from '@concord/backend-core/kernel';
import { evaluate } from './evaluate.ts';
import { type Fault, faultOf } from './fault.ts';
import type { Picture } from './program-api.ts';

/** A program to evaluate. */
export interface EvaluationRequest {
  readonly source: string;
  readonly picture: Picture;
}

/** A kernel and its call as plain data, not checked: it comes from the code of a stranger. */
export interface AskedProgram {
  readonly kernel: object;
  readonly call: object;
}

/** The run that a program asks for, or the fault that ended it. */
export type Evaluation = (AskedProgram & { readonly fault?: never }) | { readonly fault: Fault };

/** Evaluates a program as {@link evaluate}, to data that can be sent: of the call what a structured clone keeps. */
export function evaluation({ source, picture }: EvaluationRequest): Evaluation {
  try {
    const { kernel, call } = evaluate(source, picture);
    return { kernel: JSON.parse(JSON.stringify(kernel)) as Kernel, call: structuredClone(call) };
  } catch (error) {
    return { fault: faultOf(error, 1) };
  }
}

/** Reads the message of a sandbox: whatever it holds, an {@link Evaluation}. */
export function readEvaluation(message: unknown): Evaluation {
  const { kernel, call, fault } = isObject(message) ? message : {};
  if (isObject(kernel) && isObject(call)) return { kernel, call };
  const { message: text, hint, line, column } = isObject(fault) ? fault : {};
  return {
    fault: {
      message: typeof text === 'string' ? text : 'the program gave something other than a kernel and its call',
      ...(typeof hint === 'string' ? { hint } : {}),
      ...(Number.isSafeInteger(line) ? { line: line as number } : {}),
      ...(Number.isSafeInteger(column) ? { column: column as number } : {}),
    },
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
