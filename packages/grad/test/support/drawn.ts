import type { Kernel } from '@concord/backend-core/kernel';
import { isBackendError } from '@concord/backend-core';
import { drawnPlan, drawRunParams, perhapsScanned, perhapsScattered } from '../../../conformance/src/run/drawn.ts';
import type { RunPlan } from '../../../conformance/src/run/plan.ts';
import { type VjpKernel, vjpKernel } from '../../src/index.ts';
import { type Domain, type Dual, type DualInput, evaluate } from './duals.ts';
import { numbersFrom } from './differences.ts';

/** The two products, and the sum of magnitudes of what they add up. */
export interface Products {
  readonly left: number;
  readonly right: number;
  readonly scale: number;
}

/** The scans and scatters of floats that are in a kernel. */
function kindsOf(kernel: Kernel): string[] {
  const scans = kernel.nodes.flatMap((node) =>
    node.kind === 'scan' && node.type === 'f32' ? [`scan ${node.op}`] : [],
  );
  const scatters = kernel.outputs.filter(({ type }) => type === 'f32').flatMap(({ scatter }) => scatter?.mode ?? []);
  return [...scans, ...scatters.map((mode) => `scatter ${mode}`)];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** `<vjp(g), v>` and `<g, jvp(v)>` of the kernel of a seed, both in float64, or why there are none. */
export function productsOf(seed: number): (Products & { readonly kinds: readonly string[] }) | string {
  const drawn = { ...drawRunParams(seed), data: 'moderate', dtype: 'own', views: 'dense' };
  if (sizeOf(drawn.shape) > 400) return 'constant';
  const plan = drawnPlan(perhapsScanned(perhapsScattered(drawn)));
  const { kernel } = plan;
  const next = numbersFrom(seed * 7 + 1);
  const inputs: Record<string, DualInput> = {};
  for (const [index, { name, type }] of kernel.inputs.entries()) inputs[name] = inputOf(plan, index, type, next);
  const stored: Record<string, DualInput> = {};
  for (const [index, { name, type, scatter }] of kernel.outputs.entries()) {
    if (scatter !== undefined) stored[name] = inputOf(plan, kernel.inputs.length + index, type, () => 0.5);
  }
  let products: Products;
  try {
    products = compare(kernel, plan, inputs, stored, next);
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) return error.detail.replace(/.*: /, '');
    throw error;
  }
  const { left, right, scale } = products;
  if (scale === 0) return 'constant';
  return Number.isFinite(left) && Number.isFinite(right) ? { ...products, kinds: kindsOf(kernel) } : 'infinite';
}

/** The same of a kernel whose inputs are floats of its domain or rows. */
export function productsOfKernel(kernel: Kernel, domain: Domain): Products {
  const next = numbersFrom(5);
  const rows = domain.shape.slice(0, domain.shape.length - domain.folded);
  const inputs: Record<string, DualInput> = {};
  for (const { name, access } of kernel.inputs) {
    const shape = access === 'row' ? rows : domain.shape;
    const draw = (): Float64Array => Float64Array.from({ length: sizeOf(shape) }, () => next() * 2 - 1);
    inputs[name] = { shape, value: draw(), change: draw() };
  }
  return compare(kernel, domain, inputs, {}, next);
}

function compare(
  kernel: Kernel,
  plan: Domain,
  inputs: Readonly<Record<string, DualInput>>,
  stored: Readonly<Record<string, DualInput>>,
  next: () => number,
): Products {
  const wanted = kernel.inputs.filter(({ type }) => type === 'f32').map(({ name }) => name);
  const vjp = vjpKernel(kernel, wanted, { rank: plan.shape.length });
  const results = evaluate(kernel, plan, inputs, stored);
  const gradients: Record<string, DualInput> = {};
  let right = 0;
  let scale = 0;
  for (const { name, type } of kernel.outputs) {
    if (type !== 'f32') continue;
    const { value, change } = results[name] as Dual;
    const factors = Float64Array.from(value, () => next() * 2 - 1);
    const shape = stored[name]?.shape ?? [];
    const given = { value: factors.slice(), change: factors, shape };
    gradients[vjp.gradientOf(name)] = given;
    for (const { kernel: counts } of vjp.ties.get(name) ?? []) {
      gradients[vjp.resultOf(name)] = { value, change, shape };
      const before = stored[name] as DualInput;
      const own = { shape, change: before.change, value: before.value.map((each, at) => Number(each === value[at])) };
      const domain = { ...plan, folded: counts.hasRows ? plan.folded : 0 };
      const ties = evaluate(counts, domain, { ...inputs, ...gradients }, { [name]: own })[name] as Dual;
      for (const at of factors.keys()) given.value[at] = (factors[at] as number) / (ties.value[at] as number);
    }
    for (const [index, each] of change.entries()) {
      right += each * (factors[index] as number);
      scale += Math.abs(each * (factors[index] as number));
    }
  }
  let left = 0;
  const add = (input: string, gradient: Float64Array): void => {
    for (const [index, each] of gradient.entries()) {
      const product = each === 0 ? 0 : each * ((inputs[input] as DualInput).change[index] as number);
      left += product;
      scale += Math.abs(product);
    }
  };
  for (const [input, output] of vjp.same) add(input, (gradients[vjp.gradientOf(output)] as Dual).value);
  const scratch: Record<string, DualInput> = {};
  for (const part of vjp.parts) {
    const zeros: Record<string, DualInput> = {};
    for (const { name, input, isGathered } of part.outputs) {
      if (!isGathered) continue;
      const { shape } = input === undefined ? { shape: [sizeOf(plan.shape)] } : (inputs[input] as DualInput);
      zeros[name] = { shape, value: new Float64Array(sizeOf(shape)), change: new Float64Array(sizeOf(shape)) };
    }
    const params = { ...plan.params, ...sizesOf(vjp, inputs) };
    // A kernel without rows has no axes that are folded.
    const domain = { shape: plan.shape, folded: part.kernel.hasRows ? plan.folded : 0, params };
    const found = evaluate(part.kernel, domain, { ...inputs, ...gradients, ...scratch }, zeros);
    for (const { name, input } of part.outputs) {
      const { value, change } = found[name] as Dual;
      if (input === undefined) scratch[name] = { value, change, shape: [] };
      else add(input, value);
    }
  }
  return { left, right, scale };
}

function sizesOf({ sizes }: VjpKernel, inputs: Readonly<Record<string, DualInput>>): Record<string, number> {
  return Object.fromEntries(
    [...sizes].map(([name, [input, axis]]) => [name, (inputs[input] as DualInput).shape[axis] as number]),
  );
}

function inputOf({ operands }: RunPlan, index: number, type: string, next: () => number): DualInput {
  const { shape, strides, bits = new Uint32Array(0) } = operands[index] as RunPlan['operands'][number];
  const words = new DataView(new ArrayBuffer(4));
  const value = Float64Array.from({ length: sizeOf(shape) }, (_, at) => {
    let [rest, place] = [at, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += (rest % (shape[axis] as number)) * (strides[axis] as number);
      rest = Math.floor(rest / (shape[axis] as number));
    }
    words.setUint32(0, bits[place] as number);
    return type === 'f32' ? words.getFloat32(0) : type === 'i32' ? words.getInt32(0) : words.getUint32(0);
  });
  return { shape, value, change: Float64Array.from(value, () => (type === 'f32' ? next() * 2 - 1 : 0)) };
}
