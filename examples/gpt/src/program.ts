import { fileURLToPath } from 'node:url';
import { selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  colorsFor,
  type CommandContext,
  EXIT,
  newCommand,
  providers,
  runCommand,
  UserError,
  verboseOption,
} from '@concord/example-command';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { generate } from './generate.ts';
import { loadModel, loadTokenizer } from './load-model.ts';
import { TokenText } from './token-text.ts';

interface Options {
  readonly model: string;
  readonly tokens: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly seed: number;
  readonly dtype: 'f32' | 'f16';
  readonly backend?: readonly string[];
  readonly json?: boolean;
}

/** The small model that comes with this example. */
const OWN_MODEL = fileURLToPath(new URL('../model', import.meta.url));

const HELP = `
Examples:
  gpt "A backend is"
  gpt --model ~/models/gpt2 --tokens 200 --temperature 0.8 --top-k 40 "Once upon a time"
  gpt --model ~/models/gpt2 --dtype f16 --json "The answer is" | jq .text

A model is a folder with config.json, model.safetensors and tokenizer.json, as GPT-2's are published. Without --model a
small one runs that was trained on this repository's own text: it knows the words, not what they mean.

Exit codes:
  0    done
  1    the device failed
  2    wrong arguments, or a folder that is no GPT-2
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
  const command = gptCommand(context);
  return runCommand(command, args, context, () =>
    run(command.processedArgs[0] as string, command.opts<Options>(), context),
  );
}

function gptCommand(context: CommandContext): Command {
  return newCommand('gpt', HELP, context)
    .description('Goes on with a text, by a GPT-2, on whichever compute backend works best on this machine.')
    .argument('<prompt>', 'how the text begins')
    .addOption(new Option('--model <folder>', 'the model').default(OWN_MODEL, 'the small one of this example'))
    .addOption(new Option('--tokens <n>', 'tokens to generate at most').argParser(sizeOf).default(100))
    .addOption(new Option('--temperature <t>', '0: always the most likely token').argParser(temperatureOf).default(0.8))
    .addOption(new Option('--top-k <k>', 'choose among the k most likely tokens').argParser(sizeOf))
    .addOption(new Option('--seed <n>', 'of the random choices').argParser(seedOf).default(1))
    .addOption(new Option('--dtype <type>', 'of weights and cache on the device').choices(['f32', 'f16']).default('f32'))
    .addOption(backendOption())
    .option('--json', 'one JSON object at the end instead of text as it comes')
    .addOption(verboseOption());
}

async function run(prompt: string, options: Options, { stdout, stderr, signal }: CommandContext): Promise<number> {
  checkBackendNames(options.backend);
  const tokenizer = await loadTokenizer(options.model);
  const ids = tokenizer.encode(prompt, { add_special_tokens: false }).ids;
  if (ids.length === 0) throw new UserError('NO_PROMPT', 'the prompt is empty', { hint: 'give the text at least a word' });

  const { backend } = await selectBackend(providers(), {
    require: [{ op: 'gemm', dtype: options.dtype }, { op: 'attention', dtype: options.dtype }, { op: 'run' }],
    ...(options.backend === undefined ? {} : { prefer: options.backend }),
  });
  try {
    const progress = progressOn(stderr);
    const { dtype } = options;
    using model = await loadModel(backend, options.model, { dtype, signal, onProgress: progress.update });
    progress.clear();
    const { n_positions: context } = model.config;
    if (ids.length >= context) {
      throw new UserError('TOO_LONG', `the prompt has ${ids.length} tokens, the model takes ${context - 1}`, {
        hint: 'use a shorter one',
      });
    }
    const text = new TokenText(tokenizer, ids);
    const started = performance.now();
    let prefilled = started;
    const generated: number[] = [];
    if (options.json !== true) stdout.write(prompt);
    const onPrefill = (): void => {
      prefilled = performance.now();
    };
    for await (const token of generate(model, ids, { ...options, signal, onPrefill })) {
      generated.push(token);
      const piece = text.add(token);
      if (options.json !== true) stdout.write(piece);
    }
    const seconds = (performance.now() - prefilled) / 1000;
    const rate = (generated.length - 1) / seconds;
    const figures = {
      backend: backend.name,
      device: backend.device.name,
      dtype,
      promptTokens: ids.length,
      promptMs: round(prefilled - started),
      tokens: generated.length,
      tokensPerSecond: generated.length > 1 ? round(rate) : null,
    };
    if (options.json === true) {
      stdout.write(`${JSON.stringify({ prompt, text: prompt + text.all, ...figures })}\n`);
    } else {
      const speed = generated.length > 1 ? `${round(rate)} tokens/s` : 'too short to time';
      const line = `${generated.length} tokens, ${speed}, prompt of ${ids.length} in ${figures.promptMs} ms`;
      stdout.write(`\n\n${colorsFor(stdout).dim(`${line}; ${backend.name}: ${backend.device.name}, ${dtype}`)}\n`);
    }
    return EXIT.ok;
  } finally {
    await backend.dispose();
  }
}

/** A line that says how much of the weights is on the device, on a terminal only. */
function progressOn(stderr: CommandContext['stderr']): { update(done: number, total: number): void; clear(): void } {
  const isTerminal = stderr.isTTY === true;
  let shown = '';
  const show = (text: string): void => {
    if (!isTerminal || text === shown) return;
    stderr.write(`\r${text.padEnd(shown.length)}`);
    shown = text;
  };
  return {
    update: (done, total) => show(`weights ${Math.round((100 * done) / Math.max(1, total))}% of ${round(total / 1e6)} MB`),
    clear: () => {
      if (shown !== '') stderr.write(`\r${' '.repeat(shown.length)}\r`);
    },
  };
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 100) / 100 : Math.round(value * 10) / 10;
}

function sizeOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It must be a positive integer.');
  return value;
}

function temperatureOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value < Infinity)) throw new InvalidArgumentError('It must be a number from 0 on.');
  return value;
}

function seedOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > 2 ** 32 - 1) {
    throw new InvalidArgumentError('It must be an integer from 0 to 4294967295.');
  }
  return value;
}
