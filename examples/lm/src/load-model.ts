import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { UserError } from '@concord/example-command';
import { cast, loadSafetensors, QuantizedTensor, quantizeWeight } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { type Config, parseConfig } from './config.ts';
import { Decoder } from './decoder.ts';
import { type GgufLoadOptions, openGguf } from './gguf.ts';
import { type NamedWeights, weightsOf } from './weights.ts';

/** Files of weights, the first that is there. */
const WEIGHTS = ['model.safetensors', 'model.safetensors.index.json'];

/** Causal masks and the like, which some files have among the weights. */
const IS_NO_WEIGHT = /\.attn\.(masked_)?bias$|rotary_emb\.inv_freq$/;

/** A model as it is published, not on a device yet. */
export interface ModelFiles {
  readonly config: Config;
  readonly tokenizer: Tokenizer;
  /** How a chat is written, in Jinja's language; undefined: the model is not one for chats. */
  readonly chatTemplate: string | undefined;
  /** The text before every other; undefined: none. */
  readonly begin: string | undefined;
  /**
   * @throws {UserError} BAD_MODEL for weights that do not fit
   * @throws {BackendError} INVALID_ARGUMENT for damaged weights, OUT_OF_MEMORY for more than the device has
   */
  load(backend: ComputeBackend, options: LoadModelOptions): Promise<Decoder>;
}

/** Options of {@link ModelFiles.load}. */
export interface LoadModelOptions extends GgufLoadOptions {
  /** Bits of each weight of a product, by blocks of 32; default: as in the file. */
  readonly quantize?: 'i8' | 'i4' | undefined;
}

/**
 * A folder with `config.json`, `tokenizer.json` and `model.safetensors` or its shards, or one GGUF file.
 *
 * @throws {UserError} NO_MODEL where there is none, BAD_MODEL for a damaged one, or another kind of model
 */
export async function openModel(path: string): Promise<ModelFiles> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => undefined,
  );
  if (isFile === undefined) throw new UserError('NO_MODEL', `there is no ${path}`);
  return isFile ? openFile(path) : openFolder(path);
}

async function openFile(path: string): Promise<ModelFiles> {
  const file = await openGguf(path);
  return {
    config: file.config,
    ...readTokenizer(file.tokenizer, file.tokenizerConfig, path),
    load: (backend, options) => load(backend, file.config, () => file.load(backend, options), options),
  };
}

async function readJson(folder: string, name: string): Promise<object> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8').catch(() => {
    throw missing(folder, name);
  });
  try {
    return Object(JSON.parse(text)) as object;
  } catch (error) {
    throw new UserError('BAD_MODEL', `${path}: is not JSON: ${(error as Error).message}`);
  }
}

async function openFolder(folder: string): Promise<ModelFiles> {
  const tokenizer = await readJson(folder, 'tokenizer.json');
  const settings: TokenizerConfig = existsSync(join(folder, 'tokenizer_config.json'))
    ? await readJson(folder, 'tokenizer_config.json')
    : {};
  const apart = join(folder, 'chat_template.jinja');
  const template = existsSync(apart) ? { chat_template: await readFile(apart, 'utf8') } : {};
  return {
    ...readTokenizer(tokenizer, { ...settings, ...template }, join(folder, 'tokenizer.json')),
    ...(await openWeights(folder)),
  };
}

/**
 * The model of a folder without its tokenizer: `config.json` and the weights.
 *
 * @throws {UserError} NO_MODEL, BAD_MODEL
 */
export async function openWeights(folder: string): Promise<Pick<ModelFiles, 'config' | 'load'>> {
  const config = parseConfig(
    (await readJson(folder, 'config.json')) as Record<string, unknown>,
    join(folder, 'config.json'),
  );
  const file = WEIGHTS.find((name) => existsSync(join(folder, name)));
  if (file === undefined) throw missing(folder, WEIGHTS.join(' or '));
  const source = fileSource(join(folder, file));
  return {
    config,
    load: (backend, options) => {
      const { dtype, signal, onProgress } = options;
      const names = (name: string): boolean => !IS_NO_WEIGHT.test(name);
      const read = async (): Promise<NamedWeights> => {
        const weights = await loadSafetensors(backend, source, { names, signal, onProgress });
        // Vectors are of the type of what they are added to.
        for (const [name, each] of Object.entries(weights)) {
          if (each.dtype === dtype || each.rank > 1) continue;
          weights[name] = cast(each, dtype);
          each.dispose();
        }
        return weights;
      };
      return load(backend, config, read, options);
    },
  };
}

async function load(
  backend: ComputeBackend,
  config: Config,
  read: () => Promise<NamedWeights>,
  { dtype, quantize }: LoadModelOptions,
): Promise<Decoder> {
  const weights = { ...(await read()) };
  try {
    for (const [name, each] of quantize === undefined ? [] : Object.entries(weights)) {
      if (each instanceof QuantizedTensor || each.rank < 2 || !name.endsWith('proj.weight')) continue;
      weights[name] = quantizeWeight(each, { dtype: quantize === 'i4' ? 'u4' : 'i8' });
      each.dispose();
    }
  } catch (error) {
    for (const each of Object.values(weights)) each.dispose();
    throw error;
  }
  return new Decoder(backend, config, weightsOf(weights, config), dtype);
}

/** What somebody says in a chat. */
export interface Message {
  readonly role: string;
  readonly content: string;
}

/** A chat as the model was taught to read it, up to its answer; the messages as they are where it has no template. */
export function chatText({ chatTemplate, begin }: ModelFiles, messages: readonly Message[]): string {
  if (chatTemplate === undefined) return messages.map(({ content }) => content).join('\n');
  const given = { messages, bos_token: begin ?? '', add_generation_prompt: true };
  try {
    return new Template(chatTemplate).render(given);
  } catch (error) {
    throw new UserError('BAD_CHAT', `the model's chat template refuses it: ${(error as Error).message}`);
  }
}

/** The tokens of a prompt, after that which the model has before every text. */
export function tokensOf({ tokenizer, begin }: ModelFiles, prompt: string): number[] {
  const whole = begin !== undefined && !prompt.startsWith(begin) ? begin + prompt : prompt;
  return tokenizer.encode(whole, { add_special_tokens: false }).ids;
}

interface TokenizerConfig {
  readonly chat_template?: unknown;
  readonly bos_token?: unknown;
  readonly add_bos_token?: unknown;
}

function readTokenizer(
  json: object,
  config: TokenizerConfig,
  path: string,
): Pick<ModelFiles, 'tokenizer' | 'chatTemplate' | 'begin'> {
  const { chat_template: template, bos_token: begin, add_bos_token: isFirst } = config;
  const first = typeof begin === 'object' && begin !== null ? (begin as { content?: unknown }).content : begin;
  try {
    return {
      tokenizer: new Tokenizer(json, config),
      chatTemplate: typeof template === 'string' ? template : undefined,
      begin: isFirst === true && typeof first === 'string' ? first : undefined,
    };
  } catch (error) {
    throw new UserError('BAD_MODEL', `${path}: ${(error as Error).message}`);
  }
}

function missing(folder: string, name: string): UserError {
  return new UserError('NO_MODEL', `${folder} has no ${name}`, {
    hint: 'give a folder with config.json, model.safetensors and tokenizer.json, or a GGUF file',
  });
}
