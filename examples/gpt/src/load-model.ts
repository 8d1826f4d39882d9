import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComputeBackend } from '@concord/backend-core';
import { UserError } from '@concord/example-command';
import { Gpt2, parseConfig } from '@concord/example-gpt-model';
import { loadSafetensors, type LoadOptions } from '@concord/ops';
import { fileSource } from '@concord/ops/node';
import { Tokenizer } from '@huggingface/tokenizers';

/** Files of weights, the first that is there. */
const WEIGHTS = ['model.safetensors', 'model.safetensors.index.json'];

/** Causal masks, which GPT-2's files have among the weights. */
const IS_MASK = /\.attn\.(masked_)?bias$/;

/**
 * A GPT-2 from its published files: `config.json` and `model.safetensors`, or its shards.
 *
 * @throws {UserError} NO_MODEL for a folder without them, BAD_MODEL for another kind of model
 * @throws {BackendError} INVALID_ARGUMENT for damaged weights, OUT_OF_MEMORY for more than the device has
 */
export async function loadModel(
  backend: ComputeBackend,
  folder: string,
  options: Omit<LoadOptions, 'names'>,
): Promise<Gpt2> {
  const config = parseConfig(await readText(folder, 'config.json'), join(folder, 'config.json'));
  const file = WEIGHTS.find((name) => existsSync(join(folder, name)));
  if (file === undefined) throw missing(folder, WEIGHTS.join(' or '));
  const source = fileSource(join(folder, file));
  const names = (name: string): boolean => !IS_MASK.test(name);
  const weights = await loadSafetensors(backend, source, { ...options, names });
  try {
    return new Gpt2(config, weights);
  } catch (error) {
    for (const weight of Object.values(weights)) weight.dispose();
    throw error;
  }
}

/**
 * The tokenizer of a model: its `tokenizer.json`.
 *
 * @throws {UserError} NO_MODEL for a folder without it, BAD_MODEL for a damaged one
 */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const text = await readText(folder, 'tokenizer.json');
  const settings = join(folder, 'tokenizer_config.json');
  try {
    const config = existsSync(settings) ? (JSON.parse(await readFile(settings, 'utf8')) as object) : {};
    return new Tokenizer(JSON.parse(text) as object, config);
  } catch (error) {
    throw new UserError('BAD_MODEL', `${join(folder, 'tokenizer.json')}: ${(error as Error).message}`);
  }
}

async function readText(folder: string, name: string): Promise<string> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch {
    throw missing(folder, name);
  }
}

function missing(folder: string, name: string): UserError {
  return new UserError('NO_MODEL', `${folder} has no ${name}`, {
    hint: 'give the folder of a GPT-2: config.json, model.safetensors, tokenizer.json',
  });
}
