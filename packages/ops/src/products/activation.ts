import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { Kernels } from '../compute/kernels.ts';
import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';

type Float = Value<'f32'>;

/** A function that a product or convolution applies before it stores. `geluTanh` is `gelu` with `approximate: 'tanh'`. */
export type Activation = 'relu' | 'gelu' | 'geluTanh' | 'silu' | 'sigmoid' | 'tanh';

const ACTIVATIONS: Readonly<Record<Activation, (k: KernelBuilder, x: Float) => Float>> = {
  relu: (k, x) => k.max(x, 0),
  gelu: (k, x) => k.gelu(x),
  geluTanh: (k, x) => k.geluTanh(x),
  silu: (k, x) => k.silu(x),
  sigmoid: (k, x) => k.sigmoid(x),
  tanh: (k, x) => k.tanh(x),
};

const kernels = new Kernels();

/**
 * `activation(acc + bias) + residual` as the epilogue of a product; undefined where there is nothing of it.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an unknown activation
 */
export function epilogueKernel(
  op: string,
  hasBias: boolean,
  activation: Activation | undefined,
  hasResidual: boolean,
): Kernel | undefined {
  if (!hasBias && activation === undefined && !hasResidual) return undefined;
  if (activation !== undefined && (typeof activation !== 'string' || !Object.hasOwn(ACTIVATIONS, activation))) {
    throw refuse(op, `activation must be one of ${Object.keys(ACTIVATIONS).join(', ')}, got ${shown(activation)}`);
  }
  const key = `${hasBias} ${activation ?? ''} ${hasResidual}`;
  return kernels.of(key, () => define(hasBias, activation, hasResidual));
}

function define(hasBias: boolean, activation: Activation | undefined, hasResidual: boolean): Kernel {
  const inputs: Record<string, 'f32'> = { acc: 'f32' };
  if (hasBias) inputs['bias'] = 'f32';
  if (hasResidual) inputs['residual'] = 'f32';
  return defineKernel('epilogue', { inputs }, ({ acc, bias, residual }, k) => {
    const sum = bias === undefined ? (acc as Float) : k.add(acc as Float, bias);
    const activated = activation === undefined ? sum : ACTIVATIONS[activation](k, sum);
    return { y: residual === undefined ? activated : k.add(activated, residual) };
  }) as Kernel;
}
