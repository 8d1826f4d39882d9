import type { ComputeBackend } from '@concord/backend-core';
import { UserError } from '@concord/example-command/user-error';
import { type ByteSource, loadSafetensors, readBytes } from '@concord/ops';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { type Config, parseConfig } from './config.ts';
import { Decoder } from './decoder.ts';
import { type GgufLoadOptions, openGguf } from './gguf.ts';
import { type NamedWeights, type WeightOptions, weightsOf } from './weights.ts';

/** Causal masks and the like, which some files have among the weights. */
const IS_NO_WEIGHT = /\.attn\.(masked_)?bias$|rotary_emb\.inv_freq$/;

/** A model as it is published, not on a device yet. */
export interface ModelFiles extends ModelWeights {
  readonly tokenizer: Tokenizer;
  /** How a chat is written, in Jinja's language; undefined: the model is not one for chats. */
  readonly chatTemplate: string | undefined;
  /** The text before every other; undefined: none. */
  readonly begin: string | undefined;
}

/** A model without its tokenizer. */
export interface ModelWeights {
  readonly config: Config;
  /** The weights by their names, as {@link ModelWeights.load} makes a decoder of. */
  readonly read: (backend: ComputeBackend, options: GgufLoadOptions) => Promise<NamedWeights>;
  /**
   * @throws {UserError} BAD_MODEL for weights that do not fit
   * @throws {BackendError} INVALID_ARGUMENT for damaged weights, OUT_OF_MEMORY for more than the device has
   */
  load(backend: ComputeBackend, options: LoadModelOptions): Promise<Decoder>;
}

/** Options of {@link ModelWeights.load}. */
export interface LoadModelOptions extends GgufLoadOptions, WeightOptions {
  /** Of activations and cache. */
  readonly dtype: 'f32' | 'f16';
  /** What the decoder gets instead of the weights, which it disposes. Default: the weights. */
  readonly adapt?: ((named: NamedWeights) => NamedWeights) | undefined;
}

/** The file of that name in the folder of a model. */
export type Folder = (file: string) => ByteSource;

/**
 * A model in one GGUF file.
 *
 * @throws {UserError} BAD_MODEL for a damaged one, or another kind of model
 */
export async function openFile(source: ByteSource): Promise<ModelFiles> {
  const file = await openGguf(source);
  const weights = weightsBy(file.config, (backend, options) => file.read(backend, options));
  return { ...readTokenizer(file.tokenizer, file.tokenizerConfig, source.name), ...weights };
}

/**
 * A model of `config.json`, `tokenizer.json` and `model.safetensors` or its shards.
 *
 * @throws {UserError} NO_MODEL where there is none, BAD_MODEL for a damaged one, or another kind of model
 */
export async function openFolder(folder: Folder): Promise<ModelFiles> {
  const tokenizer = await readJson(folder('tokenizer.json'));
  const settings: TokenizerConfig = await readJson(folder('tokenizer_config.json'), {});
  const separate = settings.chat_template === undefined ? await readText(folder('chat_template.jinja')) : undefined;
  const template = separate === undefined ? {} : { chat_template: separate };
  return {
    ...readTokenizer(tokenizer, { ...settings, ...template }, folder('tokenizer.json').name),
    ...(await openWeights(folder)),
  };
}

/**
 * The model of a folder without its tokenizer: `config.json` and the weights.
 *
 * @throws {UserError} NO_MODEL, BAD_MODEL
 */
export async function openWeights(folder: Folder): Promise<ModelWeights> {
  const own = folder('config.json');
  const config = parseConfig((await readJson(own)) as Record<string, unknown>, own.name);
  const [whole, index] = [folder('model.safetensors'), folder('model.safetensors.index.json')];
  // The index is small, or not there: to ask for the whole would fetch it.
  const source = (await readText(index)) === undefined ? whole : index;
  const names = (name: string): boolean => !IS_NO_WEIGHT.test(name);
  return weightsBy(config, (backend, options) => loadSafetensors(backend, source, { names, ...options }));
}

function weightsBy(
  config: Config,
  read: (backend: ComputeBackend, options: GgufLoadOptions) => Promise<NamedWeights>,
): ModelWeights {
  return {
    config,
    read,
    async load(backend, { signal, onProgress, adapt, ...options }) {
      const stored = await read(backend, { signal, onProgress });
      const named = adapt?.(stored) ?? stored;
      return new Decoder(backend, config, weightsOf(named, config, options), options.dtype);
    },
  };
}

async function readText(source: ByteSource): Promise<string | undefined> {
  const open = await source.open().catch(() => undefined);
  if (open === undefined) return undefined;
  try {
    return new TextDecoder().decode(await readBytes(open, 0, Infinity));
  } catch {
    // Such as a folder of that name.
    return undefined;
  } finally {
    await open.close();
  }
}

async function readJson(source: ByteSource, otherwise?: object): Promise<object> {
  const text = await readText(source);
  if (text === undefined && otherwise !== undefined) return otherwise;
  if (text === undefined) throw missing(source);
  try {
    return Object(JSON.parse(text)) as object;
  } catch (error) {
    throw new UserError('BAD_MODEL', `${source.name}: is not JSON: ${(error as Error).message}`);
  }
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

function missing({ name }: ByteSource): UserError {
  return new UserError('NO_MODEL', `there is no ${name}`, {
    hint: 'give a folder with config.json, model.safetensors and tokenizer.json, or a GGUF file',
  });
}
