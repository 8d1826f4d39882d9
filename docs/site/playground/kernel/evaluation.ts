import type { Kernel } from '@concord/backend-core/kernel';
import { evaluate } from './evaluate.ts';
import { type Fault, faultOf } from './fault.ts';
import type { Output, Picture, ProgramPage } from './program-api.ts';

/** A program to evaluate. */
export interface EvaluationRequest extends Omit<ProgramPage, 'put'> {
  readonly source: string;
  readonly picture: Picture;
  /** The backend that the page has chosen. */
  readonly backend: string;
}

/** A kernel and its call as plain data, not checked: it comes from the code of a stranger. */
export interface AskedProgram {
  readonly kernel: object;
  readonly call: object;
}

/** How a program ended: with a run that it asks for, by itself, or with a fault. */
export type Evaluation =
  | (AskedProgram & { readonly fault?: never })
  | { readonly isDone: true; readonly fault?: never; readonly kernel?: never }
  | { readonly fault: Fault; readonly kernel?: never };

/** Evaluates a program as {@link evaluate}, to data that can be sent: of the call what a structured clone keeps. */
export async function evaluation(
  { source, ...page }: EvaluationRequest,
  put: ProgramPage['put'] = () => undefined,
): Promise<Evaluation> {
  try {
    const planned = await evaluate(source, { ...page, put });
    if (planned === undefined) return { isDone: true };
    const { kernel, call } = planned;
    return { kernel: JSON.parse(JSON.stringify(kernel)) as Kernel, call: structuredClone(call) };
  } catch (error) {
    return { fault: faultOf(error, 1) };
  }
}

/** Reads the last message of a sandbox: whatever it holds, an {@link Evaluation}. */
export function readEvaluation(message: unknown): Evaluation {
  const { kernel, call, fault, isDone } = isObject(message) ? message : {};
  if (isDone === true) return { isDone };
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

/** Numbers of the largest picture that a program can show. */
const MAX_NUMBERS = 2 ** 24;

/** Reads a message of a sandbox as an output; undefined where it is none. */
export function readOutput(message: unknown): Output | undefined {
  if (!isObject(message)) return undefined;
  const { kind, text, label, values, shape, name, range } = message;
  if (kind === 'text' && typeof text === 'string') return { kind, text };
  if (kind === 'picture' && typeof label === 'string' && values instanceof Float32Array && Array.isArray(shape)) {
    const sizes = shape.map(Number);
    const isWhole = sizes.every((size) => Number.isInteger(size) && size > 0) && [2, 3].includes(sizes.length);
    const isFilled = sizes.reduce((product, size) => product * size, 1) === values.length;
    if (isWhole && isFilled && values.length <= MAX_NUMBERS) return { kind, label, values, shape: sizes };
    return { kind: 'text', text: `${label}: a picture is [height, width], or x 3 or x 4, not [${sizes.join(', ')}]` };
  }
  if (kind !== 'slider' || typeof name !== 'string' || !isObject(range)) return undefined;
  const [min, max, value] = [Number(range['min']), Number(range['max']), Number(range['value'])];
  return { kind, name, range: { min, max, value, step: Number(range['step'] ?? (max - min) / 100) } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
