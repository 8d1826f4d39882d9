import { toF16Array } from '@concord/backend-core';
import { cachedRows, type GptCase, gptWeights, tokensOf } from '../gpt/cases.ts';
import type { ElementType, Graph, Node } from './model.ts';

type Shape = readonly number[];

/**
 * GPT-2 in the operators of ONNX, as exporters write it. Besides the weights, by their names in GPT-2's files, its inputs
 * are
 *
 * - `ids` i32 `[batch, length]` and `positions` i32 `[length]`
 * - `scale` `[1]`, the factor of scores
 * - `mask` `[length, length]`, added to scores, if there is more than one token
 * - `keys.L` and `values.L` `[batch, heads, cached, head]` of each layer, where something is cached
 *
 * Its output is `y` `[batch, vocabulary]`, the logits after the last token of each text.
 */
export function gpt2Graph(gptCase: Pick<GptCase, 'config' | 'dtype' | 'batch' | 'length' | 'cached'>): Graph {
  const { config, dtype, batch, length, cached } = gptCase;
  const { n_embd: d, n_head: heads, n_layer, vocab_size } = config;
  const past = [batch, heads, cached, d / heads];
  const inputs: Record<string, Shape> = {
    ids: [batch, length],
    positions: [length],
    scale: [1],
    ...(length > 1 && { mask: [length, length] }),
    ...Object.fromEntries(gptWeights(config).map(({ name, shape }) => [name, shape])),
  };
  if (cached > 0) {
    for (let layer = 0; layer < n_layer; layer++)
      Object.assign(inputs, { [`keys.${layer}`]: past, [`values.${layer}`]: past });
  }
  const types: Record<string, ElementType> = { y: dtype };
  for (const name of Object.keys(inputs)) types[name] = dtype;
  Object.assign(types, { ids: 'i32', positions: 'i32' });
  const nodes: Node[] = [
    { operator: 'Gather', inputs: ['wte.weight', 'ids'], output: 'tokens' },
    { operator: 'Gather', inputs: ['wpe.weight', 'positions'], output: 'places' },
    { operator: 'Add', inputs: ['tokens', 'places'], output: 'embedded' },
    { operator: 'Reshape', inputs: ['embedded', 'flat'], output: 'x.0' },
  ];
  for (let layer = 0; layer < n_layer; layer++) nodes.push(...block(layer, length > 1, cached > 0));
  nodes.push(
    { operator: 'Reshape', inputs: [`x.${n_layer}`, 'texts'], output: 'rows' },
    { operator: 'Slice', inputs: ['rows', 'begin', 'end', 'axis'], output: 'ends' },
    { operator: 'Reshape', inputs: ['ends', 'flat'], output: 'last' },
    norm('last', 'ln_f', 'normed'),
    { operator: 'Gemm', inputs: ['normed', 'wte.weight'], output: 'y', attributes: { transB: 1 } },
  );
  const constants = {
    flat: integers(-1, d),
    texts: integers(batch, length, d),
    heads: integers(batch, length, heads, d / heads),
    begin: integers(length - 1),
    end: integers(length),
    axis: integers(1),
  };
  return { nodes, inputs, types, output: ['y', [batch, vocab_size]], constants };
}

function block(layer: number, isMasked: boolean, isCached: boolean): Node[] {
  const h = `h.${layer}`;
  const at = (name: string): string => `${name}.of.${layer}`;
  const product = (input: string, name: string, output: string): Node => {
    return { operator: 'Gemm', inputs: [input, `${h}.${name}.weight`, `${h}.${name}.bias`], output };
  };
  const headsOf = (name: string, output: string): Node[] => [
    { operator: 'Reshape', inputs: [at(name), 'heads'], output: at(`${name}s`) },
    { operator: 'Transpose', inputs: [at(`${name}s`)], output, attributes: { perm: [0, 2, 1, 3] } },
  ];
  const joined = (past: string, name: string, output: string): Node[] => [
    { operator: 'Concat', inputs: [`${past}.${layer}`, at(name)], output: at(output), attributes: { axis: 2 } },
  ];
  const [keys, values] = isCached ? [at('all.k'), at('all.v')] : [at('new.k'), at('new.v')];
  return [
    norm(`x.${layer}`, `${h}.ln_1`, at('n1')),
    product(at('n1'), 'attn.c_attn', at('qkv')),
    {
      operator: 'Split',
      inputs: [at('qkv')],
      output: [at('q'), at('k'), at('v')],
      attributes: { axis: 1, num_outputs: 3 },
    },
    ...headsOf('q', at('new.q')),
    ...headsOf('k', at('new.k')),
    ...headsOf('v', at('new.v')),
    ...(isCached ? [...joined('keys', 'new.k', 'all.k'), ...joined('values', 'new.v', 'all.v')] : []),
    { operator: 'Transpose', inputs: [keys], output: at('kt'), attributes: { perm: [0, 1, 3, 2] } },
    { operator: 'MatMul', inputs: [at('new.q'), at('kt')], output: at('products') },
    { operator: 'Mul', inputs: [at('products'), 'scale'], output: at('scores') },
    ...(isMasked ? [{ operator: 'Add', inputs: [at('scores'), 'mask'], output: at('masked') }] : []),
    {
      operator: 'Softmax',
      inputs: [at(isMasked ? 'masked' : 'scores')],
      output: at('shares'),
      attributes: { axis: 3 },
    },
    { operator: 'MatMul', inputs: [at('shares'), values], output: at('heads') },
    { operator: 'Transpose', inputs: [at('heads')], output: at('transposed'), attributes: { perm: [0, 2, 1, 3] } },
    { operator: 'Reshape', inputs: [at('transposed'), 'flat'], output: at('attended') },
    product(at('attended'), 'attn.c_proj', at('merged')),
    { operator: 'Add', inputs: [`x.${layer}`, at('merged')], output: at('h') },
    norm(at('h'), `${h}.ln_2`, at('n2')),
    product(at('n2'), 'mlp.c_fc', at('up')),
    { operator: 'Gelu', inputs: [at('up')], output: at('gelu'), attributes: { approximate: 'tanh' } },
    product(at('gelu'), 'mlp.c_proj', at('down')),
    { operator: 'Add', inputs: [at('h'), at('down')], output: `x.${layer + 1}` },
  ];
}

/** Epsilon is 1e-5 by default. */
function norm(input: string, name: string, output: string): Node {
  return { operator: 'LayerNormalization', inputs: [input, `${name}.weight`, `${name}.bias`], output };
}

function integers(...values: readonly number[]): BigInt64Array {
  return BigInt64Array.from(values, BigInt);
}

/** Added to the score of a key that a query must not see: its exponential is zero, and f16 can hold it. */
const HIDDEN = -60_000;

/** Elements of an input, of f16 its bits. */
type InputData = Float32Array | Uint16Array | Int32Array;

/**
 * The inputs of {@link gpt2Graph} that are no weights, by their names.
 *
 * @param form - elements of the case's type, or the same numbers in float32
 */
export function gpt2Inputs(gptCase: GptCase, form: 'numbers' | 'stored'): Record<string, InputData> {
  const { config, dtype, length, cached } = gptCase;
  const shaped = (values: Float32Array): InputData => {
    return form === 'stored' && dtype === 'f16' ? toF16Array(values) : values;
  };
  const inputs: Record<string, InputData> = {
    ids: Int32Array.from(tokensOf(gptCase)),
    positions: Int32Array.from({ length }, (_, i) => cached + i),
    scale: shaped(Float32Array.of(1 / Math.sqrt(config.n_embd / config.n_head))),
  };
  if (length > 1) inputs['mask'] = shaped(causalMask(length));
  for (let layer = 0; cached > 0 && layer < config.n_layer; layer++) {
    const rows = cachedRows(config, layer, cached, dtype)[form];
    inputs[`keys.${layer}`] = byHeads(rows, config, cached, 1);
    inputs[`values.${layer}`] = byHeads(rows, config, cached, 2);
  }
  return inputs;
}

/** `[length, length]`: the numbers added to the score of a key (column) for a query (row). */
export function causalMask(length: number): Float32Array {
  return Float32Array.from({ length: length * length }, (_, i) => (i % length > Math.floor(i / length) ? HIDDEN : 0));
}

/** `[heads, cached, head]` of the keys (1) or values (2) in rows `[cached, 3 width]`. */
export function byHeads<T extends Float32Array | Uint16Array>(
  rows: T,
  { n_embd: width, n_head: heads }: Pick<GptCase['config'], 'n_embd' | 'n_head'>,
  cached: number,
  part: 1 | 2,
): T {
  const size = width / heads;
  const out = rows.slice(0, cached * width) as T;
  for (let head = 0; head < heads; head++) {
    for (let token = 0; token < cached; token++) {
      const from = (token * 3 + part) * width + head * size;
      out.set(rows.subarray(from, from + size), (head * cached + token) * size);
    }
  }
  return out;
}
