import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import type { Kernel, RunCall, RunShape } from '@concord/backend-core/kernel';
import type { BenchCase } from '../bench-case.ts';
import { bytesOf, type Operand, operand, type OperandType } from '../operand.ts';

/** An input or output of a kernel that is not f32 and dense. */
export interface RunArray {
  readonly dtype?: OperandType;
  readonly strides?: readonly number[];
  /** Of a gather input: the sizes of all of it. */
  readonly shape?: readonly number[];
  /** Of places: they are below this. */
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
  /** Has one output. */
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
  const { id, title, kernel, shape, folded = 0, flops = 1, output = {}, ofRow } = options;
  const { relative = 1e-5, absolute = 1e-7 } = options;
  const [result] = kernel.outputs as [Kernel['outputs'][0]];
  const rowAxes = shape.slice(0, shape.length - folded);
  const outputShape = result.level === 'row' ? rowAxes : shape;
  const outputLength = productOf(outputShape);
  const layouts = new Map(
    kernel.inputs.map(({ name, access }) => [
      name,
      layoutOf(options.inputs?.[name] ?? {}, access === 'row' ? rowAxes : shape),
    ]),
  );
  const lengths = kernel.inputs.map(({ name, access }) =>
    access === 'gather' ? productOf(options.inputs?.[name]?.shape ?? []) : (layouts.get(name) as Layout).length,
  );
  const bytes = kernel.inputs.reduce(
    (sum, { name }, i) => sum + (lengths[i] as number) * bytesOf(options.inputs?.[name]?.dtype ?? 'f32'),
    outputLength * bytesOf(output.dtype ?? 'f32'),
  );
  const views = Object.fromEntries(Object.entries(options.inputs ?? {}).map(([name, array]) => [name, viewOf(array)]));
  const domain = { shape, ...(folded > 0 && { folded }) };
  return {
    ...{ id: `run/${id}`, op: 'run', title, unit: 'GB/s', flops: flops * productOf(shape) },
    bytes: options.bytes ?? bytes,
    prepare() {
      const inputs = kernel.inputs.map(({ name }, i) => operand(lengths[i] as number, i + 1, options.inputs?.[name]));
      const byName = new Map(kernel.inputs.map(({ name }, i) => [name, inputs[i] as Operand]));
      const read = (input: string, place: number): number => (byName.get(input) as Operand).at(place);
      const offset = (input: string, point: readonly number[]): number =>
        (layouts.get(input) as Layout).strides.reduce((sum, stride, axis) => sum + stride * (point[axis] ?? 0), 0);
      const rows = new Map<string, Row>();
      const rowOf = (point: readonly number[]): Row => {
        const start = point.slice(0, rowAxes.length);
        const key = start.join();
        if (!rows.has(key)) {
          const visit: VisitRow = (input, each) => {
            const { strides } = layouts.get(input) as Layout;
            const [first, step] = [offset(input, start), strides.at(-1) as number];
            for (let i = 0; i < productOf(shape.slice(rowAxes.length)); i++) each(read(input, first + i * step), i);
          };
          rows.set(key, ofRow?.(visit) as Row);
        }
        return rows.get(key) as Row;
      };
      const placed = layoutOf(output, outputShape);
      const calls = new WeakMap<ComputeBackend, { pointers: readonly DevicePtr[]; call: RunCall }>();
      const callOf = (pointers: readonly DevicePtr[]): RunCall => {
        const given = kernel.inputs.map(({ name }, i) => [name, { ...views[name], ptr: pointers[i] }]);
        const outputs = { [result.name]: { ...viewOf(output), ptr: pointers.at(-1) as DevicePtr } };
        return { ...domain, inputs: Object.fromEntries(given) as Pointers, outputs, params: options.params ?? {} };
      };
      return {
        ...{ inputs, outputLength, outputDtype: output.dtype ?? 'f32' },
        plan: { op: 'run', call: { kernel, ...domain, inputs: views, outputs: { [result.name]: viewOf(output) } } },
        call(backend, at, out) {
          const pointers = [...inputs.map((_, i) => at(i)), out];
          let made = calls.get(backend);
          // Made once, as a program does whose kernels are small.
          if (made === undefined || made.pointers.some((ptr, i) => ptr !== pointers[i])) {
            made = { pointers, call: callOf(pointers) };
            calls.set(backend, made);
          }
          backend.run(kernel, made.call);
        },
        expected(index) {
          const point = pointOf(index, placed);
          const entry: RunEntry = { point, read, at: (input) => read(input, offset(input, point)) };
          const want = options.expected(entry, rowOf(point));
          return { want, tolerance: relative * Math.abs(want) + absolute };
        },
      };
    },
  };
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

/** The point whose element lies at a place of an array without gaps. */
function pointOf(place: number, { strides, shape }: Layout): readonly number[] {
  return strides.map((stride, axis) => Math.floor(place / stride) % (shape[axis] as number));
}

function productOf(sizes: readonly number[]): number {
  return sizes.reduce((x, y) => x * y, 1);
}
