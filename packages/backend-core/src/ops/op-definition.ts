import type { DType, WeightDType } from '../contract/element-types.ts';
import type { CheckedRun } from '../kernel/checked-run.ts';
import type { MaskDType } from './attention.ts';

/** The use of one operand by a call: its extent, and the operands that it may overlap. */
export interface OperandSpec {
  /** Name of the call's field, such as `a` or `output`. */
  readonly name: string;
  /** Elements from the first to the last one touched, gaps included. 0: the operand is not checked. */
  readonly elements: number;
  readonly dtype: DType;
  readonly output?: boolean;
  /** The operands that an output may exactly coincide with. */
  readonly mayAlias?: readonly string[];
}

/** The fields of every checked call: defaults filled in, everything verified but the pointers. */
export interface CheckedCall {
  readonly dtype: DType;
  readonly operands: readonly OperandSpec[];
  /** Features that its kernel must have. Default: none. */
  readonly needs?: readonly Feature[];
}

/** The minimal cost of a call. */
export interface OpCost {
  /** Additions, multiplications and functions. */
  readonly operations: number;
  /** Bytes to read and write, every operand once. */
  readonly bytes: number;
}

/** A small valid call without its pointers, and ways to leave it nothing to do: for tests and documents of every op. */
export interface OpSample<Shape> {
  readonly shape: Shape;
  /** Changes of the shape after which nothing is written. */
  readonly nothingToDo: readonly Partial<Shape>[];
}

/** The kernels that a backend may have: an op's is the one that runs it. */
export type KernelName = keyof Features;

/** Features that calls may need of each kernel beyond its basics; a backend's kernel lists those that it has. */
export interface Features {
  /**
   * `epilogues`: without it f32 ones are a `run` after the product, others are UNSUPPORTED. `dtypeB` and a type: B of that
   * type where A and C are of another, and of integers with all of their `quantB`.
   */
  readonly gemm: 'epilogues' | `dtypeB ${WeightDType}`;
  /** `transposed`: convolutions with `transposed: true`. `dtypeFilter` and a type: filters of that where the others are f32. */
  readonly conv2dForward: 'epilogues' | 'transposed' | 'dtypeFilter f16' | 'dtypeFilter bf16';
  /**
   * `lengths`, `starts`: positions in the memory of the device. `mask` and a type: masks of that.
   * `valueDim`: one that is not `headDim`. `lse`: the output of that name. `dtypeKv` and a
   * type: keys and values of that type where the others are f32.
   */
  readonly attention:
    | 'lengths'
    | 'starts'
    | 'valueDim'
    | 'lse'
    | 'dtypeKv f16'
    | 'dtypeKv bf16'
    | `mask ${Exclude<MaskDType, 'f32'>}`;
  readonly topK: never;
  /** `scatter`: outputs that are written by index. `scan`: folds of the row up to each element. */
  readonly run: 'scatter' | 'scan';
}

/** One of the {@link Features} of a kernel. */
export type Feature<Name extends KernelName = KernelName> = Features[Name];

/** The use of a field of a call, for tests that put wrong values into it. */
export type FieldKind = 'size' | 'sizes' | 'number' | 'word' | 'boolean' | 'object' | 'axis';

/**
 * All that is particular to one op of the contract. Everything else about it is derived from this: the method's checks,
 * `supports`, `prepare`, capabilities, refusals, samples.
 *
 * @typeParam Shape - the call without its pointers
 * @typeParam Checked - the shape with its defaults filled in
 */
export interface OpDefinition<Shape extends object, Checked extends CheckedCall> {
  /** The kernel of a backend that runs it. */
  readonly kernel: KernelName;
  /** Names of the pointer fields; outputs last. */
  readonly operands: readonly string[];
  /** The field whose null pointer makes a call with a zero size a no-op. */
  readonly output: string;
  /** Every other field, and what it holds. */
  readonly fields: Readonly<Record<keyof Shape & string, FieldKind>>;
  /**
   * Names of the fields of its fields that are objects, but for `epilogue`: by the path of each, which is also the name of the
   * operand whose `ptr` it has. Objects in an object come after it, in the order of its fields.
   */
  readonly nested?: Readonly<Record<string, readonly string[]>>;
  /**
   * Fields that only reach a kernel as float32 numbers, and which of their values make no difference: calls that differ in
   * nothing but those have one plan. The same for all ops of a kernel.
   */
  readonly scalars?: Readonly<Record<string, (value: number) => boolean>>;
  /** Values of a call in the order of `fields`, then of `operands`: names in the source, where a loop over them is slow. */
  read(call: Readonly<Record<string, unknown>>): unknown[];
  /** Element types that the contract gives the op; the first is the default. */
  readonly dtypes: readonly [DType, ...DType[]];
  /**
   * The op's rules, but for the pointers.
   *
   * @returns null when there is nothing to do
   * @throws {BackendError} INVALID_ARGUMENT
   */
  check(shape: Shape, outputIsNull: boolean): Checked | null;
  /** The cost of a checked call. */
  cost(call: Checked): OpCost;
  readonly sample: OpSample<Shape>;
}

/** An op that is a `run` of its own kernel: no backend has to know it. */
export interface DerivedDefinition<Shape extends object, Checked extends CheckedCall> extends OpDefinition<
  Shape,
  Checked
> {
  readonly kernel: 'run';
  /** The functions that its `op` names: a backend whose `run` covers some kernels may have some of them. */
  readonly functions: readonly string[];
  /** The same as a call of a kernel, whose inputs and outputs are the operands in their order. */
  asRun(call: Checked): CheckedRun;
}
