import { transform } from 'sucrase';
import { type Fault, ProgramError } from './fault.ts';

/**
 * TypeScript as the JavaScript of a CommonJS module, line for line. Types are dropped, not checked.
 *
 * @throws {ProgramError} with the place of the syntax error
 */
export function transpile(source: string): string {
  try {
    const { code } = transform(source, {
      transforms: ['typescript', 'imports'],
      disableESTransforms: true,
      production: true,
    });
    return code;
  } catch (error) {
    throw new ProgramError(syntaxFault(error));
  }
}

/** The syntax error of a source; undefined if there is none. Evaluates nothing. */
export function syntaxFaultOf(source: string): Fault | undefined {
  try {
    transpile(source);
    return undefined;
  } catch (error) {
    return error instanceof ProgramError ? error.fault : { message: String(error) };
  }
}

function syntaxFault(error: unknown): Fault {
  const { message, loc } = error as { message?: string; loc?: { line: number; column: number } };
  const text = (message ?? String(error)).replace(/^Error transforming [^:]*: /, '').replace(/\s*\(\d+:\d+\)$/, '');
  return { message: `SyntaxError: ${text}`, ...(loc === undefined ? {} : { line: loc.line, column: loc.column }) };
}
