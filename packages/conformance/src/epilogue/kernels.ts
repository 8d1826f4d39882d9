import {
  defineKernel,
  type InputSpecs,
  type Kernel,
  type KernelBuilder,
  type Value,
} from '@concord/backend-core/kernel';
import { remembered } from '../run/hand-kernels.ts';

type Float = Value<'f32'>;
type Floats = Readonly<Record<string, Float>>;

const ACC = { acc: 'f32' } as const;

const withFloats = (
  name: string,
  inputs: readonly string[],
  compute: (values: Floats & { readonly acc: Float }, k: KernelBuilder) => Float,
): Kernel => {
  const specs: InputSpecs = { ...ACC, ...Object.fromEntries(inputs.map((input) => [input, 'f32'] as const)) };
  return defineKernel(name, { inputs: specs }, (values, k) => ({
    y: compute(values as unknown as Floats & { readonly acc: Float }, k),
  }));
};

/** Kernels of epilogues by name: what layers of a network end with, and one for each rule of the contract. */
export const EPILOGUE_KERNELS: Readonly<Record<string, () => Kernel>> = {
  copy: () => withFloats('copy', [], ({ acc }) => acc),
  bias: () => withFloats('bias', ['bias'], ({ acc, bias }, k) => k.add(acc, bias as Float)),
  'bias gelu': () => withFloats('bias gelu', ['bias'], ({ acc, bias }, k) => k.gelu(k.add(acc, bias as Float))),
  relu: () => withFloats('relu', [], ({ acc }, k) => k.max(acc, 0)),
  'low bits': () => withFloats('low bits', [], ({ acc }, k) => k.sub(acc, k.mul(k.floor(k.mul(acc, 1 / 64)), 64))),
  'three inputs': () =>
    withFloats('three inputs', ['scale', 'shift', 'residual'], ({ acc, scale, shift, residual }, k) =>
      k.add(k.add(k.mul(acc, scale as Float), shift as Float), residual as Float),
    ),
  parameters: () =>
    defineKernel(
      'parameters',
      { inputs: ACC, params: { factor: 'f32', least: 'i32' } },
      ({ acc, factor, least }, k) => ({
        y: k.max(k.mul(acc, factor), k.toF32(least)),
      }),
    ),
  indices: () =>
    defineKernel('indices', { inputs: ACC }, ({ acc }, k) => {
      const place = k.add(k.mul(k.add(k.mul(k.index(0), 7), k.index(1)), 11), k.mul(k.index(-1), 3));
      return { y: k.add(acc, k.toF32(k.add(place, k.extent(-2)))) };
    }),
  mask: () =>
    defineKernel('mask', { inputs: { ...ACC, keep: 'u32' } }, ({ acc, keep }, k) => ({
      y: k.select(k.gt(keep, 4), acc, k.neg(acc)),
    })),
};

/** Values of the parameters of {@link EPILOGUE_KERNELS}; other ones for the next seed. */
export function epilogueParams({ params }: Kernel, seed: number): Readonly<Record<string, number>> {
  const values: Readonly<Record<string, number>> = {
    factor: [-0.25, 2, 0.5][seed % 3] as number,
    least: (seed % 17) - 9,
  };
  return Object.fromEntries(params.map(({ name }) => [name, values[name] as number]));
}

/** The epilogue of that name, the same object each time. */
export function epilogueKernel(name: string): Kernel {
  const define = Object.hasOwn(EPILOGUE_KERNELS, name) ? EPILOGUE_KERNELS[name] : undefined;
  if (define === undefined) throw new RangeError(`no epilogue is called "${name}"`);
  return remembered(`epilogue ${name}`, define);
}
