import type { Activation } from '@concord/ops';
import { UserError } from '@concord/example-command';

/** What a decoder must know besides its weights. */
export interface Config {
  readonly context: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Of the norms. */
  readonly eps: number;
  readonly activation: Activation;
  /** Undefined: a learned position is added to each token. */
  readonly rope: Rope | undefined;
  /** A token sees this number of tokens, itself included; undefined: all before it. */
  readonly window: number | undefined;
  /** Tokens that end a text. */
  readonly ends: readonly number[];
}

/** Rotary positions. */
export interface Rope {
  /** Radians a position, `[headDim / 2]`. */
  readonly frequencies: Float32Array;
  /** Factor of rotated queries and keys each. */
  readonly factor: number;
  /** Which elements are a pair: see `rope` of `@concord/ops`. */
  readonly interleaved: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Kinds of models by `model_type`; all but GPT-2 are read alike. */
const KINDS = ['gpt2', 'llama', 'mistral', 'qwen2', 'qwen3'];

/** The activations of published files, by our names. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  ...{ silu: 'silu', swish: 'silu', gelu: 'gelu', relu: 'relu' },
  ...{ gelu_new: 'geluTanh', gelu_pytorch_tanh: 'geluTanh', gelu_fast: 'geluTanh' },
};

/**
 * The decoder that a `config.json` of Transformers describes.
 *
 * @param file - for messages
 * @throws {UserError} BAD_MODEL for another kind of model, and for sizes that are missing or do not fit
 */
export function parseConfig(fields: Fields, file: string): Config {
  const refuse = (why: string): UserError =>
    new UserError('BAD_MODEL', `${file}: ${why}`, { hint: `models of these kinds run here: ${KINDS.join(', ')}` });
  const kind = fields['model_type'] ?? 'gpt2';
  if (!KINDS.includes(kind as string)) throw refuse(`is of the kind ${JSON.stringify(kind)}`);
  const isGpt2 = kind === 'gpt2';
  const size = (name: string, otherwise?: number): number => {
    const value = fields[name] ?? otherwise;
    if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
    throw refuse(`${name} must be a size, got ${JSON.stringify(value)}`);
  };
  const width = size(isGpt2 ? 'n_embd' : 'hidden_size');
  const heads = size(isGpt2 ? 'n_head' : 'num_attention_heads');
  const kvHeads = isGpt2 ? heads : size('num_key_value_heads', heads);
  const headDim = isGpt2 ? width / heads : size('head_dim', width / heads);
  if (!Number.isInteger(headDim)) throw refuse(`${heads} heads do not divide a width of ${width}`);
  if (heads % kvHeads !== 0) throw refuse(`${kvHeads} heads of keys do not divide ${heads} heads`);
  const named = (isGpt2 ? fields['activation_function'] : fields['hidden_act']) ?? (isGpt2 ? 'gelu_new' : 'silu');
  const activation = ACTIVATIONS[named as string];
  if (activation === undefined) throw refuse(`has the activation ${JSON.stringify(named)}`);
  const context = size(isGpt2 ? 'n_positions' : 'max_position_embeddings');
  const window = fields['use_sliding_window'] === false ? undefined : fields['sliding_window'];
  const ends = [fields['eos_token_id'] ?? []].flat().filter((each) => typeof each === 'number');
  return {
    ...{ context, heads, kvHeads, headDim, activation, ends },
    layers: size(isGpt2 ? 'n_layer' : 'num_hidden_layers'),
    eps: Number(fields[isGpt2 ? 'layer_norm_epsilon' : 'rms_norm_eps'] ?? (isGpt2 ? 1e-5 : 1e-6)),
    rope: isGpt2 ? undefined : { ...scaledRope(fields, headDim, context, refuse), interleaved: false },
    window: typeof window === 'number' ? window : undefined,
  };
}

/** The frequencies `base^(-2 i / dim)`, scaled as `rope_scaling` says: Transformers' modeling_rope_utils. */
function scaledRope(
  fields: Fields,
  dim: number,
  context: number,
  refuse: (why: string) => UserError,
): Omit<Rope, 'interleaved'> {
  const scaling = Object(fields['rope_parameters'] ?? fields['rope_scaling'] ?? {}) as Fields;
  const base = Number(fields['rope_theta'] ?? scaling['rope_theta'] ?? 10000);
  const plain = Array.from({ length: dim / 2 }, (_, i) => base ** ((-2 * i) / dim));
  const factor = Number(scaling['factor'] ?? 1);
  const number = (name: string, otherwise: number): number => Number(scaling[name] ?? otherwise);
  const trained = number('original_max_position_embeddings', context);
  const kind = scaling['rope_type'] ?? scaling['type'] ?? 'default';
  switch (kind) {
    case 'default':
      return { frequencies: Float32Array.from(plain), factor: 1 };
    case 'linear':
      return { frequencies: Float32Array.from(plain, (each) => each / factor), factor: 1 };
    case 'llama3': {
      const [low, high] = [number('low_freq_factor', 1), number('high_freq_factor', 4)];
      const scaled = (each: number): number => {
        // How many turns of it the trained context holds: few are stretched, many are left alone.
        const smooth = ((trained * each) / (2 * Math.PI) - low) / (high - low);
        const part = Math.min(1, Math.max(0, smooth));
        return (1 - part) * (each / factor) + part * each;
      };
      return { frequencies: Float32Array.from(plain, scaled), factor: 1 };
    }
    case 'yarn': {
      // Peng et al., YaRN, 2023.
      const turnsAt = (turns: number): number =>
        (dim * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(base));
      const first = Math.max(0, Math.floor(turnsAt(number('beta_fast', 32))));
      const last = Math.min(dim - 1, Math.ceil(turnsAt(number('beta_slow', 1))));
      const scaled = (each: number, i: number): number => {
        const stretched = Math.min(1, Math.max(0, (i - first) / Math.max(0.001, last - first)));
        return stretched * (each / factor) + (1 - stretched) * each;
      };
      const attention = number('attention_factor', factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1);
      return { frequencies: Float32Array.from(plain, scaled), factor: attention };
    }
    default:
      throw refuse(`scales rotary positions by ${JSON.stringify(kind)}`);
  }
}
