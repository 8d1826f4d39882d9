import { fileURLToPath } from 'node:url';
import type { ComputeBackend } from '@concord/backend-core';
import {
  atLeast,
  colorsFor,
  type CommandContext,
  type CommonOptions,
  defineProgram,
  deviceFields,
  EXIT,
  integer,
  type Program,
  progressOn,
  UserError,
  withBackend,
} from '@concord/example-command';
import type { Gpt2 } from '@concord/example-gpt-model';
import type { Tokenizer } from '@huggingface/tokenizers';
import { Option } from 'commander';
import { generate } from './generate.ts';
import { loadModel, loadTokenizer } from './load-model.ts';
import { TokenText } from './token-text.ts';

interface Options extends CommonOptions {
  readonly model: string;
  readonly tokens: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly seed: number;
  readonly dtype: 'f32' | 'f16';
}

/** The small model that comes with this example. */
const OWN_MODEL = fileURLToPath(new URL('../model', import.meta.url));
const MAX = 2 ** 32 - 1;

/** Continues a text. */
export const runProgram: Program = defineProgram<Options>({
  name: 'gpt',
  description: 'Continues a text with a GPT-2, on whichever compute backend works best on this machine.',
  examples: [
    'gpt "A backend is"',
    'gpt --model ~/models/gpt2 --tokens 200 --temperature 0.8 --top-k 40 "Once upon a time"',
    'gpt --model ~/models/gpt2 --dtype f16 --json "The answer is" | jq .text',
  ],
  notes: `A model is a folder with config.json, model.safetensors and tokenizer.json, as GPT-2's are published. Without --model a
small one runs that was trained on this repository's own text: it knows the words, not what they mean.`,
  exitCodes: { failed: 'the device failed', usage: 'wrong arguments, or a folder that is no GPT-2' },
  define: (command) =>
    command
      .argument('<prompt>', 'how the text begins')
      .addOption(new Option('--model <folder>', 'the model').default(OWN_MODEL, 'the small one of this example'))
      .option('--tokens <n>', 'maximum of tokens to generate', integer(1, MAX), 100)
      .option('--temperature <t>', '0: always the most likely token', atLeast(0), 0.8)
      .option('--top-k <k>', 'choose among the k most likely tokens', integer(1, MAX))
      .option('--seed <n>', 'of the random choices', integer(0, MAX), 1)
      .addOption(
        new Option('--dtype <type>', 'of weights and cache on the device').choices(['f32', 'f16']).default('f32'),
      ),
  run: async ([prompt = ''], options, context) => {
    const tokenizer = await loadTokenizer(options.model);
    const { ids } = tokenizer.encode(prompt, { add_special_tokens: false });
    if (ids.length === 0)
      throw new UserError('NO_PROMPT', 'the prompt is empty', { hint: 'give the text at least a word' });
    const { dtype } = options;
    return withBackend(
      options.backend,
      [{ op: 'gemm', dtype }, { op: 'attention', dtype }, { op: 'run' }],
      async (backend) => {
        using model = await load(backend, options, context);
        return await write(model, tokenizer, prompt, ids, options, context);
      },
    );
  },
});

async function load(backend: ComputeBackend, options: Options, { stderr, signal }: CommandContext): Promise<Gpt2> {
  const progress = progressOn(stderr, 'weights');
  const onProgress = (done: number, total: number): void => progress.update(done, total, `of ${round(total / 1e6)} MB`);
  return loadModel(backend, options.model, { dtype: options.dtype, signal, onProgress }).finally(() => progress.stop());
}

async function write(
  model: Gpt2,
  tokenizer: Tokenizer,
  prompt: string,
  ids: readonly number[],
  { json = false, ...options }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const { n_positions: context } = model.config;
  if (ids.length >= context) {
    throw new UserError('TOO_LONG', `the prompt has ${ids.length} tokens, the model takes ${context - 1}`, {
      hint: 'use a shorter one',
    });
  }
  const pieces = new TokenText(tokenizer);
  let [text, tokens, prefilled] = [prompt, 0, 0];
  const show = (piece: string): void => {
    text += piece;
    if (!json) stdout.write(piece);
  };
  if (!json) stdout.write(prompt);
  const started = performance.now();
  const onPrefill = (): void => {
    prefilled = performance.now();
  };
  for await (const token of generate(model, ids, { ...options, signal, onPrefill })) {
    tokens++;
    show(pieces.add(token));
  }
  show(pieces.end());
  const { backend, device } = deviceFields(model.backend);
  const promptMs = round(prefilled - started);
  const rate = tokens > 1 ? round((1000 * (tokens - 1)) / (performance.now() - prefilled)) : null;
  const { dtype } = options;
  if (json) {
    const figures = { backend, device, dtype, promptTokens: ids.length, promptMs, tokens, tokensPerSecond: rate };
    stdout.write(`${JSON.stringify({ prompt, text, ...figures })}\n`);
  } else {
    const speed = rate === null ? 'too short to time' : `${rate} tokens/s`;
    const line = `${tokens} tokens, ${speed}, prompt of ${ids.length} in ${promptMs} ms; ${backend}: ${device}, ${dtype}`;
    stdout.write(`\n\n${colorsFor(stdout).dim(line)}\n`);
  }
  return EXIT.ok;
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 100) / 100 : Math.round(value * 10) / 10;
}
