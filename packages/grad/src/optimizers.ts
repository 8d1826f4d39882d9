/// <reference lib="esnext.disposable" preserve="true" />
import { describe } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { add, reshape, run, Tensor, tidy, zeros } from '@concord/ops';
import { checkOptions, Kernels } from '@concord/ops/listen';
import { invalidArgument } from './errors.ts';
import { byPath, inOrderOf } from './tree.ts';

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
  /** The options that are numbers, which parameters of the kernel are. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly update: (k: KernelBuilder, symbols: Symbols) => Record<string, Float>;
}

const weighted = (k: KernelBuilder, beta: Float, old: Float, fresh: Float): Float =>
  k.add(k.mul(beta, old), k.mul(k.sub(1, beta), fresh));

const SGD: Rule = {
  ...{ name: 'sgd', kept: [], numbers: { decay: 0 } },
  update: (k, { p, g, rate, decay }) => ({ p: k.sub(p, k.mul(rate, k.add(g, k.mul(decay, p)))) }),
};

const momentum = (nesterov: boolean): Rule => ({
  ...{ name: nesterov ? 'sgd nesterov' : 'sgd momentum', kept: ['m'], numbers: { decay: 0, momentum: 0 } },
  update: (k, { p, g, m, rate, decay, momentum: factor }) => {
    const own = k.add(g, k.mul(decay, p));
    const next = k.add(k.mul(factor, m), own);
    return { p: k.sub(p, k.mul(rate, nesterov ? k.add(own, k.mul(factor, next)) : next)), m: next };
  },
});
const [MOMENTUM, NESTEROV] = [momentum(false), momentum(true)];

const adaptive = (name: string, usualDecay: number, isDecoupled: boolean): Rule => ({
  ...{ name, kept: ['m', 'v'], numbers: { beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: usualDecay } },
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
const [ADAM, ADAM_W] = [adaptive('adam', 0, false), adaptive('adamW', 0.01, true)];

const LION: Rule = {
  ...{ name: 'lion', kept: ['m'], numbers: { beta1: 0.9, beta2: 0.99, decay: 0 } },
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
  const { nesterov = false, momentum: factor = 0, ...others } = options;
  if (factor === 0) return optimizer(SGD, params, others);
  return optimizer(nesterov ? NESTEROV : MOMENTUM, params, { ...others, momentum: factor });
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
  return optimizer(ADAM, params, options);
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
  return optimizer(ADAM_W, params, options);
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
  return optimizer(LION, params, options);
}

const kernels = new Kernels();

const floats = (names: readonly string[]): Record<string, 'f32'> =>
  Object.fromEntries(names.map((each) => [each, 'f32' as const]));

function optimizer<Params>(rule: Rule, params: Params, options: SgdOptions): Optimizer<Params> {
  const { name: op, kept, update } = rule;
  const names = Object.keys(rule.numbers);
  checkOptions(op, options, { rate: 'any', ...Object.fromEntries(names.map((name) => [name, 'number' as const])) });
  const { rate, ...others } = options as typeof options & Readonly<Record<string, number | undefined>>;
  if (!(rate instanceof Tensor) && typeof rate !== 'number' && typeof rate !== 'function') {
    throw invalidArgument(op, `rate must be a number, a tensor or a function, got ${describe(rate)}`);
  }
  const numbers = Object.fromEntries(names.map((name) => [name, (others[name] ?? rule.numbers[name]) as number]));
  const isCounted = kept.includes('v');
  if (isCounted) for (const each of [1, 2]) numbers[`log${each}`] = Math.log(numbers[`beta${each}`] as number);
  const form = byPath(params);
  const tensors = form.map(([, p]) => p);
  const [first] = tensors;
  if (first === undefined) throw invalidArgument(op, 'takes parameters, of which there are none');
  const twice = form.find(([, p], at) =>
    form.some(([, other], index) => index < at && other.storage === p.storage && other.offset === p.offset),
  );
  if (twice !== undefined) {
    const hint = 'give it one name, and use it in both places of the function';
    throw invalidArgument(op, `parameter${twice[0]} has another name too, and would be updated twice`, hint);
  }
  const steps = zeros(first.backend, []);
  const state = tensors.map(({ shape, backend }) => kept.map(() => zeros(backend, shape)));
  const step = (gradients: Params): void => {
    const hint = 'step takes the gradients of exactly the parameters: of valueAndGrad its gradient, not both';
    const given = inOrderOf(op, 'parameter', form, gradients, hint);
    tidy(() => {
      add(steps, 1, { out: steps });
      const own = typeof rate === 'function' ? rate(steps) : rate;
      const isTensor = own instanceof Tensor;
      const shared = { ...(isCounted ? { step: steps } : {}), ...(isTensor ? { rate: reshape(own, []) } : {}) };
      const values = isTensor ? numbers : { ...numbers, rate: own };
      const kernel = kernels.of(`${op} ${isTensor}`, () => {
        const inputs = floats(['p', 'g', ...kept, ...Object.keys(shared)]);
        const declared = { inputs, params: floats(Object.keys(values)) };
        return defineKernel(op, declared, (symbols, k) => update(k, symbols as Symbols)) as Kernel;
      });
      for (const [at, p] of tensors.entries()) {
        const own = Object.fromEntries(kept.map((name, index) => [name, state[at]?.[index] as Tensor]));
        run(kernel, { p, g: given[at] as Tensor, ...own, ...shared }, { shape: p.shape, params: values });
      }
    });
  };
  const dispose = (): void => {
    for (const each of [steps, ...state.flat()]) each.dispose();
  };
  return { steps, state, step, dispose, [Symbol.dispose]: dispose };
}
