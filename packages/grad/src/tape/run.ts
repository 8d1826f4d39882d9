import type { ComputeBackend, DevicePtr, DType } from '@concord/backend-core';
import type { Kernel, KernelInput, NumberType } from '@concord/backend-core/kernel';
import { empty, type Tensor, zeros } from '@concord/ops';
import { denseStrides, type KernelCall, launchKernel } from '@concord/ops/listen';
import { unsupported } from '../errors.ts';
import { clearParts, type VjpOutput } from '../kernel/parts.ts';
import { type VjpKernel, vjpKernel } from '../kernel/vjp-kernel.ts';
import { isNonOverlapping } from './places.ts';
import type { Entry, Tape } from './tape.ts';

type Given = DevicePtr | { ptr: DevicePtr; shape?: readonly number[]; strides?: readonly number[]; dtype?: DType };

/** A kernel over a domain, and the memory that it reads. */
export interface KernelRun {
  readonly backend: ComputeBackend;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  readonly folded: number;
  readonly params: Readonly<Record<string, number>>;
  readonly inputs: Readonly<Record<string, Tensor>>;
}

/** The entry of a launch of a kernel. */
export function entryOfRun(tape: Tape, backend: ComputeBackend, call: KernelCall): Entry {
  const { kernel, shape, folded = 0 } = call;
  const rows = shape.slice(0, shape.length - folded);
  const params = (call.params ?? {}) as Readonly<Record<string, number>>;
  const place = (type: NumberType, own: readonly number[] | undefined, given: Given): Tensor => {
    const view = typeof given === 'number' ? { ptr: given } : given;
    const sizes = own ?? view.shape ?? [];
    return tape.at(backend, view.ptr, sizes, view.strides ?? denseStrides(sizes), view.dtype ?? type);
  };
  const sizesOf = (level: string): readonly number[] | undefined =>
    level === 'gather' ? undefined : level === 'row' ? rows : shape;
  const inputs: Record<string, Tensor> = {};
  for (const { name, type, access } of kernel.inputs) {
    inputs[name] = place(type, sizesOf(access), call.inputs?.[name] as Given);
  }
  const outputs = kernel.outputs.map(({ name, type, level, scatter }) =>
    place(
      type,
      sizesOf(scatter === undefined ? level : 'gather'),
      (call.outputs as Record<string, Given>)[name] as Given,
    ),
  );
  const entry = entryOfKernel(tape, { backend, kernel, shape, folded, params, inputs }, outputs);
  // Kept gradients are held; of the others the places are enough.
  for (const each of Object.values(inputs)) each.dispose();
  return entry;
}

/** The entry of a kernel over a domain whose operands are known. */
function entryOfKernel(tape: Tape, run: KernelRun, outputs: readonly Tensor[]): Entry {
  const { kernel, inputs } = run;
  const op = kernel.name;
  const isPartial = kernel.outputs.map(({ scatter }) => scatter !== undefined);
  const wanted = wantedOf(tape, run);
  const touched = kernel.outputs.filter(
    ({ scatter }, at) => scatter !== undefined && tape.wants(outputs[at] as Tensor),
  );
  if (wanted.length === 0 && touched.length === 0) return { op, outputs, isPartial };
  let reads: ReadonlySet<string>;
  try {
    const combines = touched.find(({ scatter }) => scatter?.mode === 'max' || scatter?.mode === 'min');
    if (combines !== undefined)
      throw unsupported(op, `${combines.name} combines by ${combines.scatter?.mode}`, 'use where');
    const vjp = vjpKernel(kernel, wanted);
    if (vjp.parts.length === 0 && vjp.same.size === 0 && touched.length === 0) return { op, outputs, isPartial };
    const sized = [...vjp.sizes.values()].map(([name]) => name);
    reads = new Set(touched.length > 0 ? kernel.inputs.map(({ name }) => name) : [...vjp.reads, ...sized]);
  } catch (error) {
    // Which is nothing to a function that does not depend on it.
    const backward = (): never => {
      throw error;
    };
    return { op, outputs, isPartial, backward };
  }
  const hold = (names: Iterable<string>): Record<string, Tensor> =>
    Object.fromEntries([...names].map((name) => [name, tape.hold(inputs[name] as Tensor)]));
  const kept = hold(reads);
  // Of what only gets a gradient the place is enough, whatever becomes of it.
  const places = wanted.filter((name) => !reads.has(name)).map((name) => [name, inputs[name] as Tensor] as const);
  const backward = (gradients: readonly (Tensor | undefined)[]): void => {
    const all = { ...Object.fromEntries(places), ...kept };
    passKernel(tape, { ...run, inputs: all }, wanted, gradients);
    for (const [at, { name, scatter }] of kernel.outputs.entries()) {
      if (scatter?.mode !== 'set' || gradients[at] === undefined) continue;
      gradients[at].dispose();
      const { view } = tape.target(outputs[at] as Tensor);
      launchParts({ ...run, inputs: kept }, { parts: clearParts(kernel, name), sizes: new Map() }, {}, () => view);
      view.dispose();
    }
  };
  return { op, outputs, isPartial, kept: Object.values(kept), backward };
}

/** The inputs of a kernel whose gradients are wanted. */
export function wantedOf(tape: Tape, { kernel, inputs }: KernelRun): string[] {
  return kernel.inputs.map(({ name }) => name).filter((name) => tape.wants(inputs[name] as Tensor));
}

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
  let vjp = vjpKernel(kernel, wanted, { given });
  const computed = new Set(vjp.parts.flatMap(({ outputs }) => outputs.map(({ input }) => input)));
  const own = adds.filter((name) => computed.has(name));
  if (own.length > 0) vjp = vjpKernel(kernel, wanted, { given, adds: own });
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
    if (input === undefined) return empty(backend, rows, { dtype: type });
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
    const viewOf = (name: string): [string, object] => {
      const x = (inputs[name] ?? named[name]) as Tensor;
      const isIndexed = [...kernel.inputs, ...kernel.outputs].some(
        (each) => each.name === name && ('scatter' in each || ('access' in each && each.access === 'gather')),
      );
      const { ptr, strides, dtype } = x;
      return [name, { ptr, strides, dtype, ...(isIndexed ? { shape: x.shape } : {}) }];
    };
    const sizeOf = (name: string): number => {
      const [input, axis] = sizes.get(name) as readonly [string, number];
      return (inputs[input] as Tensor).shape[axis] as number;
    };
    launchKernel(backend, kernel, {
      ...{ shape, ...(kernel.hasRows ? { folded } : {}) },
      inputs: Object.fromEntries(kernel.inputs.map(({ name }) => viewOf(name))),
      outputs: Object.fromEntries(outputs.map(({ name }) => [name, viewOf(name)[1]])),
      params: Object.fromEntries(kernel.params.map(({ name }) => [name, params[name] ?? sizeOf(name)])),
    } as never);
  }
}
