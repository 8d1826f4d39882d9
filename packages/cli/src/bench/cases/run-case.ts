import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { defineKernel, type Kernel, type RunCall, type RunShape, type UnaryKernel } from '@concord/backend-core/kernel';
import type { BenchCase } from '../bench-case.ts';
import { present } from '../../objects.ts';
import type { Operand, OperandType } from '../operand.ts';
import { opCase, productOf } from './op-cases.ts';

/** An input or output of a kernel that is not f32 and dense. */
export interface RunArray {
  readonly dtype?: OperandType;
  readonly strides?: readonly number[];
  /** The sizes of a gather input. */
  readonly shape?: readonly number[];
  /** The upper bound of random places. */
  readonly below?: number;
}

/** The inputs of a kernel, for the float64 reference of one entry. */
export interface RunEntry {
  /** The point of the entry: an index for each axis of the domain, without the folded ones for an entry of a row. */
  readonly point: readonly number[];
  /** The element of an input at the point. */
  readonly at: (input: string) => number;
  /** Any element of an input, by its place in memory. */
  readonly read: (input: string, place: number) => number;
}

/** A row for the float64 reference: calls `visit` with each element of an input in it, in order. */
export type VisitRow = (input: string, visit: (value: number, index: number) => void) => void;

/** A kernel and the call of it that is timed. Inputs and outputs that are not named are dense f32. */
export interface RunCaseOptions<Row> extends Pick<RunShape, 'shape' | 'folded'> {
  readonly id: string;
  readonly title: string;
  /** The kernel, which has one output. */
  readonly kernel: Kernel;
  /** Functions and operations of an element. Default: 1. */
  readonly flops?: number;
  /** Bytes that a call moves. Default: all inputs and the output, once. */
  readonly bytes?: number;
  readonly inputs?: Readonly<Record<string, RunArray>>;
  readonly params?: Readonly<Record<string, number>>;
  readonly output?: RunArray;
  /** A value that all entries of a row need, such as its sum. */
  readonly ofRow?: (visit: VisitRow) => Row;
  /** An entry in float64. */
  readonly expected: (entry: RunEntry, row: Row) => number;
  /** Largest error, as a part of the value, and besides. Default: 1e-5 and 1e-7. */
  readonly relative?: number;
  readonly absolute?: number;
}

/** A kernel as a case. */
export function runCase<Row = undefined>(options: RunCaseOptions<Row>): BenchCase {
  const { id, title, kernel, shape, folded = 0, flops = 1, params = {}, output = {}, ofRow } = options;
  const { relative = 1e-5, absolute = 1e-7 } = options;
  const [result] = kernel.outputs as [Kernel['outputs'][0]];
  const rowAxes = shape.slice(0, shape.length - folded);
  const placed = layoutOf(output, result.level === 'row' ? rowAxes : shape);
  const given = kernel.inputs.map(({ name, access }) => {
    const array = options.inputs?.[name] ?? {};
    const layout = layoutOf(array, access === 'row' ? rowAxes : shape);
    return { name, array, layout, length: access === 'gather' ? productOf(array.shape ?? []) : layout.length };
  });
  const views = Object.fromEntries(given.map(({ name, array }) => [name, viewOf(array)]));
  const domain = { shape, ...(folded > 0 && { folded }) };
  const calls = new WeakMap<ComputeBackend, { pointers: readonly DevicePtr[]; call: RunCall }>();
  const callOf = (pointers: readonly DevicePtr[]): RunCall => {
    const inputs = given.map(({ name }, i) => [name, { ...views[name], ptr: pointers[i] }]);
    const outputs = { [result.name]: { ...viewOf(output), ptr: pointers.at(-1) as DevicePtr } };
    return { ...domain, inputs: Object.fromEntries(inputs) as Pointers, outputs, params };
  };
  const rows = new Map<string, Row>();
  return opCase({
    ...{ id, title, unit: 'GB/s', flops: flops * productOf(shape) },
    plan: { op: 'run', call: { kernel, ...domain, inputs: views, outputs: { [result.name]: viewOf(output) } } },
    inputs: given.map(({ length, array: { dtype = 'f32', below } }) => ({ length, dtype, ...(below && { below }) })),
    output: { length: productOf(placed.shape), dtype: output.dtype ?? 'f32' },
    ...present({ bytes: options.bytes }),
    call(backend, at, out) {
      const pointers = [...given.map((_, i) => at(i)), out];
      let made = calls.get(backend);
      // Made once, as a program does whose kernels are small.
      if (made === undefined || made.pointers.some((ptr, i) => ptr !== pointers[i])) {
        made = { pointers, call: callOf(pointers) };
        calls.set(backend, made);
      }
      backend.run(kernel, made.call);
    },
    entry(index, inputs) {
      const indexOf = (input: string): number => given.findIndex(({ name }) => name === input);
      const read = (input: string, place: number): number => (inputs[indexOf(input)] as Operand).at(place);
      const layout = (input: string): Layout => (given[indexOf(input)] as (typeof given)[0]).layout;
      const offset = (input: string, at: readonly number[]): number =>
        layout(input).strides.reduce((sum, stride, axis) => sum + stride * (at[axis] ?? 0), 0);
      const rowOf = (start: readonly number[]): Row => {
        const key = start.join();
        const visit: VisitRow = (input, each) => {
          const [first, step] = [offset(input, start), layout(input).strides.at(-1) as number];
          for (let i = 0; i < productOf(shape.slice(rowAxes.length)); i++) each(read(input, first + i * step), i);
        };
        if (!rows.has(key)) rows.set(key, ofRow?.(visit) as Row);
        return rows.get(key) as Row;
      };
      // The point whose element lies there: an output has no gaps.
      const point = placed.strides.map((stride, axis) => Math.floor(index / stride) % (placed.shape[axis] as number));
      const entry: RunEntry = { point, read, at: (input) => read(input, offset(input, point)) };
      const want = options.expected(entry, rowOf(point.slice(0, rowAxes.length)));
      return { want, tolerance: relative * Math.abs(want) + absolute };
    },
  });
}

type Pointers = Readonly<Record<string, { readonly ptr: DevicePtr }>>;

interface Layout {
  readonly strides: readonly number[];
  readonly shape: readonly number[];
  /** Elements from the first to the last. */
  readonly length: number;
}

function layoutOf({ strides }: RunArray, shape: readonly number[]): Layout {
  const own = strides ?? shape.map((_, axis) => productOf(shape.slice(axis + 1)));
  return {
    strides: own,
    shape,
    length: own.reduce((sum, stride, axis) => sum + stride * ((shape[axis] as number) - 1), 1),
  };
}

/** The call's view of an array, without the fields that only the case needs. */
function viewOf({ below: _, ...view }: RunArray): Omit<RunArray, 'below'> {
  return view;
}

const SOFTMAX: UnaryKernel = defineKernel('softmax', { inputs: { input: 'f32' } }, ({ input }, k) => {
  const e = k.exp(k.sub(input, k.fold('max', input)));
  return { output: k.div(e, k.fold('sum', e)) };
});

/** Softmax: a kernel of two folds that depend on each other, over rows, or down the columns of a matrix. */
export function softmaxCase(origin: string, text: string, rows: number, columns: number, isDown = false): BenchCase {
  const transposed = { strides: [1, columns] };
  return runCase({
    ...{ id: `${origin}/softmax-${rows}x${columns}${isDown ? '-axis0' : ''}`, title: text, kernel: SOFTMAX, flops: 5 },
    ...{ shape: isDown ? [columns, rows] : [rows, columns], folded: 1 },
    ...(isDown && { inputs: { input: transposed }, output: transposed }),
    ofRow(visit) {
      let sum = 0;
      visit('input', (x) => (sum += Math.exp(x)));
      return sum;
    },
    expected: ({ at }, sum) => Math.exp(at('input')) / sum,
    ...{ relative: 1e-4, absolute: 0 },
  });
}
