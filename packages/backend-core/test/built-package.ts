import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

// What the tests of backends do with their built packages: programs in processes of their own, and applications.

/** The exit of a program, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the body of a module, with these variables in its environment. */
export type RunProgram = (source: string, env?: Readonly<Record<string, string>>) => Promise<Ended>;

/** Options of a program's run. */
export interface ProgramOptions {
  /** The arguments of node that start the program on the device of the tests. Default: none. */
  readonly launcher?: readonly string[];
  /** Well below the 60 s of a wait, whose timer must not keep the process alive. Default 25 s. */
  readonly timeoutMs?: number;
}

/**
 * Gives a function that runs programs with a built package, each in its own process.
 *
 * @param folder - of the package
 * @param names - its exports that programs have, beside `INDEX`, the URL of the package
 */
export function programsOf(folder: string, names: readonly string[], options: ProgramOptions = {}): RunProgram {
  const { launcher = [], timeoutMs = 25_000 } = options;
  return async (source, env = {}) => {
    const program = `
      const INDEX = (await import('node:url')).pathToFileURL(${JSON.stringify(join(folder, 'dist/index.js'))}).href;
      const { ${names.join(', ')} } = await import(INDEX);
      ${source}
    `;
    const command = launcher.length === 0 ? [] : [...launcher, process.execPath];
    const child = spawn(process.execPath, [...command, '--input-type=module', '--eval', program], {
      cwd: join(folder, '../..'),
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { code, signal, stdout, stderr };
  };
}

/** Lines of a program that makes a backend, as `backend`, and has it compute `got`. */
export const negate = (create: string): string => `
  const backend = ${create};
  await backend.init();
  const x = backend.alloc(16);
  backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  const got = new Float32Array(4);
  await backend.copyDtoh(got, x);
`;

const NEGATED = '-1 -2 -3 -4\n';

/** Ends of programs besides those that are the same for all backends, with what they do. */
export type Endings = readonly (readonly [name: string, source: string])[];

const ENDINGS: Endings = [
  ['without dispose', ''],
  ['with dispose', 'await backend.dispose();'],
  ['with work in flight', 'backend.unary({ op: "exp", n: 4, input: x, output: x }); backend.flush();'],
  ['with a wait that is not awaited', 'void backend.synchronize();'],
];

/**
 * Properties of a process that uses a backend: it ends by itself and silently, whatever the backend is doing, and worker
 * threads may use it too.
 *
 * @param create - an expression that makes a backend: `new SomeBackend()`
 */
export function describeProcesses(run: RunProgram, create: string, more: Endings = []): void {
  it.each([...ENDINGS, ...more])(`a process with ${create} %s ends by itself, silently`, async (_, ending) => {
    const ended = await run(`${negate(create)} ${ending} console.log(got.join(' '));`);
    expect(ended).toEqual({ code: 0, signal: null, stdout: NEGATED, stderr: '' });
  });

  it(`${create} works in worker threads, in several at once, and after they have ended`, async () => {
    const inWorker = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { ${/new (\w+)/.exec(create)?.[1]} } = await import(workerData);
      ${negate(create)}
      await backend.dispose();
      parentPort.postMessage(got.join(' '));
    `;
    const ended = await run(`
      const { Worker } = await import('node:worker_threads');
      const inWorker = () => new Promise((resolve, reject) => {
        const worker = new Worker(${JSON.stringify(inWorker)}, { eval: true, workerData: INDEX });
        let message;
        worker.on('message', (value) => { message = value; });
        worker.on('error', reject);
        worker.on('exit', () => resolve(message));
      });
      console.log((await Promise.all([inWorker(), inWorker()])).join('; '));
      ${negate(create)}
      console.log(got.join(' '));
      await backend.dispose();
    `);
    expect(ended).toMatchObject({ code: 0, signal: null, stdout: `-1 -2 -3 -4; ${NEGATED}${NEGATED}` });
  });
}

/** An application in its own folder that has a built package, and for one dependency a module of some source. */
export interface Application extends Disposable {
  readonly folder: string;
  /** The file of its program. */
  readonly program: string;
}

/**
 * Makes an application.
 *
 * @param folder - of the package
 * @param dependency - npm package that the built package loads, and the source to have in its place, or none
 */
export function applicationOf(
  folder: string,
  [dependency, source]: readonly [name: string, source: string | undefined],
  program: string,
): Application {
  const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const app = mkdtempSync(join(tmpdir(), 'concord-app-'));
  const inside = (...path: string[]): string => join(app, 'node_modules', ...path);
  mkdirSync(inside(name), { recursive: true });
  for (const part of ['dist', 'package.json']) cpSync(join(folder, part), inside(name, part), { recursive: true });
  for (const other of Object.keys(dependencies)) {
    if (other !== dependency) symlinkSync(realpathSync(join(folder, 'node_modules', other)), inside(other));
  }
  if (source !== undefined) {
    mkdirSync(inside(dependency));
    writeFileSync(inside(dependency, 'package.json'), '{"type":"module","main":"index.js"}');
    writeFileSync(inside(dependency, 'index.js'), source);
  }
  const file = join(app, 'app.mjs');
  writeFileSync(file, program);
  return { folder: app, program: file, [Symbol.dispose]: () => rmSync(app, { recursive: true }) };
}
