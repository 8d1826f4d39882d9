import type { ComputeBackend, DevicePtr, DType } from '@concord/backend-core';
import {
  defineKernel,
  type Kernel,
  type KernelInput,
  type KernelOutput,
  type NumberType,
} from '@concord/backend-core/kernel';
import { copy, div, empty, reshape, run as runKernel, type Tensor, where, zeros } from '@concord/ops';
import { denseStrides, type KernelCall, launchKernel, unheard } from '@concord/ops/listen';
import { unsupported } from '../errors.ts';
import { clearParts, type VjpOutput } from '../kernel/parts.ts';
import { type VjpKernel, vjpKernel } from '../kernel/vjp-kernel.ts';
import { isNonOverlapping } from './places.ts';
import type { Entry, Tape } from './tape.ts';

/** An operand at an address. */
export type Given =
  | DevicePtr
  | { ptr: DevicePtr; shape?: readonly number[]; strides?: readonly number[]; dtype?: DType };

/** A kernel over a domain, and the memory that it reads. */
export interface KernelRun {
  readonly backend: ComputeBackend;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  readonly folded: number;
  readonly params: Readonly<Record<string, number>>;
  readonly inputs: Readonly<Record<string, Tensor>>;
}

/** Returns whether an output combines what is there with what is stored by index. */
function isCombined({ type, scatter }: KernelOutput): boolean {
  return type === 'f32' && (scatter?.mode === 'max' || scatter?.mode === 'min');
}

/** A kernel's operand of that element type; its sizes are `own`, or those that it is given with. */
export function placeOf(
  tape: Tape,
  backend: ComputeBackend,
  type: NumberType,
  own: readonly number[] | undefined,
  given: Given,
): Tensor {
  const view = typeof given === 'number' ? { ptr: given } : given;
  const sizes = own ?? view.shape ?? [];
  return tape.at(backend, view.ptr, sizes, view.strides ?? denseStrides(sizes), view.dtype ?? type);
}

/** Copies of the outputs that a kernel is about to combine with what it stores, in their order. */
export function copiesBefore(tape: Tape, backend: ComputeBackend, { kernel, outputs }: KernelCall): Tensor[] {
  return kernel.outputs.filter(isCombined).map(({ name, type }) => {
    const x = placeOf(tape, backend, type, undefined, (outputs as Record<string, Given>)[name] as Given);
    const copied = unheard(() => copy(x));
    const held = tape.hold(copied);
    for (const each of [x, copied]) each.dispose();
    return held;
  });
}

/** The entry of a launch of a kernel. */
export function entryOfRun(tape: Tape, backend: ComputeBackend, call: KernelCall, before: readonly Tensor[]): Entry {
  const { kernel, shape, folded = 0 } = call;
  const rows = shape.slice(0, shape.length - folded);
  const params = (call.params ?? {}) as Readonly<Record<string, number>>;
  const sizesOf = (level: string): readonly number[] | undefined =>
    level === 'gather' ? undefined : level === 'row' ? rows : shape;
  const inputs: Record<string, Tensor> = {};
  for (const { name, type, access } of kernel.inputs) {
    inputs[name] = placeOf(tape, backend, type, sizesOf(access), call.inputs?.[name] as Given);
  }
  const outputs = kernel.outputs.map(({ name, type, level, scatter }) => {
    const given = (call.outputs as Record<string, Given>)[name] as Given;
    return placeOf(tape, backend, type, sizesOf(scatter === undefined ? level : 'gather'), given);
  });
  const op = kernel.name;
  const isPartial = kernel.outputs.map(({ scatter }) => scatter !== undefined);
  const free = (list: readonly Tensor[]): void => list.forEach((each) => each.dispose());
  const plain = (backward?: () => never): Entry => {
    free([...Object.values(inputs), ...before]);
    return { op, outputs, isPartial, backward };
  };
  const wanted = kernel.inputs.map(({ name }) => name).filter((name) => tape.wants(inputs[name] as Tensor));
  const isTouched = isPartial.some((each, at) => each && tape.wants(outputs[at] as Tensor));
  if (wanted.length === 0 && !isTouched) return plain();
  let vjp: VjpKernel;
  let reads: ReadonlySet<string>;
  try {
    vjp = vjpKernel(kernel, wanted, { rank: shape.length });
    if (vjp.parts.length === 0 && vjp.same.size === 0 && !isTouched) return plain();
    const half = kernel.outputs.findIndex((each, at) => isCombined(each) && outputs[at]?.dtype !== 'f32');
    if (half >= 0) throw unsupported(op, `it combines in ${outputs[half]?.dtype}`, 'combine in f32');
    const sized = [...vjp.sizes.values()].map(([name]) => name);
    reads = new Set(isTouched ? kernel.inputs.map(({ name }) => name) : [...vjp.reads, ...sized]);
  } catch (error) {
    // Which is nothing to a function that does not depend on it.
    return plain(() => {
      throw error;
    });
  }
  // Of what only gets a gradient the place is enough, whatever becomes of it.
  const kept = [...reads].map((name) => inputs[name] as Tensor);
  free(Object.values(inputs).filter((each) => !kept.includes(each)));
  const results: Record<string, Tensor> = {};
  for (const [at, each] of kernel.outputs.entries()) {
    if (isCombined(each)) results[vjp.resultOf(each.name)] = tape.hold(outputs[at] as Tensor);
  }
  const backward = (gradients: (Tensor | undefined)[]): void => {
    const all = { backend, kernel, shape, folded, params, inputs: { ...inputs, ...results } };
    const own = (at: number): Tensor => {
      gradients[at]?.dispose();
      return (gradients[at] = tape.target(outputs[at] as Tensor).view);
    };
    const later: (() => void)[] = [];
    let next = 0;
    for (const [at, output] of kernel.outputs.entries()) {
      const old = isCombined(output) ? (before[next++] as Tensor) : undefined;
      if (output.scatter === undefined || gradients[at] === undefined) continue;
      if (old !== undefined) {
        const view = own(at);
        const { tied } = runKernel(TIED, { x: old, y: results[vjp.resultOf(output.name)] as Tensor });
        const ties = copy(tied);
        const parts = vjp.ties.get(output.name) ?? [];
        launchParts(all, { parts, sizes: vjp.sizes }, {}, () => ties);
        div(view, ties, { out: view });
        later.push(() => where(tied, view, 0, { out: view }));
      } else if (output.scatter.mode === 'set') {
        later.push(() => {
          const view = own(at);
          launchParts(all, { parts: clearParts(kernel, output), sizes: new Map() }, {}, () => view);
        });
      }
    }
    passKernel(tape, all, wanted, gradients);
    for (const each of later) each();
  };
  return { op, outputs, isPartial, kept: [...kept, ...before], results: Object.values(results), backward };
}

/** 1 where two are equal, or both not a number. */
const TIED = defineKernel('tied', { inputs: { x: 'f32', y: 'f32' } }, ({ x, y }, k) => ({
  tied: k.select(k.or(k.eq(x, y), k.and(k.isNan(x), k.isNan(y))), k.f32(1), 0),
}));

/** Passes the gradients of a kernel's outputs on to its inputs: those that share memory one after the other. */
export function passKernel(
  tape: Tape,
  run: KernelRun,
  wanted: readonly string[],
  gradients: readonly (Tensor | undefined)[],
): void {
  const groups: string[][] = [];
  const storageOf = (name: string): unknown => (run.inputs[name] as Tensor).storage;
  for (const name of wanted) {
    const together = groups.find((names) => names.every((other) => storageOf(other) !== storageOf(name)));
    if (together === undefined) groups.push([name]);
    else together.push(name);
  }
  for (const names of groups) passGroup(tape, run, names, gradients);
}

function passGroup(
  tape: Tape,
  run: KernelRun,
  wanted: readonly string[],
  gradients: readonly (Tensor | undefined)[],
): void {
  const { kernel, inputs, backend, shape, folded } = run;
  const given = kernel.outputs.filter((_, at) => gradients[at] !== undefined).map(({ name }) => name);
  const at = (name: string): Tensor => inputs[name] as Tensor;
  const accessOf = (name: string): string => (kernel.inputs.find((each) => each.name === name) as KernelInput).access;
  const direct = new Set(wanted.filter((name) => isNonOverlapping(at(name).shape, at(name).strides)));
  const adds = wanted.filter((name) => direct.has(name) && accessOf(name) === 'element' && tape.wouldAdd(at(name)));
  const options = { given, rank: shape.length };
  let vjp = vjpKernel(kernel, wanted, options);
  const computed = new Set(vjp.parts.flatMap(({ outputs }) => outputs.map(({ input }) => input)));
  const own = adds.filter((name) => computed.has(name));
  if (own.length > 0) vjp = vjpKernel(kernel, wanted, { ...options, adds: own });
  const named: Record<string, Tensor> = {};
  for (const [index, { name }] of kernel.outputs.entries()) {
    const gradient = gradients[index];
    if (gradient !== undefined) named[vjp.gradientOf(name)] = gradient;
  }
  const later: (() => void)[] = [];
  /** Gradients of the inputs that several gathers read. */
  const stored = new Map<string, Tensor>();
  launchParts(run, vjp, named, ({ input, level, type, isGathered }) => {
    const rows = level === 'row' ? shape.slice(0, shape.length - folded) : shape;
    if (input === undefined) return isGathered ? zeros(backend, shape) : empty(backend, rows, { dtype: type });
    const to = at(input);
    const before = stored.get(input);
    if (before !== undefined) return before;
    if (direct.has(input) && (isGathered || level === 'element' || !tape.wouldAdd(to))) {
      const { view } = tape.target(to, isGathered);
      later.push(() => view.dispose());
      if (isGathered) stored.set(input, view);
      return view;
    }
    const made = isGathered ? zeros(backend, to.shape) : empty(backend, rows);
    if (isGathered) stored.set(input, made);
    later.push(() => tape.give(to, made));
    return made;
  });
  for (const [input, output] of vjp.same) {
    const gradient = gradients[kernel.outputs.findIndex(({ name }) => name === output)];
    if (gradient !== undefined) tape.give(at(input), gradient);
  }
  for (const each of later) each();
}

/** Launches parts over the domain of a kernel. */
function launchParts(
  { backend, shape, folded, params, inputs }: KernelRun,
  { parts, sizes }: Pick<VjpKernel, 'parts' | 'sizes'>,
  gradients: Readonly<Record<string, Tensor>>,
  placeOf: (output: VjpOutput) => Tensor,
): void {
  const named: Record<string, Tensor> = { ...gradients };
  for (const { kernel, outputs } of parts) {
    const places = outputs.map(placeOf);
    for (const [index, each] of outputs.entries()) named[each.name] = places[index] as Tensor;
    const viewOf = ({ ptr, shape, strides, dtype }: Tensor, isIndexed: boolean): object => ({
      ...{ ptr, strides, dtype },
      ...(isIndexed ? { shape } : {}),
    });
    const placed = kernel.outputs.map(({ name, scatter }, index) => {
      const x = places[index] as Tensor;
      // Sums by index for later parts have one axis.
      const isFlat = scatter?.indices.length === 1 && x.rank !== 1;
      return [name, viewOf(isFlat ? reshape(x, [x.size]) : x, scatter !== undefined)];
    });
    const sizeOf = (name: string): number => {
      const [input, axis] = sizes.get(name) as readonly [string, number];
      return (inputs[input] as Tensor).shape[axis] as number;
    };
    launchKernel(backend, kernel, {
      ...{ shape, ...(kernel.hasRows ? { folded } : {}) },
      inputs: Object.fromEntries(
        kernel.inputs.map(({ name, access }) => [
          name,
          viewOf((inputs[name] ?? named[name]) as Tensor, access === 'gather'),
        ]),
      ),
      outputs: Object.fromEntries(placed),
      params: Object.fromEntries(kernel.params.map(({ name }) => [name, params[name] ?? sizeOf(name)])),
    } as never);
  }
}
