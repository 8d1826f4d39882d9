import type { BackendProvider } from '@concord/backend-core';
import type { GatherView, Kernel, RunShape } from '@concord/backend-core/kernel';
import { type Command, InvalidArgumentError } from 'commander';
import { chooseProviders } from '../choose-backend.ts';
import { CommandError } from '../command-error.ts';
import type { CommandContext, Finish } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { explainKernel, type KernelExplanation } from '../kernel/explain-kernel.ts';
import { explanationText } from '../kernel/explanation-text.ts';
import { type KernelFacts, kernelFacts } from '../kernel/kernel-facts.ts';
import { kernelText } from '../kernel/kernel-text.ts';
import { type LoadedKernel, loadKernels } from '../kernel/load-kernels.ts';
import { colorsFor } from '../output/colors.ts';
import { toJsonText } from '../output/output-file.ts';

/** What `concord kernel --json` prints. */
export interface KernelJson {
  readonly kernels: readonly (LoadedKernel &
    KernelFacts & {
      /** What each backend says of the call; left out without `--shape`. */
      readonly explanations?: readonly KernelExplanation[];
    })[];
}

interface Options {
  readonly export?: string;
  readonly shape?: readonly number[];
  readonly folded?: number;
  readonly gather?: Readonly<Record<string, GatherView>>;
  readonly backend?: string;
  readonly json?: true;
}

const HELP = `
A kernel is what defineKernel gives: a computation as data. With --shape it is also asked of each backend whether
it runs such a call and, where the backend can tell, how: passes, variants and generated code. Inputs and outputs
are dense then, in their declared types.

Examples:
  concord kernel ./dist/softmax.js
  concord kernel ./dist/kernels.js --export layerNorm --shape 8,12,1024 --folded 1
  concord kernel kernel.json --shape 1000 --backend webgpu
  concord kernel ./dist/lookup.js --shape 100 --gather table=50000,64

Exit codes:
  0    the kernels were shown
  1    an unforeseen error
  2    wrong arguments, or the file has no such kernel
  3    none of the backends can be used here`;

/** Adds `concord kernel`: what a kernel computes, and how backends do it. */
export function addKernelCommand(program: Command, context: CommandContext, finish: Finish): void {
  program
    .command('kernel')
    .summary('show what a kernel computes, and how backends run it')
    .description('Shows the graphs of the kernels that a module exports or a JSON file holds.')
    .argument('<file>', 'a JavaScript module that exports kernels, or a kernel as .json')
    .option('--export <name>', 'only this export (default: the default one, else all that are kernels)')
    .option('--shape <sizes>', 'explain a call over this domain, such as 8,12,64', sizes)
    .option('--folded <n>', 'how many of its last axes make a row', size)
    .option('--gather <name=sizes>', 'the shape of a gather input; may be repeated', gathered)
    .option('--backend <names>', 'ask these backends, with commas between them (default: all that work here)')
    .option('--json', 'print one JSON object in place of the text')
    .addHelpText('after', HELP)
    .action(async (file: string, options: Options) => finish(await kernel(context, file, options)));
}

async function kernel(context: CommandContext, file: string, options: Options): Promise<number> {
  const { stdout } = context;
  const colors = colorsFor(stdout);
  const call = callOf(options);
  const providers = await providersOf(context, options, call);
  const loaded = await loadKernels(file, options.export);
  const kernels: KernelJson['kernels'][number][] = [];
  for (const one of loaded) {
    const facts = kernelFacts(one.kernel);
    if (call === undefined) kernels.push({ ...one, ...facts });
    else kernels.push({ ...one, ...facts, explanations: await explainAll(providers, one.kernel, call) });
  }
  if (options.json === true) stdout.write(toJsonText({ kernels } satisfies KernelJson));
  else {
    const blocks = kernels.flatMap((each) => [
      kernelText(each, colors),
      ...(each.explanations ?? []).map((explanation) => explanationText(explanation, colors)),
    ]);
    stdout.write(`${blocks.join('\n\n')}\n`);
  }
  const said = kernels.flatMap(({ explanations = [] }) => explanations);
  return said.length > 0 && said.every(({ status }) => status === 'unavailable') ? EXIT.unavailable : EXIT.ok;
}

/** One after the other: two APIs that open one GPU at once are no fair test of either. */
async function explainAll(
  providers: readonly BackendProvider[],
  of: Kernel,
  call: Omit<RunShape, 'kernel'>,
): Promise<readonly KernelExplanation[]> {
  const explanations: KernelExplanation[] = [];
  for (const provider of providers) explanations.push(await explainKernel(provider, of, call));
  return explanations;
}

function callOf({ shape, folded, gather, backend }: Options): Omit<RunShape, 'kernel'> | undefined {
  if (shape !== undefined) {
    return { shape, ...(folded === undefined ? {} : { folded }), ...(gather === undefined ? {} : { inputs: gather }) };
  }
  const [given] = Object.entries({ folded, gather, backend }).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  );
  if (given === undefined) return undefined;
  throw new CommandError(`--${given} is about a call, which needs --shape`, {
    code: 'INVALID_ARGUMENT',
    exitCode: EXIT.usage,
    hint: 'add --shape with the sizes of the domain, such as --shape 8,12,64',
  });
}

async function providersOf(
  { providers }: CommandContext,
  { backend }: Options,
  call: object | undefined,
): Promise<readonly BackendProvider[]> {
  if (call === undefined) return [];
  return backend === undefined ? providers : chooseProviders(providers, backend);
}

function size(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0 || value.trim() === '') {
    throw new InvalidArgumentError('It must be an integer from 0 on.');
  }
  return number;
}

function sizes(value: string): readonly number[] {
  return value.trim() === '' ? [] : value.split(',').map(size);
}

function gathered(value: string, before: Options['gather'] = {}): Options['gather'] {
  const [, name, shape] = /^([^=]+)=(.*)$/.exec(value) ?? [];
  if (name === undefined || shape === undefined) throw new InvalidArgumentError('It looks like table=50000,64.');
  return { ...before, [name]: { shape: sizes(shape) } };
}
