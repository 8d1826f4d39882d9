import * as core from '@concord/backend-core';
import * as kernelModule from '@concord/backend-core/kernel';
import { cpu } from '@concord/backend-cpu';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import * as grad from '@concord/grad';
import * as ops from '@concord/ops';
import { faultOf, ProgramError, SOURCE_NAME } from './fault.ts';
import { type Planned, playgroundModule, type ProgramPage } from './program-api.ts';
import { transpile } from './transpile.ts';

/** Names a backend for `selectBackend`: the first that works where it is none of the program's. */
export interface EvaluationPage extends ProgramPage {
  readonly backend?: string;
}

/**
 * Evaluates a program: the code of a stranger, so on the site only in the sandbox of sandbox.ts.
 *
 * @returns the kernel that it hands over to be run and judged; undefined where it computed by itself
 * @throws {ProgramError} if it cannot be parsed, throws, or does nothing that can be shown
 */
export async function evaluate(source: string, page: EvaluationPage): Promise<Planned | undefined> {
  const code = transpile(source);
  let puts = 0;
  const put: ProgramPage['put'] = (output) => (puts++, page.put(output));
  const program = playgroundModule({ ...page, put });
  const modules: Readonly<Record<string, object>> = {
    '@concord/backend-core': { ...core, selectBackend: selecting(page.backend) },
    '@concord/backend-core/kernel': kernelModule,
    '@concord/backend-cpu': { cpu },
    '@concord/backend-wasm': { wasm },
    '@concord/backend-webgpu': { webgpu },
    '@concord/grad': grad,
    '@concord/ops': ops,
    playground: program.module,
  };
  const require = (name: string): object => {
    const found = Object.hasOwn(modules, name) ? modules[name] : undefined;
    if (found !== undefined) return found;
    throw new Error(`there is no module '${name}' here; there are: ${Object.keys(modules).join(', ')}`);
  };
  const log = (...values: unknown[]): void => put({ kind: 'text', text: values.map(textOf).join(' ') });
  const logged = console.log;
  console.log = log;
  try {
    await functionOf(code)(require, {}, { exports: {} });
  } catch (error) {
    throw new ProgramError(faultOf(error, await findFirstLine()));
  } finally {
    console.log = logged;
  }
  const planned = program.planned();
  if (planned === undefined && puts === 0) throw new ProgramError(NOTHING);
  return planned;
}

const NOTHING = {
  message: 'the program shows nothing',
  hint: "end it with console.log(await x.toArray()), with show(x), or with run(kernel, { shape, inputs }); the last two are of 'playground'",
};

/** As `selectBackend`, which takes the backend of the page first where the program offers it. */
function selecting(backend: string | undefined): typeof core.selectBackend {
  return (providers, options) => {
    const names = providers.map(({ name }) => name);
    if (backend === undefined || !names.includes(backend)) return core.selectBackend(providers, options);
    return core.selectBackend(providers, {
      prefer: [backend, ...names.filter((name) => name !== backend)],
      ...options,
    });
  };
}

/** Numbers that are written; of more the first. */
const MAX_NUMBERS = 64;

function textOf(value: unknown): string {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = Array.from(value as Float32Array);
    const shown = numbers.slice(0, MAX_NUMBERS).join(', ');
    return `${value.constructor.name}(${numbers.length}) [${shown}${numbers.length > MAX_NUMBERS ? ', ...' : ''}]`;
  }
  const isPlain =
    Array.isArray(value) || (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype);
  return isPlain ? JSON.stringify(value) : String(value);
}

type ModuleFunction = (
  require: (name: string) => object,
  exports: object,
  module: { exports: object },
) => Promise<void>;

function functionOf(code: string): ModuleFunction {
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  return new AsyncFunction(
    'require',
    'exports',
    'module',
    `${code}\n//# sourceURL=${SOURCE_NAME}`,
  ) as unknown as ModuleFunction;
}

/** The line that the engine gives to the first line of a function's body: engines put lines of a header before it. */
async function findFirstLine(): Promise<number> {
  try {
    await functionOf('throw new Error("line 1")')(() => ({}), {}, { exports: {} });
  } catch (error) {
    return faultOf(error, 1).line ?? 1;
  }
  return 1;
}
