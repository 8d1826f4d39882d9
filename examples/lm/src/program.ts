import { stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
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
import { byteSource } from '@concord/ops';
import { fileSource, folderCache } from '@concord/ops/node';
import { Option } from 'commander';
import { Batch } from './batch.ts';
import type { Decoder } from './decoder.ts';
import { chatText, type Folder, type ModelFiles, openFile, openFolder, tokensOf } from './model.ts';
import { adapterOf, finetune } from './finetune.ts';
import { serve } from './serve.ts';
import { type Making, textOf } from './token-text.ts';

/** Options of the command. */
export interface Options extends CommonOptions {
  readonly model: string;
  readonly cache?: string;
  readonly tokens: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly chat?: boolean;
  readonly quantize?: 'i8' | 'i4';
  readonly stop?: readonly string[];
  readonly serve?: boolean;
  readonly port: number;
  readonly batch: number;
  readonly queue: number;
  readonly seed: number;
  readonly dtype: 'f32' | 'f16';
  readonly adapter?: string;
  readonly finetune?: string;
  readonly steps: number;
}

/** The small model that comes with this example. */
const OWN_MODEL = fileURLToPath(new URL('../model', import.meta.url));
const MAX = 2 ** 32 - 1;

/** Continues a text, or answers. */
export const runProgram: Program = defineProgram<Options>({
  name: 'lm',
  description: 'Continues a text with a language model, on whichever compute backend works best on this machine.',
  examples: [
    'lm "Once upon a time"',
    'lm --model ~/models/SmolLM2-135M-Instruct --chat "What is a compute backend?"',
    'lm --model ~/models/SmolLM2-135M-Instruct --serve --port 8080',
    'lm --finetune notes.txt --adapter notes.safetensors && lm --adapter notes.safetensors "A note"',
    'lm --model ~/models/llama-3.2-1b.q4_0.gguf --top-p 0.9 --json "The answer is" | jq .text',
  ],
  notes: `A model is a folder with config.json, model.safetensors and tokenizer.json, as Transformers' models are published, or one GGUF
file: Llama, Mistral, Qwen 2 and 3, SmolLM, GPT-2 (as a folder). Without --model a small one runs that tells
short stories in simple English, and knows nothing else.`,
  exitCodes: { failed: 'the device failed', usage: 'wrong arguments, or no such model' },
  define: (command) =>
    command
      .argument('[prompt]', 'how the text begins, or with --chat what is said to the model')
      .addOption(new Option('--model <path>', 'the model').default(OWN_MODEL, 'the small one of this example'))
      .option('--cache <folder>', 'keep the files of a model at a URL there')
      .option('--chat', "write the prompt as the model's chats are written")
      .option('--tokens <n>', 'maximum of tokens to generate', integer(1, MAX), 100)
      .option('--temperature <t>', '0: always the most likely token', atLeast(0), 0.8)
      .option('--top-k <k>', 'choose among the k most likely tokens', integer(1, MAX))
      .option('--top-p <p>', 'choose among the fewest that have this share of the probability', atLeast(0))
      .addOption(
        new Option('--stop <text>', 'end the text before it; may be given again').argParser((text, all?: string[]) => [
          ...(all ?? []),
          text,
        ]),
      )
      .option('--seed <n>', 'of the random choices', integer(0, MAX), 1)
      .addOption(new Option('--dtype <type>', 'of activations and cache').choices(['f32', 'f16']).default('f32'))
      .option('--serve', "answer over HTTP instead, by OpenAI's interface for chats")
      .option('--port <n>', 'where --serve listens on this machine', integer(0, 65_535), 8080)
      .option('--batch <n>', 'texts that --serve continues together', integer(1, 256), 8)
      .option('--queue <n>', 'texts that may wait for that', integer(0, MAX), 64)
      .addOption(new Option('--quantize <type>', 'round the weights of products').choices(['i8', 'i4']))
      .option('--adapter <file>', 'add what --finetune wrote to the weights')
      .option('--finetune <text>', 'fit an adapter (LoRA) to a text file, and write it to --adapter')
      .option('--steps <n>', 'steps of --finetune', integer(1, MAX), 100),
  run: async ([given = ''], options, context) => {
    const files = await openModel(options.model, options.cache);
    if (options.finetune !== undefined) return finetune(options.finetune, files, options, context);
    if (options.chat === true && files.chatTemplate === undefined)
      throw new UserError('NO_CHAT', 'the model has no chat template', { hint: 'leave --chat out' });
    const prompt = options.chat === true ? chatText(files, [{ role: 'user', content: given }]) : given;
    const ids = tokensOf(files, prompt);
    const isServer = options.serve === true;
    if (!isServer && (given === '' || ids.length === 0))
      throw new UserError('NO_PROMPT', 'the prompt is empty', { hint: 'give the text at least a word' });
    const { dtype } = options;
    const needs = [{ op: 'gemm', dtype }, { op: 'attention', dtype }, { op: 'run' }] as const;
    return withBackend(options.backend, needs, async (backend) => {
      using model = await load(backend, files, options, context);
      if (isServer) return await serveUntilStopped(model, files, options, context);
      return await write(model, files, given, ids, options, context);
    });
  },
});

/**
 * A model by its path or URL: a folder, or one GGUF file.
 *
 * @param cache - the folder where the files of a URL are kept
 * @throws {UserError} NO_MODEL, BAD_MODEL
 */
export async function openModel(path: string, cache?: string): Promise<ModelFiles> {
  const isUrl = /^https?:/.test(path);
  const kept = cache === undefined ? undefined : folderCache(cache);
  const isFile = isUrl ? /\.gguf$/i.test(path) : (await stat(path).catch(() => undefined))?.isFile();
  if (isFile === undefined) throw new UserError('NO_MODEL', `there is no ${path}`);
  const folder: Folder = (file) => (isUrl ? byteSource(`${path}/${file}`, kept) : fileSource(join(path, file)));
  if (!isFile) return openFolder(folder);
  return openFile(isUrl ? byteSource(path, kept) : fileSource(path));
}

async function serveUntilStopped(
  model: Decoder,
  files: ModelFiles,
  { port, batch: size, queue, model: path }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const { server, batch } = serve(model, files, { name: basename(path), size, queue });
  await using _closed = batch;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1: Ctrl-C ends it\n`);
  try {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return EXIT.ok;
}

async function load(
  backend: ComputeBackend,
  files: ModelFiles,
  { dtype, quantize, adapter: path }: Options,
  { stderr, signal }: CommandContext,
): Promise<Decoder> {
  const progress = progressOn(stderr, 'weights');
  const onProgress = (done: number, total: number): void => progress.update(done, total, `of ${round(total / 1e6)} MB`);
  const adapt = path === undefined ? undefined : await adapterOf(backend, path);
  return files.load(backend, { dtype, quantize, adapt, signal, onProgress }).finally(() => progress.stop());
}

async function write(
  model: Decoder,
  { tokenizer }: ModelFiles,
  prompt: string,
  ids: readonly number[],
  { json = false, stop = [], ...options }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const { context } = model.config;
  if (ids.length >= context) {
    throw new UserError('TOO_LONG', `the prompt has ${ids.length} tokens, the model takes ${context - 1}`, {
      hint: 'use a shorter one',
    });
  }
  const making: Making = { tokens: 0, isStopped: false, first: 0 };
  let text = '';
  if (!json && options.chat !== true) stdout.write(prompt);
  const started = performance.now();
  const whole = Math.min(context, ids.length + options.tokens);
  await using batch = new Batch(model, { context: whole, topK: options.topK });
  for await (const piece of textOf(batch, tokenizer, { ...options, stop, prompt: ids, signal }, making)) {
    text += piece;
    if (!json) stdout.write(piece);
  }
  const { tokens, first } = making;
  const { backend, device } = deviceFields(model.backend);
  const promptMs = round(first - started);
  const rate = tokens > 1 ? round((1000 * (tokens - 1)) / (performance.now() - first)) : null;
  const { dtype, quantize } = options;
  if (json) {
    const shown = options.chat === true ? text : prompt + text;
    const figures = { backend, device, dtype, quantize, promptTokens: ids.length, promptMs };
    stdout.write(`${JSON.stringify({ prompt, text: shown, ...figures, tokens, tokensPerSecond: rate })}\n`);
  } else {
    const speed = rate === null ? 'too short to time' : `${rate} tokens/s`;
    const kind = quantize === undefined ? dtype : `${dtype}, weights ${quantize}`;
    const line = `${tokens} tokens, ${speed}, prompt of ${ids.length} in ${promptMs} ms; ${backend}: ${device}, ${kind}`;
    stdout.write(`\n\n${colorsFor(stdout).dim(line)}\n`);
  }
  return EXIT.ok;
}

function round(value: number): number {
  return value < 10 ? Math.round(value * 100) / 100 : Math.round(value * 10) / 10;
}
