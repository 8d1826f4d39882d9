import { noise } from '@concord/cli/bench';
import { encodeModel, type ElementType, type Graph, type Node } from './model.ts';

/** A tensor that a model is fed with, on the host. */
export interface Feed {
  readonly type: 'f32' | 'i32' | 'i64';
  readonly dims: readonly number[];
  readonly data: Float32Array | Int32Array | BigInt64Array;
}

/** A model, and what it is run on. */
export interface ZooModel {
  readonly bytes: Uint8Array;
  readonly feeds: Readonly<Record<string, Feed>>;
  /** The output that is asked for. */
  readonly output: string;
  /** Of a decoder. */
  readonly decoder?: DecoderSizes;
}

type Shape = readonly number[];
type Attributes = NonNullable<Node['attributes']>;

const sizeOf = (shape: Shape): number => shape.reduce((size, dim) => size * dim, 1);

/** As long as no row of a weight repeats another one. */
const BLOCK = noise(2 * 2_097_143, 1);

/** Noise of a standard deviation of about 0.58 times `spread`, around `mean`; `place` tells weights apart. */
function random(length: number, place: number, spread: number, mean = 0): Float32Array {
  const values = new Float32Array(length);
  for (let i = 0, at = (place * 1_299_709) % BLOCK.length; i < length; i++, at = at + 1 === BLOCK.length ? 0 : at + 1)
    values[i] = mean + spread * (BLOCK[at] as number);
  return values;
}

const f32 = (dims: Shape, place: number): Feed => ({ type: 'f32', dims, data: random(sizeOf(dims), place, 1) });

const i64 = (dims: Shape, value: (index: number) => number): Feed => {
  return { type: 'i64', dims, data: BigInt64Array.from({ length: sizeOf(dims) }, (_, i) => BigInt(value(i))) };
};

/** A graph as an exporter writes it, node after node; weights are random. */
class Writer {
  readonly #nodes: Node[] = [];
  readonly #weights: Record<string, Float32Array | Uint8Array> = {};
  readonly #inputs: Record<string, Shape> = {};
  readonly #types: Record<string, ElementType> = {};
  readonly #constants: Record<string, Float32Array | BigInt64Array> = {};
  readonly #feeds: Record<string, Feed> = {};
  readonly #more: string[] = [];
  #count = 0;

  /** @returns the name of the output, or of the first of those that are named */
  node(operator: string, inputs: readonly string[], attributes: Attributes = {}, output?: Node['output']): string {
    const own = output ?? `v${this.#count++}`;
    this.#nodes.push({ operator, inputs, output: own, attributes });
    return typeof own === 'string' ? own : (own[0] as string);
  }

  feed(name: string, feed: Feed): string {
    [this.#feeds[name], this.#inputs[name], this.#types[name]] = [feed, feed.dims, feed.type];
    return name;
  }

  weight(shape: Shape, spread: number, mean = 0): string {
    const name = `w${this.#count++}`;
    [this.#inputs[name], this.#weights[name]] = [shape, random(sizeOf(shape), this.#count, spread, mean)];
    return name;
  }

  bytes(shape: Shape): string {
    const name = `w${this.#count++}`;
    const given = new Uint8Array(BLOCK.buffer, 0, BLOCK.byteLength);
    const data = new Uint8Array(sizeOf(shape));
    // The lowest bytes of noise are noise too.
    for (let i = 0; i < data.length; i++) data[i] = given[(4 * (i + this.#count * 7919) + 1) % given.length] as number;
    [this.#inputs[name], this.#weights[name], this.#types[name]] = [shape, data, 'u8'];
    return name;
  }

  constant(...values: readonly number[]): string {
    const name = `c${values.join('_')}`;
    this.#constants[name] = BigInt64Array.from(values, BigInt);
    return name;
  }

  float(value: number): string {
    const name = `f${value}`;
    this.#constants[name] = Float32Array.of(value);
    return name;
  }

  also(name: string): string {
    this.#more.push(name);
    return name;
  }

  model(output: string, shape: Shape): ZooModel {
    const [types, inputs, constants] = [this.#types, this.#inputs, this.#constants];
    const graph: Graph = { nodes: this.#nodes, inputs, types, constants, output: [output, shape], more: this.#more };
    return { bytes: encodeModel(graph, this.#weights), feeds: this.#feeds, output };
  }

  /** A convolution whose norm is folded into it, and the function that follows. */
  conv(x: string, [from, to]: readonly [number, number], kernel: number, options: ConvOptions = {}): string {
    const { stride = 1, groups = 1, after } = options;
    const pad = Math.floor(kernel / 2);
    const fan = (from / groups) * kernel * kernel;
    const w = this.weight([to, from / groups, kernel, kernel], Math.sqrt((after === undefined ? 3 : 6) / fan));
    const y = this.node('Conv', [x, w, this.weight([to], 0.1)], {
      ...{ kernel_shape: [kernel, kernel], strides: [stride, stride], pads: [pad, pad, pad, pad], group: groups },
    });
    if (after === 'Clip') return this.node('Clip', [y, this.scalar(0), this.scalar(6)]);
    return after === undefined ? y : this.node(after, [y]);
  }

  /** A number as a tensor of no axes. */
  scalar(value: number): string {
    const name = `s${value}`;
    [this.#inputs[name], this.#weights[name]] = [[], Float32Array.of(value)];
    return name;
  }

  linear(x: string, from: number, to: number): string {
    return this.node('Add', [
      this.node('MatMul', [x, this.weight([from, to], Math.sqrt(3 / from))]),
      this.weight([to], 0.1),
    ]);
  }

  classify(x: string, from: number): string {
    const flat = this.node('Flatten', [this.node('GlobalAveragePool', [x])], { axis: 1 });
    const w = this.weight([1000, from], Math.sqrt(3 / from));
    return this.node('Gemm', [flat, w, this.weight([1000], 0.1)], { transB: 1 }, 'y');
  }
}

interface ConvOptions {
  readonly stride?: number;
  readonly groups?: number;
  readonly after?: 'Relu' | 'Clip';
}

/** ResNet-50. */
export function resnet50(batch: number, pixels: number): ZooModel {
  const g = new Writer();
  let x = g.conv(g.feed('x', f32([batch, 3, pixels, pixels], 1)), [3, 64], 7, { stride: 2, after: 'Relu' });
  x = g.node('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let from = 64;
  for (const [stage, blocks] of [3, 4, 6, 3].entries()) {
    const width = 64 * 2 ** stage;
    for (let block = 0; block < blocks; block++) {
      const stride = block === 0 && stage > 0 ? 2 : 1;
      const a = g.conv(x, [from, width], 1, { after: 'Relu' });
      const c = g.conv(g.conv(a, [width, width], 3, { stride, after: 'Relu' }), [width, 4 * width], 1);
      const skip = block === 0 ? g.conv(x, [from, 4 * width], 1, { stride }) : x;
      x = g.node('Relu', [g.node('Add', [c, skip])]);
      from = 4 * width;
    }
  }
  return g.model(g.classify(x, from), [batch, 1000]);
}

/** Width, repeats and stride of the first, with factors of expansion, of MobileNet-V2's stages. */
const STAGES = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
] as const;

export function mobilenetV2(batch: number, pixels: number): ZooModel {
  const g = new Writer();
  let x = g.conv(g.feed('x', f32([batch, 3, pixels, pixels], 1)), [3, 32], 3, { stride: 2, after: 'Clip' });
  let from = 32;
  for (const [factor, to, repeats, first] of STAGES) {
    for (let i = 0; i < repeats; i++) {
      const stride = i === 0 ? first : 1;
      const wide = factor * from;
      const up = factor === 1 ? x : g.conv(x, [from, wide], 1, { after: 'Clip' });
      const y = g.conv(g.conv(up, [wide, wide], 3, { stride, groups: wide, after: 'Clip' }), [wide, to], 1);
      x = stride === 1 && from === to ? g.node('Add', [x, y]) : y;
      from = to;
    }
  }
  return g.model(g.classify(g.conv(x, [from, 1280], 1, { after: 'Clip' }), 1280), [batch, 1000]);
}

/** BERT, with attention and gelu in pieces and a mask, as PyTorch exports it. */
export function bert(batch: number, length: number, layers: number, width: number, heads: number): ZooModel {
  const g = new Writer();
  const norm = (x: string): string =>
    g.node('LayerNormalization', [x, g.weight([width], 0.1, 1), g.weight([width], 0.1)], {
      ...{ axis: -1, epsilon: { float: 1e-12 } },
    });
  const words = 30522;
  const ids = g.feed(
    'input_ids',
    i64([batch, length], (i) => (i * 7919 + 5) % words),
  );
  const types = g.feed(
    'token_type_ids',
    i64([batch, length], () => 0),
  );
  const attended = g.feed(
    'attention_mask',
    // The last texts are shorter.
    i64([batch, length], (i) => Number(i % length < length - Math.floor(i / length))),
  );
  const places = g.weight([1, length, width], 0.05);
  const spread = 0.05;
  const embedded = g.node('Add', [
    g.node('Gather', [g.weight([words, width], spread), ids]),
    g.node('Gather', [g.weight([2, width], spread), types]),
  ]);
  let x = norm(g.node('Add', [embedded, places]));
  const seen = g.node('Cast', [g.node('Unsqueeze', [attended, g.constant(1, 2)])], { to: 1 });
  const mask = g.node('Mul', [g.node('Sub', [g.float(1), seen]), g.float(-3.4028234663852886e38)]);
  const byHead = (y: string, perm: readonly number[]): string =>
    g.node('Transpose', [g.node('Reshape', [y, g.constant(batch, length, heads, width / heads)])], { perm });
  for (let layer = 0; layer < layers; layer++) {
    const q = byHead(g.linear(x, width, width), [0, 2, 1, 3]);
    const k = byHead(g.linear(x, width, width), [0, 2, 3, 1]);
    const v = byHead(g.linear(x, width, width), [0, 2, 1, 3]);
    const scores = g.node('Div', [g.node('MatMul', [q, k]), g.float(Math.sqrt(width / heads))]);
    const shares = g.node('Softmax', [g.node('Add', [scores, mask])], { axis: -1 });
    const o = g.node('Transpose', [g.node('MatMul', [shares, v])], { perm: [0, 2, 1, 3] });
    const merged = g.node('Reshape', [o, g.constant(batch, length, width)]);
    x = norm(g.node('Add', [g.linear(merged, width, width), x]));
    const up = g.linear(x, width, 4 * width);
    const erf = g.node('Erf', [g.node('Div', [up, g.float(Math.SQRT2)])]);
    const gelu = g.node('Mul', [g.node('Mul', [up, g.node('Add', [erf, g.float(1)])]), g.float(0.5)]);
    x = norm(g.node('Add', [g.linear(gelu, 4 * width, width), x]));
  }
  return g.model(g.node('Identity', [x], {}, 'y'), [batch, length, width]);
}

/** Sizes of a decoder of Llama's kind. */
export interface DecoderSizes {
  readonly layers: number;
  readonly width: number;
  readonly inner: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly words: number;
  /** Tokens in the cache. */
  readonly cached: number;
}

/** A decoder of 4-bit weights, as onnxruntime-genai exports it, for one token after those of a cache. */
export function decoder(sizes: DecoderSizes): ZooModel {
  const { layers, width, inner, heads, kvHeads, words, cached } = sizes;
  const g = new Writer();
  const dim = width / heads;
  const eps = { epsilon: { float: 1e-5 } };
  const product = (x: string, from: number, to: number, output?: string): string => {
    const scales = g.weight([to, from / 32], 0.2 / Math.sqrt(from), 0.25 / Math.sqrt(from));
    const attributes = { K: from, N: to, bits: 4, block_size: 32 };
    return g.node('com.microsoft.MatMulNBits', [x, g.bytes([to, from / 32, 16]), scales], attributes, output);
  };
  const weight = (): string => g.weight([width], 0.1, 1);
  const [cos, sin] = [g.weight([cached + 1, dim / 2], 1), g.weight([cached + 1, dim / 2], 1)];
  const lengths = g.feed('lengths', { type: 'i32', dims: [1, 1], data: Int32Array.of(cached) });
  const total = g.feed('total', { type: 'i32', dims: [1], data: Int32Array.of(cached + 1) });
  let sum = g.feed('inputs_embeds', f32([1, 1, width], 1));
  let x = g.node('SimplifiedLayerNormalization', [sum, weight()], { axis: -1, stash_type: 1, ...eps });
  const skip = (y: string): void => {
    const outputs = [`${y}.n`, '', '', `${y}.s`];
    x = g.node('com.microsoft.SkipSimplifiedLayerNormalization', [sum, y, weight()], eps, outputs);
    sum = `${y}.s`;
  };
  for (let layer = 0; layer < layers; layer++) {
    const qkv = product(x, width, (heads + 2 * kvHeads) * dim);
    const past = ['key', 'value'].map((kind, i) =>
      g.feed(`past.${layer}.${kind}`, f32([1, kvHeads, cached, dim], 2 * layer + i)),
    );
    const present = ['key', 'value'].map((kind) => g.also(`present.${layer}.${kind}`));
    const o = g.node(
      'com.microsoft.GroupQueryAttention',
      [qkv, '', '', ...past, lengths, total, cos, sin],
      { num_heads: heads, kv_num_heads: kvHeads, do_rotary: 1 },
      [`o${layer}`, ...present],
    );
    skip(product(o, heads * dim, width));
    const gate = product(x, width, inner);
    const up = product(x, width, inner);
    const silu = g.node('Mul', [gate, g.node('Sigmoid', [gate])]);
    skip(product(g.node('Mul', [silu, up]), inner, width));
  }
  return { ...g.model(product(x, width, words, 'logits'), [1, 1, words]), decoder: sizes };
}
