/**
 * ONNX models of nodes with fixed shapes, whose weights are inputs or, if they are given, part of the model. The numbers of
 * the fields are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */
import { integer, join, message, type Parts } from './protobuf.ts';

/** A node: an operator with the names of what it reads and writes. */
export interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  /** What it writes: a name, or several. */
  readonly output: string | readonly string[];
  /** An attribute is an integer, a list of them, or a text. */
  readonly attributes?: Readonly<Record<string, number | readonly number[] | string>>;
}

/** What a value consists of. */
export type ElementType = 'f32' | 'f16' | 'i32';

/** A computation. */
export interface Graph {
  readonly nodes: readonly Node[];
  /** Shapes of the inputs and of the output by their names. */
  readonly inputs: Readonly<Record<string, readonly number[]>>;
  readonly output: readonly [name: string, shape: readonly number[]];
  /** Types of inputs and of the output by their names. Default: f32. */
  readonly types?: Readonly<Record<string, ElementType>>;
  /** Constants of one dimension. */
  readonly constants?: Readonly<Record<string, Float32Array | BigInt64Array>>;
}

/** Elements of inputs by their names. */
export type Weights = Readonly<Record<string, Float32Array>>;

/** TensorProto.DataType. */
const FLOAT = 1;
const INT64 = 7;
const TYPES: Readonly<Record<ElementType, number>> = { f32: FLOAT, f16: 10, i32: 6 };
/** AttributeProto.AttributeType. */
const INT = 2;
const STRING = 3;
const INTS = 7;
/** ONNX 1.15. */
const IR_VERSION = 9;
const OPSET = 20;

/** The bytes of a `.onnx` file. The inputs that `weights` has elements of are initializers of the model in place of inputs. */
export function encodeModel(graph: Graph, weights: Weights = {}): Uint8Array {
  const { nodes, inputs, output, constants = {}, types = {} } = graph;
  const value = (name: string, shape: readonly number[]): Parts => encodeValue(name, shape, types[name] ?? 'f32');
  const fed = Object.entries(inputs).filter(([name]) => !Object.hasOwn(weights, name));
  const fields = [
    ...nodes.flatMap((node) => message(1, encodeNode(node))),
    ...message(2, 'bench'),
    ...Object.entries(constants).flatMap(([name, values]) => message(5, encodeConstant(name, values, [values.length]))),
    ...Object.entries(weights).flatMap(([name, values]) =>
      message(5, encodeConstant(name, values, inputs[name] as readonly number[])),
    ),
    ...fed.flatMap(([name, shape]) => message(11, value(name, shape))),
    ...message(12, value(...output)),
  ];
  return join([...integer(1, IR_VERSION), ...message(7, fields), ...message(8, integer(2, OPSET))]);
}

function encodeNode({ operator, inputs, output, attributes = {} }: Node): Parts {
  return [
    ...inputs.flatMap((name) => message(1, name)),
    ...(typeof output === 'string' ? [output] : output).flatMap((name) => message(2, name)),
    ...message(4, operator),
    ...Object.entries(attributes).flatMap(([name, value]) => message(5, encodeAttribute(name, value))),
  ];
}

function encodeAttribute(name: string, value: number | readonly number[] | string): Parts {
  return [...message(1, name), ...encodeAttributeValue(value)];
}

function encodeAttributeValue(value: number | readonly number[] | string): Parts {
  if (typeof value === 'number') return [...integer(3, value), ...integer(20, INT)];
  if (typeof value === 'string') return [...message(4, value), ...integer(20, STRING)];
  return [...value.flatMap((each) => integer(8, each)), ...integer(20, INTS)];
}

function encodeConstant(name: string, values: Float32Array | BigInt64Array, shape: readonly number[]): Parts {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const type = values instanceof Float32Array ? FLOAT : INT64;
  return [...shape.flatMap((size) => integer(1, size)), ...integer(2, type), ...message(8, name), ...message(9, bytes)];
}

/** A ValueInfoProto of a TypeProto of a tensor. */
function encodeValue(name: string, shape: readonly number[], type: ElementType): Parts {
  const dimensions = shape.flatMap((size) => message(1, integer(1, size)));
  const tensor = [...integer(1, TYPES[type]), ...message(2, dimensions)];
  return [...message(1, name), ...message(2, message(1, tensor))];
}
