import type { DType, NibbleDType } from '../contract/element-types.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import type { InputSpec, InputSpecs, Kernel, ParameterSpecs } from './graph.ts';

/** The layout of an input or output in memory. */
export interface RunView {
  /**
   * Elements from one index of an axis to the next, one per axis of the operand's level: for an element operand the axes
   * of `shape`, for a row operand those that are not folded. 0 repeats an input. Default: dense, row-major. That of an
   * axis of size 1 is ignored.
   */
  readonly strides?: readonly number[];
  /**
   * Element type in memory. Default: the declared type. f32 may be stored as f16 or bf16, i32 as i8, u32 as u8; inputs of i32 also as
   * i4, of u32 as u4, which begin at a byte and whose strides count halves of bytes.
   */
  readonly dtype?: DType | NibbleDType;
}

/** The layout of a gather input in memory, or of an output that is written by index. */
export interface GatherView extends RunView {
  /** Sizes of its axes; an index outside of them gives `otherwise`, or stores nothing. */
  readonly shape: readonly number[];
}

/** An input or output at an address, in its own layout. */
export interface RunOperand extends RunView {
  readonly ptr: DevicePtr;
}

/** A gather input, or an output that is written by index, at an address. */
export interface GatherOperand extends GatherView {
  readonly ptr: DevicePtr;
}

/** The points at which a kernel is computed. */
export interface RunDomain {
  /** Sizes, 0 to 8 of them, each below 2^32, their product below 2^53. */
  readonly shape: readonly number[];
  /**
   * The number of last axes that belong to one row. At least 1 where the kernel has a fold, a row input, a row output or
   * `rowIndex`, and only there.
   */
  readonly folded?: number;
}

type IsGather<Spec extends InputSpec> = Spec extends { readonly access: 'gather' } ? true : false;

/** A call of a kernel without its pointers and parameters, for `prepare` and `supports`. */
export interface RunShape extends RunDomain {
  readonly kernel: Kernel;
  /** Layout of each input that is not dense in its declared type; gather inputs need theirs. */
  readonly inputs?: Readonly<Record<string, RunView | GatherView>>;
  /** Layout of each output that is not dense in its declared type; those that are written by index need theirs. */
  readonly outputs?: Readonly<Record<string, RunView | GatherView>>;
}

/** Arguments of `run`: the domain of the kernel, its operands and its outputs. */
export type RunCall<
  Inputs extends InputSpecs = InputSpecs,
  Parameters extends ParameterSpecs = ParameterSpecs,
  Outputs extends string = string,
> = RunDomain & {
  /** A pointer to dense elements, or a layout; of one that is written by index, whose other elements stay, a layout with its shape. */
  readonly outputs: { readonly [Name in Outputs]: DevicePtr | RunOperand | GatherOperand };
} & Given<
    'inputs',
    { readonly [Name in keyof Inputs]: IsGather<Inputs[Name]> extends true ? GatherOperand : DevicePtr | RunOperand }
  > &
  Given<'params', { readonly [Name in keyof Parameters]: number }>;

/** A field that may be left out where it would be empty. */
type Given<Field extends string, Values> = {} extends Values
  ? { readonly [Name in Field]?: Values }
  : { readonly [Name in Field]: Values };
