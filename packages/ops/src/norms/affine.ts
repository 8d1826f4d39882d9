import type { KernelBuilder, Value } from '@concord/backend-core/kernel';
import { activated, type Activation } from '../products/activation.ts';

type Float = Value<'f32'>;

/** The end of every norm: `activation(normal weight + bias)`, without the parts that are not given. */
export function affine(
  k: KernelBuilder,
  normal: Float,
  { weight, bias }: Readonly<Record<string, unknown>>,
  activation: Activation | undefined,
): Float {
  const scaled = weight === undefined ? normal : k.mul(normal, weight as Float);
  return activated(k, activation, bias === undefined ? scaled : k.add(scaled, bias as Float));
}
