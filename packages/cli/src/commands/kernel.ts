import type { BackendProvider } from '@concord/backend-core';
import type { GatherView, Kernel, RunShape } from '@concord/backend-core/kernel';
import { chooseProviders } from '../choose-backend.ts';
import { CommandError, EXIT } from '../command-error.ts';
import type { CommandContext } from '../context.ts';
import { explainKernel, explanationText, type KernelExplanation } from '../kernel/explain-kernel.ts';
import { type KernelFacts, kernelFacts } from '../kernel/kernel-facts.ts';
import { kernelText } from '../kernel/kernel-text.ts';
import { type LoadedKernel, loadKernels } from '../kernel/load-kernels.ts';
import { present } from '../objects.ts';
import { colorsFor } from '../output/colors.ts';
import { toJsonText } from '../output/json-text.ts';

/** The JSON that `concord kernel --json` prints. */
export interface KernelJson {
  readonly kernels: readonly (LoadedKernel &
    KernelFacts & {
      /** The explanation of the call by each backend; left out without `--shape`. */
      readonly explanations?: readonly KernelExplanation[];
    })[];
}

/** Options of `concord kernel`. */
export interface KernelOptions {
  readonly export?: string;
  readonly shape?: readonly number[];
  readonly folded?: number;
  readonly gather?: Readonly<Record<string, GatherView>>;
  readonly backend?: string;
  readonly json?: true;
}

/** Runs `concord kernel`: what a kernel computes, and how backends do it. */
export async function kernel(context: CommandContext, file: string, options: KernelOptions): Promise<number> {
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

function callOf({ shape, folded, gather, backend }: KernelOptions): Omit<RunShape, 'kernel'> | undefined {
  if (shape !== undefined) {
    return { shape, ...present({ folded, inputs: gather }) };
  }
  const [given] = Object.entries({ folded, gather, backend }).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  );
  if (given === undefined) return undefined;
  throw new CommandError(`--${given} is about a call, which needs --shape`, {
    hint: 'add --shape with the sizes of the domain, such as --shape 8,12,64',
  });
}

async function providersOf(
  { providers }: CommandContext,
  { backend }: KernelOptions,
  call: object | undefined,
): Promise<readonly BackendProvider[]> {
  if (call === undefined) return [];
  return backend === undefined ? providers : chooseProviders(providers, backend);
}
