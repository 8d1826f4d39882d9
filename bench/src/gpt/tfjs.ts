import * as tf from '@tensorflow/tfjs-core';
import { packageVersion } from '../results.ts';
import { causalMask, gpt2Inputs } from '../onnx/gpt2.ts';
import { NotOffered } from '../peer.ts';
import { type GptCase, type GptContestant, gptWeights } from './cases.ts';
import { hostMsOf, type PreparedModel } from '../models.ts';
import { readFirst, useBackend } from '../peers/tfjs.ts';

const PACKAGE = '@tensorflow/tfjs-backend-webgpu';
/** The square root of 2 / pi, and the cube's factor, of the tanh form of gelu. */
const [GELU_ROOT, GELU_CUBE] = [Math.sqrt(2 / Math.PI), 0.044715];

type Weights = Readonly<Record<string, tf.Tensor>>;

/** GPT-2 in the functions of TensorFlow.js on WebGPU, whose products add their bias themselves. */
export const tfjsGpt: GptContestant = {
  name: 'tfjs webgpu',
  role: 'peer',
  version: packageVersion(PACKAGE),
  remark: 'without f16',
  async load(config, dtype) {
    if (dtype !== 'f32') throw new NotOffered(`has no ${dtype}`);
    await import(PACKAGE);
    await useBackend('webgpu');
    const weights: Record<string, tf.Tensor> = {};
    for (const { name, shape, elements } of gptWeights(config))
      weights[name] = tf.tensor(elements(dtype).numbers, [...shape] as [number]);
    return {
      prepare: async (gptCase) => prepare(gptCase, weights),
      close: async () => tf.dispose(weights),
    };
  },
};

function prepare(gptCase: GptCase, weights: Weights): PreparedModel {
  const { mode, batch, length, cached, config } = gptCase;
  if (mode === 'generating') throw new NotOffered('is timed with a cache of one length only');
  const given = gpt2Inputs(gptCase, 'numbers');
  const past = [batch, config.n_head, cached, config.n_embd / config.n_head] as [number, number, number, number];
  const inputs: Record<string, tf.Tensor> = {
    ids: tf.tensor(given['ids'] as Int32Array, [batch, length], 'int32'),
    positions: tf.tensor(given['positions'] as Int32Array, [length], 'int32'),
    mask: tf.tensor(causalMask(length), [length, length]),
  };
  for (let layer = 0; cached > 0 && layer < config.n_layer; layer++) {
    for (const name of [`keys.${layer}`, `values.${layer}`])
      inputs[name] = tf.tensor(given[name] as Float32Array, past);
  }
  const forward = (): tf.Tensor => tf.tidy(() => logitsOf(gptCase, weights, inputs));
  return {
    async calls(count) {
      let logits = tf.tensor(0);
      const finish = (): Promise<void> => readFirst(logits);
      const once = (): void => {
        logits.dispose();
        logits = forward();
      };
      const hostMs = await hostMsOf(count, once, mode === 'read each' ? finish : undefined);
      await finish();
      logits.dispose();
      return hostMs;
    },
    async outputs() {
      const logits = forward();
      const data = await logits.data();
      logits.dispose();
      return data as Float32Array;
    },
    async close() {
      tf.dispose(inputs);
    },
  };
}

function logitsOf({ batch, length, cached, config }: GptCase, weights: Weights, inputs: Weights): tf.Tensor {
  const { n_embd: width, n_head: heads, n_layer } = config;
  const at = <T extends tf.Tensor>(name: string): T => weights[name] as T;
  const product = (x: tf.Tensor2D, name: string): tf.Tensor2D =>
    tf.fused.matMul({ a: x, b: at(`${name}.weight`), bias: at(`${name}.bias`) }) as tf.Tensor2D;
  const norm = (x: tf.Tensor2D, name: string): tf.Tensor2D => {
    const { mean, variance } = tf.moments(x, 1, true);
    const scaled = tf.mul(
      tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, config.layer_norm_epsilon))),
      at(`${name}.weight`),
    );
    return tf.add(scaled, at(`${name}.bias`));
  };
  const headsOf = (x: tf.Tensor): tf.Tensor4D =>
    tf.transpose(tf.reshape(x, [batch, length, heads, width / heads]), [0, 2, 1, 3]);
  const joined = (past: tf.Tensor | undefined, x: tf.Tensor4D): tf.Tensor4D =>
    past === undefined ? x : tf.concat([past as tf.Tensor4D, x], 2);

  const tokens = tf.gather(at('wte.weight'), inputs['ids'] as tf.Tensor1D);
  const places = tf.gather(at('wpe.weight'), inputs['positions'] as tf.Tensor1D);
  let x = tf.reshape<tf.Rank.R2>(tf.add(tokens, places), [batch * length, width]);
  for (let layer = 0; layer < n_layer; layer++) {
    const [q, k, v] = tf.split(product(norm(x, `h.${layer}.ln_1`), `h.${layer}.attn.c_attn`), 3, 1).map(headsOf) as [
      tf.Tensor4D,
      tf.Tensor4D,
      tf.Tensor4D,
    ];
    const [keys, values] = [joined(inputs[`keys.${layer}`], k), joined(inputs[`values.${layer}`], v)];
    const scores = tf.mul(tf.matMul(q, keys, false, true), 1 / Math.sqrt(width / heads));
    const shares = tf.softmax(cached > 0 ? scores : tf.add(scores, inputs['mask'] as tf.Tensor));
    const attended = tf.reshape<tf.Rank.R2>(tf.transpose(tf.matMul(shares, values), [0, 2, 1, 3]), [
      batch * length,
      width,
    ]);
    const h = tf.add<tf.Tensor2D>(x, product(attended, `h.${layer}.attn.c_proj`));
    const up = gelu(product(norm(h, `h.${layer}.ln_2`), `h.${layer}.mlp.c_fc`));
    x = tf.add(h, product(up, `h.${layer}.mlp.c_proj`));
  }
  const rows = tf.reshape<tf.Rank.R3>(x, [batch, length, width]);
  const last = tf.reshape<tf.Rank.R2>(tf.slice(rows, [0, length - 1, 0], [batch, 1, width]), [batch, width]);
  return tf.matMul(norm(last, 'ln_f'), at('wte.weight'), false, true);
}

/** The tanh form: it has no function for it. */
function gelu(x: tf.Tensor2D): tf.Tensor2D {
  const cube = tf.mul(tf.mul(tf.mul(x, x), x), GELU_CUBE);
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(tf.mul(tf.add(x, cube), GELU_ROOT)), 1));
}
