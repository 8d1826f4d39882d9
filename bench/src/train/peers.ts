import { register } from 'node:module';
import * as jax from '@jax-js/jax';
import * as tf from '@tensorflow/tfjs-core';
import { hostMsOf, type PreparedModel } from '../models.ts';
import { readFirst, useBackend } from '../peers/tfjs.ts';
import { packageVersion, type ContestantResult } from '../results.ts';
import { ADAM_W, type MlpNumbers } from './works.ts';

/** A library that trains the MLP on WebGPU. */
export interface TrainPeer extends ContestantResult {
  /** @param losses - so many first steps are made, and their losses told */
  readonly prepare: (numbers: MlpNumbers, losses: number) => Promise<PreparedModel>;
}

/** Training that can be gone on with. */
interface Training {
  /** Queues a step. */
  readonly once: () => void;
  /** The loss of the last step. */
  readonly loss: () => Promise<number>;
  readonly wait: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Makes the first steps, whose losses are compared. */
async function prepared(count: number, { once, loss, wait, close }: Training): Promise<PreparedModel> {
  const losses: number[] = [];
  for (let at = 0; at < count; at++) {
    once();
    losses.push(await loss());
  }
  return {
    async calls(steps) {
      const hostMs = await hostMsOf(steps, once);
      await wait();
      return hostMs;
    },
    outputs: async () => Float32Array.from(losses),
    close,
  };
}

const { rate, beta1, beta2, eps, decay } = ADAM_W;
const { nn, numpy: np, tree } = jax;

/** jax-js: loss, gradient and AdamW in one `jit`. */
export const jaxJsTrain: TrainPeer = {
  ...{ name: 'jax-js', role: 'peer', version: packageVersion('@jax-js/jax') },
  async prepare({ batch, widths, layers, x, classes }, count) {
    await jax.init('webgpu');
    jax.defaultDevice('webgpu');
    type Params = { weight: jax.Array; bias: jax.Array }[];
    const lossOf = (params: Params, input: jax.Array, wanted: jax.Array): jax.Array => {
      const scores = params.reduce((y, { weight, bias }, at) => {
        const sum = np.matmul(y, np.matrixTranspose(weight)).add(bias);
        return at === params.length - 1 ? sum : nn.relu(sum);
      }, input);
      return nn
        .logSoftmax(scores)
        .mul(wanted)
        .sum()
        .mul(-1 / batch);
    };
    interface State {
      readonly params: Params;
      readonly m: Params;
      readonly v: Params;
      readonly step: jax.Array;
    }
    // An array is used up where it is used, but for its `ref`.
    const advance = jax.jit((state: State, input: jax.Array, wanted: jax.Array) => {
      const [loss, gradient] = jax.valueAndGrad(lossOf)(tree.ref(state.params), input, wanted);
      const step = state.step.add(1);
      const part = (beta: number): jax.Array => np.subtract(1, np.exp(step.ref.mul(Math.log(beta))));
      const [part1, part2] = [part(beta1), part(beta2)];
      const next = state.params.map(({ weight, bias }, at) => {
        const [m, v, g] = [state.m[at], state.v[at], gradient[at]] as [Params[0], Params[0], Params[0]];
        const update = (p: jax.Array, m0: jax.Array, v0: jax.Array, own: jax.Array) => {
          const first = m0.mul(beta1).add(own.ref.mul(1 - beta1));
          const second = v0.mul(beta2).add(own.ref.mul(own).mul(1 - beta2));
          const way = first.ref.div(part1.ref).div(np.sqrt(second.ref.div(part2.ref)).add(eps));
          return { p: p.mul(1 - rate * decay).sub(way.mul(rate)), m: first, v: second };
        };
        return { weight: update(weight, m.weight, v.weight, g.weight), bias: update(bias, m.bias, v.bias, g.bias) };
      });
      part1.dispose();
      part2.dispose();
      const all = (name: 'p' | 'm' | 'v'): Params =>
        next.map(({ weight, bias }) => ({ weight: weight[name], bias: bias[name] }));
      return { loss, state: { params: all('p'), m: all('m'), v: all('v'), step } };
    });
    const zeros = (): Params =>
      layers.map(({ bias, shape }) => ({ weight: np.zeros(shape), bias: np.zeros([bias.length]) }));
    let state: State = {
      params: layers.map(({ weight, bias, shape }) => ({
        weight: np.array(weight).reshape([...shape]),
        bias: np.array(bias),
      })),
      ...{ m: zeros(), v: zeros(), step: np.array(0, { dtype: np.float32 }) },
    };
    const input = np.array(x).reshape([batch, widths[0] as number]);
    const wanted = nn.oneHot(np.array(Int32Array.from(classes)), widths.at(-1) as number);
    let loss: jax.Array | undefined;
    const once = (): void => {
      const made = advance(state, input.ref, wanted.ref);
      loss?.dispose();
      [loss, state] = [made.loss, made.state];
    };
    return prepared(count, {
      once,
      loss: async () => Number((await (loss as jax.Array).ref.data())[0]),
      wait: () => jax.blockUntilReady([loss, state.step, ...tree.leaves(state.params as never)] as jax.Array[]),
      async close() {
        for (const each of [state, input, wanted, loss]) tree.dispose(each as never);
        advance.dispose();
      },
    });
  },
};

const ENDINGS = `export const resolve = (name, context, next) =>
  next(/^[.].*[/][^.]+$/.test(name) && context.parentURL.includes('/tfjs-core/dist/') ? name + '.js' : name, context);`;

/** TensorFlow.js, whose Adam decays no weights: they are decayed before it. */
export async function tfjsTrain(): Promise<TrainPeer> {
  // Not before there is a `navigator.gpu`; and by a variable, as its types clash with TypeScript's own.
  const name: string = '@tensorflow/tfjs-backend-webgpu';
  await import(name);
  // Its gradients are published for bundlers: files import each other without an ending.
  register(`data:text/javascript,${encodeURIComponent(ENDINGS)}`);
  const gradients: string = '@tensorflow/tfjs-core/dist/register_all_gradients.js';
  await import(gradients);
  return {
    ...{ name: 'tfjs webgpu', role: 'peer', version: packageVersion('@tensorflow/tfjs-backend-webgpu') },
    async prepare({ batch, widths, layers, x, classes }, count) {
      await useBackend('webgpu');
      const params = layers.map(({ weight, bias, shape }) => ({
        weight: tf.variable(tf.tensor2d(weight, shape)),
        bias: tf.variable(tf.tensor1d(bias)),
      }));
      const input = tf.tensor2d(x, [batch, widths[0] as number]);
      const wanted = tf.oneHot(tf.tensor1d(Int32Array.from(classes), 'int32'), widths.at(-1) as number);
      const lossOf = (): tf.Scalar =>
        tf.tidy(() => {
          const scores = params.reduce<tf.Tensor>((y, { weight, bias }, at) => {
            const sum = tf.add(tf.matMul(y, weight, false, true), bias);
            return at === params.length - 1 ? sum : tf.relu(sum);
          }, input);
          return tf.mul(tf.sum(tf.mul(tf.logSoftmax(scores), wanted)), -1 / batch);
        });
      const optimizer = tf.train.adam(rate, beta1, beta2, eps);
      const variables = params.flatMap(({ weight, bias }) => [weight, bias]);
      let loss: tf.Scalar | undefined;
      const once = (): void => {
        const { value, grads } = tf.variableGrads(lossOf, variables);
        tf.tidy(() => variables.forEach((each) => each.assign(tf.mul(each, 1 - rate * decay))));
        optimizer.applyGradients(Object.entries(grads).map(([name, tensor]) => ({ name, tensor })));
        tf.dispose(grads);
        loss?.dispose();
        loss = value;
      };
      return prepared(count, {
        once,
        loss: async () => ((await (loss as tf.Scalar).data()) as Float32Array)[0] as number,
        // The last update comes after the last loss.
        wait: () => readFirst(variables.at(-1) as tf.Variable),
        async close() {
          optimizer.dispose();
          tf.dispose([...(loss ? [loss] : []), input, wanted, ...variables]);
        },
      });
    },
  };
}
