/// <reference lib="esnext.disposable" preserve="true" />
import { describe } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { add, reshape, run, Tensor, tidy, zeros } from '@concord/ops';
import { checkOptions, Kernels } from '@concord/ops/listen';
import { invalidArgument } from './errors.ts';
import { byPath, inOrderOf, misfit } from './tree.ts';

type Float = Value<'f32'>;

/**
 * A learning rate: a number, a tensor of one float, or a function that returns one for the number of the step, which
 * counts from 1.
 */
export type Rate = number | Tensor | ((step: Tensor) => Tensor);

/** Updates the tensors that it was made for, in place. All that changes from step to step is on the device, so that a step can be recorded. */
export interface Optimizer<Params> extends Disposable {
  /** The number of steps so far, one float. */
  readonly steps: Tensor;
  /** The state kept beside each tensor of the parameters, in their order: save it, and load it by `out`. */
  readonly state: readonly (readonly Tensor[])[];
  /**
   * Updates the parameters: one launch for each tensor.
   *
   * @param gradients - in the form of the parameters
   * @throws {BackendError} INVALID_ARGUMENT for gradients of another form or shape
   */
  step(gradients: Params): void;
  /** Gives the state back. Idempotent. */
  dispose(): void;
}

/** Options of {@link sgd}. */
export interface SgdOptions {
  readonly rate: Rate;
  /** Default 0. */
  readonly momentum?: number;
  /** Default false. */
  readonly nesterov?: boolean;
  /** L2 penalty, added to gradients. Default 0. */
  readonly decay?: number;
}

/** Options of {@link adam} and {@link adamW}. */
export interface AdamOptions {
  readonly rate: Rate;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.999. */
  readonly beta2?: number;
  /** Default 1e-8. */
  readonly eps?: number;
  /**
   * The decay of parameters. In `adam`, an L2 penalty added to gradients, default 0. In `adamW`, the share of a
   * parameter that decays with each unit of rate, default 0.01.
   */
  readonly decay?: number;
}

/** Options of {@link lion}. */
export interface LionOptions {
  readonly rate: Rate;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.99. */
  readonly beta2?: number;
  /** Weight decay as in `adamW`. Default 0. */
  readonly decay?: number;
}

/** The symbols of a rule: the parameter, its gradient and its state, the rate, the step, and numbers of the options. */
type Symbols = Readonly<
  Record<
    'p' | 'g' | 'm' | 'v' | 'rate' | 'step' | 'decay' | 'momentum' | 'beta1' | 'beta2' | 'log1' | 'log2' | 'eps',
    Float
  >
>;

interface Rule {
  readonly name: string;
  /** Names of what is kept. */
  readonly kept: readonly string[];
  readonly params: readonly string[];
  readonly update: (k: KernelBuilder, symbols: Symbols) => Record<string, Float>;
}

const weighted = (k: KernelBuilder, beta: Float, old: Float, fresh: Float): Float =>
  k.add(k.mul(beta, old), k.mul(k.sub(1, beta), fresh));

const SGD: Rule = {
  name: 'sgd',
  kept: [],
  params: ['decay'],
  update: (k, { p, g, rate, decay }) => ({ p: k.sub(p, k.mul(rate, k.add(g, k.mul(decay, p)))) }),
};

const momentum = (nesterov: boolean): Rule => ({
  name: nesterov ? 'sgd nesterov' : 'sgd momentum',
  kept: ['m'],
  params: ['decay', 'momentum'],
  update: (k, { p, g, m, rate, decay, momentum: factor }) => {
    const own = k.add(g, k.mul(decay, p));
    const next = k.add(k.mul(factor, m), own);
    return { p: k.sub(p, k.mul(rate, nesterov ? k.add(own, k.mul(factor, next)) : next)), m: next };
  },
});
const [MOMENTUM, NESTEROV] = [momentum(false), momentum(true)];

const adaptive = (isDecoupled: boolean): Rule => ({
  name: isDecoupled ? 'adamW' : 'adam',
  kept: ['m', 'v'],
  params: ['beta1', 'beta2', 'log1', 'log2', 'eps', 'decay'],
  update: (k, { p, g, m, v, rate, step, beta1, beta2, log1, log2, eps, decay }) => {
    const own = isDecoupled ? g : k.add(g, k.mul(decay, p));
    const first = weighted(k, beta1, m, own);
    const second = weighted(k, beta2, v, k.mul(own, own));
    // 1 - beta^step.
    const without = (log: Float): Float => k.neg(k.expm1(k.mul(step, log)));
    const root = k.add(k.sqrt(k.div(second, without(log2))), eps);
    const before = isDecoupled ? k.sub(p, k.mul(k.mul(rate, decay), p)) : p;
    return { p: k.sub(before, k.mul(rate, k.div(k.div(first, without(log1)), root))), m: first, v: second };
  },
});
const [ADAM, ADAM_W] = [adaptive(false), adaptive(true)];

const LION: Rule = {
  name: 'lion',
  kept: ['m'],
  params: ['beta1', 'beta2', 'decay'],
  update: (k, { p, g, m, rate, beta1, beta2, decay }) => {
    const way = k.sign(weighted(k, beta1, m, g));
    return { p: k.sub(p, k.mul(rate, k.add(way, k.mul(decay, p)))), m: weighted(k, beta2, m, g) };
  },
};

/**
 * Stochastic gradient descent, with momentum as PyTorch's: `m = momentum m + g; p -= rate m`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for unknown options, if there is no tensor, and for one under two names
 * @example
 * ```ts
 * const params = { w: tensor(backend, [1, 2]) };
 * const optimizer = sgd(params, { rate: 0.1 });
 * optimizer.step(grad(({ w }: typeof params) => sum(mul(w, w)))(params));
 * await params.w.toArray(); // [0.8, 1.6]
 * ```
 */
export function sgd<Params>(params: Params, options: SgdOptions): Optimizer<Params> {
  checkOptions('sgd', options, { rate: 'any', momentum: 'number', nesterov: 'boolean', decay: 'number' });
  const { rate, momentum: factor = 0, nesterov = false, decay = 0 } = options;
  if (factor === 0) return optimizer(SGD, params, rate, { decay });
  return optimizer(nesterov ? NESTEROV : MOMENTUM, params, rate, { decay, momentum: factor });
}

/**
 * Adam: steps of the mean of gradients by the root of that of their squares, both corrected for where they began.
 *
 * Kingma, Ba, Adam, 2015.
 *
 * @throws {BackendError} INVALID_ARGUMENT if there is no tensor, and for one under two names
 * @example
 * ```ts
 * const params = { w: tensor(backend, [1, 2]) };
 * const optimizer = adam(params, { rate: 0.1 });
 * optimizer.step(grad(({ w }: typeof params) => sum(mul(w, w)))(params));
 * await params.w.toArray(); // [0.9, 1.9]
 * ```
 */
export function adam<Params>(params: Params, options: AdamOptions): Optimizer<Params> {
  return adapted(ADAM, params, options, 0);
}

/**
 * {@link adam} with weight decay apart from the gradients.
 *
 * Loshchilov, Hutter, Decoupled weight decay regularization, 2019.
 *
 * @throws {BackendError} INVALID_ARGUMENT if there is no tensor, and for one under two names
 * @example
 * ```ts
 * const params = { w: tensor(backend, [1, 2]) };
 * const optimizer = adamW(params, { rate: 0.1 });
 * optimizer.step(grad(({ w }: typeof params) => sum(mul(w, w)))(params));
 * await params.w.toArray(); // [0.899, 1.898]
 * ```
 */
export function adamW<Params>(params: Params, options: AdamOptions): Optimizer<Params> {
  return adapted(ADAM_W, params, options, 0.01);
}

function adapted<Params>(rule: Rule, params: Params, options: AdamOptions, usualDecay: number): Optimizer<Params> {
  checkOptions(rule.name, options, {
    rate: 'any',
    ...{ beta1: 'number', beta2: 'number', eps: 'number', decay: 'number' },
  });
  const { rate, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = usualDecay } = options;
  return optimizer(rule, params, rate, { beta1, beta2, log1: Math.log(beta1), log2: Math.log(beta2), eps, decay });
}

/**
 * Lion: steps of the sign of the mean of gradients.
 *
 * Chen et al., Symbolic discovery of optimization algorithms, 2023.
 *
 * @throws {BackendError} INVALID_ARGUMENT if there is no tensor, and for one under two names
 * @example
 * ```ts
 * const params = { w: tensor(backend, [1, 2]) };
 * const optimizer = lion(params, { rate: 0.1 });
 * optimizer.step(grad(({ w }: typeof params) => sum(mul(w, w)))(params));
 * await params.w.toArray(); // [0.9, 1.9]
 * ```
 */
export function lion<Params>(params: Params, options: LionOptions): Optimizer<Params> {
  checkOptions('lion', options, { rate: 'any', beta1: 'number', beta2: 'number', decay: 'number' });
  const { rate, beta1 = 0.9, beta2 = 0.99, decay = 0 } = options;
  return optimizer(LION, params, rate, { beta1, beta2, decay });
}

const kernels = new Kernels();

function kernelOf({ name, kept, params, update }: Rule, isTensor: boolean): Kernel {
  return kernels.of(`${name} ${isTensor}`, () => {
    const tensors = ['p', 'g', ...kept, ...(params.includes('log1') ? ['step'] : []), ...(isTensor ? ['rate'] : [])];
    const numbers = isTensor ? params : [...params, 'rate'];
    const floats = (names: readonly string[]): Record<string, 'f32'> =>
      Object.fromEntries(names.map((each) => [each, 'f32' as const]));
    const declared = { inputs: floats(tensors), params: floats(numbers) };
    return defineKernel(name, declared, (symbols, k) => update(k, symbols as Symbols)) as Kernel;
  });
}

function optimizer<Params>(
  rule: Rule,
  params: Params,
  rate: Rate,
  numbers: Readonly<Record<string, number>>,
): Optimizer<Params> {
  if (!(rate instanceof Tensor) && typeof rate !== 'number' && typeof rate !== 'function') {
    throw invalidArgument(rule.name, `rate must be a number, a tensor or a function, got ${describe(rate)}`);
  }
  const form = byPath(params);
  const tensors = form.map(([, p]) => p);
  const [first] = tensors;
  if (first === undefined) throw invalidArgument(rule.name, 'takes parameters, of which there are none');
  const twice = form.find(([, p], at) =>
    form.some(([, other], index) => index < at && other.storage === p.storage && other.offset === p.offset),
  );
  if (twice !== undefined) {
    const hint = 'give it one name, and use it in both places of the function';
    throw invalidArgument(rule.name, `parameter${twice[0]} has another name too, and would be updated twice`, hint);
  }
  const { backend } = first;
  const steps = zeros(backend, []);
  const state = tensors.map(({ shape }) => rule.kept.map(() => zeros(backend, shape)));
  const step = (gradients: Params): void => {
    const given = inOrderOf(form, gradients);
    if (given === undefined) {
      const hint = 'step takes the gradients of exactly the parameters: of valueAndGrad its gradient, not both';
      throw invalidArgument(
        rule.name,
        `takes gradients in the form of the parameters: ${misfit(form, gradients)}`,
        hint,
      );
    }
    tidy(() => {
      add(steps, 1, { out: steps });
      const own = typeof rate === 'function' ? rate(steps) : rate;
      const kernel = kernelOf(rule, own instanceof Tensor);
      const isCounted = kernel.inputs.some(({ name }) => name === 'step');
      for (const [at, p] of tensors.entries()) {
        const kept = Object.fromEntries(rule.kept.map((name, index) => [name, state[at]?.[index] as Tensor]));
        const scalars = {
          ...(isCounted ? { step: steps } : {}),
          ...(own instanceof Tensor ? { rate: reshape(own, []) } : {}),
        };
        const inputs = { p, g: given[at] as Tensor, ...kept, ...scalars };
        run(kernel, inputs, { shape: p.shape, params: own instanceof Tensor ? numbers : { ...numbers, rate: own } });
      }
    });
  };
  const dispose = (): void => {
    for (const each of [steps, ...state.flat()]) each.dispose();
  };
  return { steps, state, step, dispose, [Symbol.dispose]: dispose };
}
