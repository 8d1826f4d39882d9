import { type ComputeBackend, selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  type CommandContext,
  EXIT,
  newCommand,
  providers,
  runCommand,
  verboseOption,
} from '@concord/example-command';
import { type Command, InvalidArgumentError } from 'commander';
import { checkSteps } from './check-steps.ts';
import { edgePixels, picturePixels, planesOf, runSteps } from './filter-picture.ts';
import { filterSteps, marginOf, MAX_BLUR } from './filter-steps.ts';
import { readPng, writePng } from './png-file.ts';

interface Options {
  readonly blur: number;
  readonly edges: boolean;
  readonly backend?: readonly string[];
  readonly check?: boolean;
}

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
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = edgesCommand(context);
  return runCommand(command, args, context, () => {
    const [from, to] = command.processedArgs as [string, string];
    return run(from, to, command.opts<Options>(), context);
  });
}

function edgesCommand(context: CommandContext): Command {
  return newCommand('edges', HELP, context)
    .description('Finds edges in a PNG, on whichever compute backend works best on this machine.')
    .argument('<in.png>', 'the picture')
    .argument('<out.png>', 'where the result goes; an existing file is overwritten')
    .option('--blur <radius>', `blur first, with a radius of 0 to ${MAX_BLUR} pixels`, blurRadius, 0)
    .option('--no-edges', 'only blur, in colour')
    .addOption(backendOption())
    .option('--check', 'filter again on the float64 oracle and compare')
    .addOption(verboseOption());
}

async function run(from: string, to: string, options: Options, context: CommandContext): Promise<number> {
  checkBackendNames(options.backend);
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
  { stdout, signal }: CommandContext,
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

function blurRadius(value: string): number {
  const radius = value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isInteger(radius) && radius >= 0 && radius <= MAX_BLUR) return radius;
  throw new InvalidArgumentError(`It must be an integer from 0 to ${MAX_BLUR}.`);
}
