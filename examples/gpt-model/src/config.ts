import { UserError } from '@concord/example-command';

/** The sizes of a GPT-2, by the names of its `config.json`. */
export interface Config {
  readonly vocab_size: number;
  readonly n_positions: number;
  readonly n_embd: number;
  readonly n_layer: number;
  readonly n_head: number;
  readonly layer_norm_epsilon: number;
  /** The token that ends a text. */
  readonly eos_token_id?: number | undefined;
}

const SIZES = ['vocab_size', 'n_positions', 'n_embd', 'n_layer', 'n_head'] as const;

/**
 * A `config.json` of GPT-2.
 *
 * @throws {UserError} BAD_MODEL for another kind of model, and for sizes that are missing or do not fit
 */
export function parseConfig(text: string, file: string): Config {
  const refuse = (why: string): UserError => {
    return new UserError('BAD_MODEL', `${file}: ${why}`, { hint: 'this example runs models of the kind gpt2' });
  };
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (error) {
    throw refuse(`is not JSON: ${(error as Error).message}`);
  }
  const kind = fields['model_type'] ?? 'gpt2';
  if (kind !== 'gpt2') throw refuse(`is of the kind ${JSON.stringify(kind)}`);
  const activation = fields['activation_function'] ?? 'gelu_new';
  if (activation !== 'gelu_new') throw refuse(`has the activation ${JSON.stringify(activation)}, not gelu_new`);
  for (const name of SIZES) {
    const value = fields[name];
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      throw refuse(`${name} must be a size, got ${JSON.stringify(value)}`);
  }
  const config = fields as unknown as Config;
  if (config.n_embd % config.n_head !== 0)
    throw refuse(`n_head ${config.n_head} does not divide n_embd ${config.n_embd}`);
  return { ...config, layer_norm_epsilon: config.layer_norm_epsilon ?? 1e-5 };
}
