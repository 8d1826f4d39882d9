import protobuf from 'protobufjs';

/** A node: an operator with the names of its inputs and outputs. */
export interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  /** Its output: a name, or several. */
  readonly output: string | readonly string[];
  /** An attribute is an integer, a list of them, or a text. */
  readonly attributes?: Readonly<Record<string, number | readonly number[] | string>>;
}

/** The type of the elements of a value. */
export type ElementType = 'f32' | 'f16' | 'i32';

/** A computation with fixed shapes, whose weights are inputs or, if they are given, part of the model. */
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

/** The part of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto that a model needs here. */
const SCHEMA = `
syntax = "proto3";
message Model { int64 ir_version = 1; Graph graph = 7; repeated OperatorSet opset_import = 8; }
message OperatorSet { int64 version = 2; }
message Graph {
  repeated Node node = 1; string name = 2; repeated Tensor initializer = 5; repeated Value input = 11; repeated Value output = 12;
}
message Node { repeated string input = 1; repeated string output = 2; string op_type = 4; repeated Attribute attribute = 5; }
message Attribute { string name = 1; int64 i = 3; bytes s = 4; repeated int64 ints = 8; int32 type = 20; }
message Tensor { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; }
message Value { string name = 1; Type type = 2; }
message Type { TensorType tensor_type = 1; }
message TensorType { int32 elem_type = 1; Shape shape = 2; }
message Shape { repeated Dimension dim = 1; }
message Dimension { int64 dim_value = 1; }`;
const Model = protobuf.parse(SCHEMA).root.lookupType('Model');

/** TensorProto.DataType. */
const TYPES: Readonly<Record<ElementType | 'i64', number>> = { f32: 1, i32: 6, i64: 7, f16: 10 };
/** AttributeProto.AttributeType. */
const [INT, STRING, INTS] = [2, 3, 7];
/** ONNX 1.15. */
const VERSIONS = { irVersion: 9, opsetImport: [{ version: 20 }] };

/** The bytes of a `.onnx` file. The inputs that `weights` has elements of are initializers of the model instead of inputs. */
export function encodeModel(graph: Graph, weights: Weights = {}): Uint8Array {
  const { nodes, inputs, output, constants = {}, types = {} } = graph;
  const valueOf = (name: string, shape: readonly number[]): object => {
    const dim = shape.map((dimValue) => ({ dimValue }));
    return { name, type: { tensorType: { elemType: TYPES[types[name] ?? 'f32'], shape: { dim } } } };
  };
  const initializers = [
    ...Object.entries(constants).map(([name, values]) => tensorOf(name, values, [values.length])),
    ...Object.entries(weights).map(([name, values]) => tensorOf(name, values, inputs[name] as readonly number[])),
  ];
  const fed = Object.entries(inputs).filter(([name]) => !Object.hasOwn(weights, name));
  const content = {
    name: 'bench',
    node: nodes.map(nodeOf),
    initializer: initializers,
    input: fed.map((each) => valueOf(...each)),
    output: [valueOf(...output)],
  };
  return Model.encode({ ...VERSIONS, graph: content }).finish();
}

function nodeOf({ operator, inputs, output, attributes = {} }: Node): object {
  const attribute = Object.entries(attributes).map(([name, value]) => {
    if (typeof value === 'number') return { name, i: value, type: INT };
    if (typeof value === 'string') return { name, s: new TextEncoder().encode(value), type: STRING };
    return { name, ints: value, type: INTS };
  });
  return { input: inputs, output: [output].flat(), opType: operator, attribute };
}

function tensorOf(name: string, values: Float32Array | BigInt64Array, dims: readonly number[]): object {
  const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, dims, dataType: TYPES[values instanceof Float32Array ? 'f32' : 'i64'], rawData };
}

/** A copy of its input, which uploads or downloads it. */
export function identity(shape: readonly number[], type: ElementType = 'f32'): Graph {
  return {
    types: { x0: type, y: type },
    nodes: [{ operator: 'Identity', inputs: ['x0'], output: 'y' }],
    inputs: { x0: shape },
    output: ['y', shape],
  };
}

/** A result that is small, and there when everything before it is done. */
export function firstEntry(shape: readonly number[], type: ElementType = 'f32'): Graph {
  if (shape.length === 0) return identity(shape, type);
  const begin = BigInt64Array.from(shape, () => 0n);
  const end = BigInt64Array.from(shape, () => 1n);
  return {
    nodes: [{ operator: 'Slice', inputs: ['x0', 'begin', 'end'], output: 'y' }],
    inputs: { x0: shape },
    types: { x0: type, y: type },
    output: ['y', shape.map(() => 1)],
    constants: { begin, end },
  };
}

/** A graph with the first entry of its result instead of the whole: the result is computed and not copied out. */
export function headOf(graph: Graph): Graph {
  const [name, shape] = graph.output;
  const { nodes, constants = {}, output } = firstEntry(shape);
  const whole = `${name}.whole`;
  const renamed = graph.nodes.map((node) => (node.output === name ? { ...node, output: whole } : node));
  const slice = nodes.map((node) => ({ ...node, inputs: [whole, ...node.inputs.slice(1)] }));
  return { ...graph, nodes: [...renamed, ...slice], output, constants: { ...graph.constants, ...constants } };
}
