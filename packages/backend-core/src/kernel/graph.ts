import type { FoldOp, NodeOp, ScanOp } from './node-ops.ts';
import type { Level, NumberType, ValueType } from './value-types.ts';

/** The fields of every node of a kernel's graph. Operands are indices of nodes that stand before it. */
interface NodeOf<Kind extends string> {
  readonly kind: Kind;
  readonly type: ValueType;
  readonly level: Level;
}

/** A constant, as the 32 bits that hold it; a bool is 0 or 1. */
export interface ConstantNode extends NodeOf<'constant'> {
  readonly bits: number;
}

/** A parameter of the call. */
export interface ParameterNode extends NodeOf<'parameter'> {
  readonly name: string;
}

/** The element of an input that belongs to this point (or row). */
export interface InputNode extends NodeOf<'input'> {
  readonly name: string;
}

/** The element of a gather input at `operands[1..]`, one index for each of its axes; outside of it, `operands[0]`. */
export interface GatherNode extends NodeOf<'gather'> {
  readonly name: string;
  readonly operands: readonly number[];
}

/** `index`: the point's place along an axis; `rowIndex`: the row's; `extent`: the size of an axis. All are u32. */
export interface AxisNode extends NodeOf<'index' | 'rowIndex' | 'extent'> {
  /** An axis of the domain: from the front from 0 on, from the end from -1 on. For `rowIndex`, one of those not folded. */
  readonly axis: number;
}

/** A function of its operands, point by point. */
export interface ArithmeticNode extends NodeOf<'arithmetic'> {
  readonly op: NodeOp;
  readonly operands: readonly number[];
}

/** A fold of an operand over the folded axes. */
export interface FoldNode extends NodeOf<'fold'> {
  readonly op: FoldOp;
  readonly operands: readonly [number];
}

/** The fold of an operand, at each element, over the elements of the row up to it, row-major over the folded axes. */
export interface ScanNode extends NodeOf<'scan'> {
  readonly op: ScanOp;
  readonly operands: readonly [number];
  /** True: the element itself is not included. */
  readonly exclusive: boolean;
  /** Scans from the element to the end of the row. */
  readonly reverse: boolean;
}

/** A value of a coarser level repeated at each element. */
export interface SpreadNode extends NodeOf<'spread'> {
  readonly operands: readonly [number];
}

/** One value of a kernel. */
export type KernelNode =
  | ConstantNode
  | ParameterNode
  | InputNode
  | GatherNode
  | AxisNode
  | ArithmeticNode
  | FoldNode
  | ScanNode
  | SpreadNode;

/** Declared input of a kernel: one element per point; one per row; or a separate tensor that is read by index. */
export type InputSpec =
  | NumberType
  | { readonly type: NumberType; readonly level: 'row' }
  | { readonly type: NumberType; readonly access: 'gather'; readonly rank: 1 | 2 | 3 | 4 };

/** The way a scatter stores: it replaces the element, or combines the value with it. */
export type ScatterMode = 'set' | 'add' | 'max' | 'min';

/** Declared output of a kernel that is written by index: a separate tensor, which `k.scatter` gives values and places of. */
export interface OutputSpec {
  readonly type: NumberType;
  readonly access: 'scatter';
  readonly rank: 1 | 2 | 3 | 4;
  readonly mode: ScatterMode;
}

/** The outputs of a kernel that are written by index, by name. */
export type OutputSpecs = Readonly<Record<string, OutputSpec>>;

/** The inputs of a kernel by name. */
export type InputSpecs = Readonly<Record<string, InputSpec>>;

/** The parameters of a kernel by name. */
export type ParameterSpecs = Readonly<Record<string, NumberType>>;

/** One input of a kernel, with all that its declaration says or implies. */
export interface KernelInput {
  readonly name: string;
  readonly type: NumberType;
  /** `gather`: read by index, not by point. */
  readonly access: 'element' | 'row' | 'gather';
  /** Axes of a gather input; 0 for the others, whose rank is the call's. */
  readonly rank: number;
}

/** One parameter of a kernel. */
export interface KernelParameter {
  readonly name: string;
  readonly type: NumberType;
}

/** One output of a kernel. */
export interface KernelOutput {
  readonly name: string;
  readonly type: NumberType;
  /** Stored once for each row, or for each element. */
  readonly level: 'row' | 'element';
  /** Index of the node that is stored. */
  readonly node: number;
  /** The nodes of an output's indices, one for each of its axes, if it is written by index. */
  readonly scatter?: { readonly mode: ScatterMode; readonly indices: readonly number[] };
}

/**
 * A computation as data: a frozen graph of values, equal ones merged, dead ones dropped, nothing simplified. It can be
 * written as JSON as it is; `kernelFromJson` reads it back.
 *
 * @typeParam Inputs - the declared inputs by name, such as `{ x: 'f32' }`
 * @typeParam Parameters - the declared parameters by name
 * @typeParam Outputs - the names of the outputs, as a union
 */
export interface Kernel<
  Inputs extends InputSpecs = InputSpecs,
  Parameters extends ParameterSpecs = ParameterSpecs,
  Outputs extends string = string,
> {
  /** A name for messages: kernels that differ in their name alone are the same kernel. */
  readonly name: string;
  /** The graph as text: equal for equal graphs, whatever their names. */
  readonly key: string;
  readonly inputs: readonly KernelInput[];
  readonly params: readonly KernelParameter[];
  readonly outputs: readonly KernelOutput[];
  readonly nodes: readonly KernelNode[];
  /** True if anything is at row level, or a scan, so that a call must say which axes are folded. */
  readonly hasRows: boolean;
  /** Names that were given to nodes by `k.name`, by the index of the node. */
  readonly labels: Readonly<Record<number, string>>;
  /** A phantom for the compiler; never set. */
  readonly ' types'?: { readonly inputs: Inputs; readonly params: Parameters; readonly outputs: Outputs };
}
