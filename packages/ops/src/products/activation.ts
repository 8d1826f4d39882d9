import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { Kernels } from '../compute/kernels.ts';
import { run } from '../compute/run.ts';
import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

type Float = Value<'f32'>;

/**
 * A function that a product, a convolution or a norm applies before it stores: by its name, or in the kernel language. `geluTanh` is
 * `gelu` with `approximate: 'tanh'`. What a function of the kernel language gives must not change from call to call.
 */
export type Activation =
  | 'relu'
  | 'gelu'
  | 'geluTanh'
  | 'silu'
  | 'sigmoid'
  | 'tanh'
  | ((k: KernelBuilder, x: Value<'f32'>) => Value<'f32'>);

const ACTIVATIONS: Readonly<Record<Extract<Activation, string>, (k: KernelBuilder, x: Float) => Float>> = {
  relu: (k, x) => k.max(x, 0),
  gelu: (k, x) => k.gelu(x),
  geluTanh: (k, x) => k.geluTanh(x),
  silu: (k, x) => k.silu(x),
  sigmoid: (k, x) => k.sigmoid(x),
  tanh: (k, x) => k.tanh(x),
};

/** @throws {BackendError} INVALID_ARGUMENT for an unknown activation */
export function checkActivation(op: string, activation: Activation | undefined): void {
  if (activation === undefined || typeof activation === 'function') return;
  if (typeof activation === 'string' && Object.hasOwn(ACTIVATIONS, activation)) return;
  throw refuse(
    op,
    `activation must be a function or one of ${Object.keys(ACTIVATIONS).join(', ')}, got ${shown(activation)}`,
  );
}

/** Returns the activation of a value; the value itself without an activation. */
export function activated(k: KernelBuilder, activation: Activation | undefined, x: Float): Float {
  if (activation === undefined) return x;
  return typeof activation === 'function' ? activation(k, x) : ACTIVATIONS[activation](k, x);
}

const numbers = new WeakMap<object, number>();
let count = 0;

/** A text that tells an activation from others. */
export function activationKey(activation: Activation | undefined): string {
  if (typeof activation !== 'function') return String(activation);
  let number = numbers.get(activation);
  if (number === undefined) numbers.set(activation, (number = count++));
  return `#${number}`;
}

const kernels = new Kernels();

/** The use of a product's residual: added, or a factor. */
export type Joined = 'add' | 'mul';

/**
 * Returns `activation(acc + bias) + residual` as the epilogue of a product; undefined without any of the three.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an unknown activation
 */
export function epilogueKernel(
  op: string,
  hasBias: boolean,
  activation: Activation | undefined,
  joined: Joined | undefined,
): Kernel | undefined {
  if (!hasBias && activation === undefined && joined === undefined) return undefined;
  checkActivation(op, activation);
  return kernels.of(`${hasBias} ${activationKey(activation)} ${joined}`, () => define(hasBias, activation, joined));
}

function define(hasBias: boolean, activation: Activation | undefined, joined: Joined | undefined): Kernel {
  const inputs: Record<string, 'f32'> = { acc: 'f32' };
  if (hasBias) inputs['bias'] = 'f32';
  if (joined !== undefined) inputs['residual'] = 'f32';
  return defineKernel('epilogue', { inputs }, ({ acc, bias, residual }, k) => {
    const value = activated(k, activation, bias === undefined ? (acc as Float) : k.add(acc as Float, bias));
    return { y: joined === undefined ? value : k[joined](value, residual as Float) };
  }) as Kernel;
}

/** The last steps of a product, applied by {@link finished}. */
interface Finish {
  readonly activation: Activation | undefined;
  readonly residual: Tensor | undefined;
  readonly joined: Joined;
  readonly out: Tensor | undefined;
}

/**
 * `activation(acc) + residual` in a launch of its own: where somebody listens, since the gradient of an activation is computed from
 * what it was applied to, which a product that applies it as it stores does not leave.
 */
export function finished(op: string, acc: Tensor, { activation, residual, joined, out }: Finish): Tensor {
  const kernel = epilogueKernel(op, false, activation, residual && joined) as Kernel;
  const to = out === undefined ? { dtypes: { y: acc.dtype } } : { out: { y: out } };
  return run(kernel, { acc, ...(residual && { residual }) }, { shape: acc.shape, ...to })['y'] as Tensor;
}
