import * as core from '@concord/backend-core';
import * as kernelModule from '@concord/backend-core/kernel';
import { faultOf, ProgramError, SOURCE_NAME } from './fault.ts';
import { type Picture, type Planned, playgroundModule } from './program-api.ts';
import { transpile } from './transpile.ts';

/**
 * Evaluates a program: the code of a stranger, so on the site only in the sandbox of sandbox.ts.
 *
 * @returns the run that it asks for
 * @throws {ProgramError} if it cannot be parsed, throws, or runs nothing
 */
export function evaluate(source: string, picture: Picture): Planned {
  const code = transpile(source);
  const program = playgroundModule(picture);
  const modules: Readonly<Record<string, object>> = {
    '@concord/backend-core': core,
    '@concord/backend-core/kernel': kernelModule,
    playground: program.module,
  };
  const require = (name: string): object => {
    const found = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (found !== undefined) return found;
    throw new Error(`there is no module '${name}' here; there are: ${Object.keys(modules).join(', ')}`);
  };
  try {
    functionOf(code)(require, {}, { exports: {} });
  } catch (error) {
    throw new ProgramError(faultOf(error, FIRST_LINE));
  }
  return program.planned();
}

type ModuleFunction = (require: (name: string) => object, exports: object, module: { exports: object }) => void;

function functionOf(code: string): ModuleFunction {
  // oxlint-disable-next-line typescript/no-implied-eval -- running what a visitor wrote is what a playground is for
  return new Function('require', 'exports', 'module', `${code}\n//# sourceURL=${SOURCE_NAME}`) as ModuleFunction;
}

/** The line that the engine gives to the first line of a function's body: engines put lines of a header before it. */
const FIRST_LINE = findFirstLine();

function findFirstLine(): number {
  try {
    functionOf('throw new Error("line 1")')(() => ({}), {}, { exports: {} });
  } catch (error) {
    return faultOf(error, 1).line ?? 1;
  }
  return 1;
}
