import { type ComputeBackend, isBackendError, selectBackend } from '@concord/backend-core';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { checkSteps } from './check-steps.ts';
import { EdgesError } from './edges-error.ts';
import { edgePixels, picturePixels, planesOf, runSteps } from './filter-picture.ts';
import { filterSteps, marginOf, MAX_BLUR } from './filter-steps.ts';
import { readPng, writePng } from './png-file.ts';
import { providers } from './providers.ts';

/** Where text goes: a stream, or a string in tests. */
export interface Output {
  write(text: string): unknown;
}

/** What the program needs from the world around it. */
export interface EdgesContext {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

interface Options {
  readonly blur: number;
  readonly edges: boolean;
  readonly backend?: readonly string[];
  readonly check?: boolean;
}

const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

const HELP = `
Examples:
  edges photo.png edges.png
  edges --blur 2 --check photo.png edges.png
  edges --blur 3 --no-edges photo.png blurred.png

Exit codes:
  0    done
  1    --check found a value that is not the oracle's, or the device failed
  2    wrong arguments, or a file that cannot be read or written
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C

CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.`;

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export async function runProgram(args: readonly string[], context: EdgesContext): Promise<number> {
  const program = buildProgram(context);
  try {
    program.parse([...args], { from: 'user' });
    const [from, to] = program.processedArgs as [string, string];
    return await run(from, to, program.opts<Options>(), context);
  } catch (error) {
    if (context.signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const { message, code, exitCode } = describeError(error);
    context.stderr.write(`error: ${message.split('\n').join(' ')} (${code})\n`);
    return exitCode;
  }
}

function buildProgram({ stdout, stderr }: EdgesContext): Command {
  return new Command('edges')
    .description('Finds edges in a PNG, on whichever compute backend works best on this machine.')
    .argument('<in.png>', 'the picture')
    .argument('<out.png>', 'where the result goes; an existing file is overwritten')
    .option('--blur <radius>', `blur first, with a radius of 0 to ${MAX_BLUR} pixels`, blurRadius, 0)
    .option('--no-edges', 'only blur, in colour')
    .option('--backend <names>', 'use one of these, in this order (default: the best that works)', names)
    .option('--check', 'filter again on the float64 oracle and compare')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Printed by runProgram, in the form of all other errors.
      outputError: () => undefined,
    });
}

async function run(from: string, to: string, options: Options, context: EdgesContext): Promise<number> {
  checkNames(options.backend);
  const picture = await readPng(from);
  context.signal.throwIfAborted();
  const { backend } = await selectBackend(providers(), {
    require: [{ op: 'conv2dForward' }],
    ...(options.backend === undefined ? {} : { prefer: options.backend }),
  });
  try {
    return await filterOn(backend, picture, to, options, context);
  } finally {
    await backend.dispose();
  }
}

async function filterOn(
  backend: ComputeBackend,
  picture: Awaited<ReturnType<typeof readPng>>,
  to: string,
  { check = false, ...filters }: Options,
  { stdout, signal }: EdgesContext,
): Promise<number> {
  const { width, height } = picture;
  const steps = filterSteps(width, height, filters);
  const planes = planesOf(picture, marginOf(filters));
  const started = performance.now();
  const filtered = await runSteps(backend, steps, planes, { signal });
  const ms = performance.now() - started;
  await writePng(to, (filters.edges ? edgePixels : picturePixels)(filtered, width, height));
  const what = `${steps.length} ${steps.length === 1 ? 'convolution' : 'convolutions'}`;
  stdout.write(`${to}: ${width} x ${height} pixels, ${what} in ${ms.toFixed(1)} ms\n`);
  stdout.write(`Backend  ${backend.name}: ${backend.device.name} [${backend.device.type}]\n`);
  if (!check) return EXIT.ok;
  const { values, different } = checkSteps(steps, planes, filtered);
  const outcome = different === 0 ? 'passed' : `failed: ${different.toLocaleString('en')} differ`;
  stdout.write(`Check    ${outcome}: ${values.toLocaleString('en')} values against the float64 oracle, bit for bit\n`);
  return different === 0 ? EXIT.ok : EXIT.failed;
}

/** `selectBackend` would refuse the name as well, but knows nothing of the option it came from. */
function checkNames(chosen: readonly string[] = []): void {
  const known = providers().map(({ name }) => name);
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new EdgesError('INVALID_ARGUMENT', `--backend ${unknown}: there are ${known.join(', ')}`);
}

function blurRadius(value: string): number {
  const radius = value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isInteger(radius) && radius >= 0 && radius <= MAX_BLUR) return radius;
  throw new InvalidArgumentError(`It must be an integer from 0 to ${MAX_BLUR}.`);
}

function names(value: string): string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function describeError(error: unknown): { message: string; code: string; exitCode: number } {
  if (error instanceof EdgesError) return { message: error.message, code: error.code, exitCode: EXIT.usage };
  if (isBackendError(error)) {
    const known: Readonly<Record<string, number>> = {
      INVALID_ARGUMENT: EXIT.usage,
      BACKEND_UNAVAILABLE: EXIT.unavailable,
    };
    const hint = error.hint === undefined ? '' : `; ${error.hint}`;
    return { message: error.detail + hint, code: error.code, exitCode: known[error.code] ?? EXIT.failed };
  }
  if (error instanceof CommanderError) {
    return { message: error.message.replace(/^error: /, ''), code: 'USAGE', exitCode: EXIT.usage };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, code: 'UNEXPECTED', exitCode: EXIT.failed };
}
