import protobuf from 'protobufjs';
import { type ByOp, shapesOf, type Work } from '../limits/cases.ts';
import { notOffered, offered } from '../peer.ts';

/** A node: an operator, such as `Add` or `com.microsoft.MatMulNBits`, with the names of its inputs and outputs. */
export interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  /** Its output: a name, or several. */
  readonly output: string | readonly string[];
  /** An attribute is an integer, a list of them, a text, or a float. */
  readonly attributes?: Readonly<Record<string, number | readonly number[] | string | { readonly float: number }>>;
}

/** The type of the elements of a value. */
export type ElementType = 'f32' | 'f16' | 'i32' | 'i64' | 'u8';

/** A computation with fixed shapes, whose weights are inputs or, if they are given, part of the model. */
export interface Graph {
  readonly nodes: readonly Node[];
  /** Shapes of the inputs and of the output by their names. */
  readonly inputs: Readonly<Record<string, readonly number[]>>;
  readonly output: readonly [name: string, shape: readonly number[]];
  /** Further outputs, whose shapes follow. */
  readonly more?: readonly string[];
  /** Types of inputs and of the output by their names. Default: f32. */
  readonly types?: Readonly<Record<string, ElementType>>;
  /** Constants of one dimension. */
  readonly constants?: Readonly<Record<string, Float32Array | BigInt64Array>>;
}

/** Elements of inputs by their names. */
export type Weights = Readonly<Record<string, Float32Array | Uint8Array>>;

/** The part of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto that a model needs here. */
const SCHEMA = `
syntax = "proto3";
message Model { int64 ir_version = 1; Graph graph = 7; repeated OperatorSet opset_import = 8; }
message OperatorSet { string domain = 1; int64 version = 2; }
message Graph {
  repeated Node node = 1; string name = 2; repeated Tensor initializer = 5; repeated Value input = 11; repeated Value output = 12;
}
message Node {
  repeated string input = 1; repeated string output = 2; string op_type = 4; repeated Attribute attribute = 5; string domain = 7;
}
message Attribute { string name = 1; float f = 2; int64 i = 3; bytes s = 4; repeated int64 ints = 8; int32 type = 20; }
message Tensor { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; }
message Value { string name = 1; Type type = 2; }
message Type { TensorType tensor_type = 1; }
message TensorType { int32 elem_type = 1; Shape shape = 2; }
message Shape { repeated Dimension dim = 1; }
message Dimension { int64 dim_value = 1; }`;
const Model = protobuf.parse(SCHEMA).root.lookupType('Model');

/** TensorProto.DataType. */
const TYPES: Readonly<Record<ElementType, number>> = { f32: 1, u8: 2, i32: 6, i64: 7, f16: 10 };
/** AttributeProto.AttributeType. */
const [FLOAT, INT, STRING, INTS] = [1, 2, 3, 7];
/** ONNX 1.15. */
const VERSIONS = { irVersion: 9, opsetImport: [{ version: 20 }, { domain: 'com.microsoft', version: 1 }] };

/** The bytes of a `.onnx` file. The inputs that `weights` has elements of are initializers of the model instead of inputs. */
export function encodeModel(graph: Graph, weights: Weights = {}): Uint8Array {
  const { nodes, inputs, output, more = [], constants = {}, types = {} } = graph;
  const valueOf = (name: string, dims?: readonly number[]): object => {
    const shape = dims && { shape: { dim: dims.map((dimValue) => ({ dimValue })) } };
    return { name, type: { tensorType: { elemType: TYPES[types[name] ?? 'f32'], ...shape } } };
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
    output: [valueOf(...output), ...more.map((name) => valueOf(name))],
  };
  return Model.encode({ ...VERSIONS, graph: content }).finish();
}

function nodeOf({ operator, inputs, output, attributes = {} }: Node): object {
  const attribute = Object.entries(attributes).map(([name, value]) => {
    if (typeof value === 'number') return { name, i: value, type: INT };
    if (typeof value === 'string') return { name, s: new TextEncoder().encode(value), type: STRING };
    if ('float' in value) return { name, f: value.float, type: FLOAT };
    return { name, ints: value, type: INTS };
  });
  const [opType, ...domain] = operator.split('.').reverse();
  return { input: inputs, output: [output].flat(), opType, attribute, domain: domain.reverse().join('.') };
}

function tensorOf(name: string, values: Float32Array | Uint8Array | BigInt64Array, dims: readonly number[]): object {
  const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const type = values instanceof Float32Array ? 'f32' : values instanceof Uint8Array ? 'u8' : 'i64';
  return { name, dims, dataType: TYPES[type], rawData };
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

/** A work as a graph, with inputs x0, x1 and x2 and the output y. */
export function graphOf(work: Work): Graph {
  const operators = offered(OPERATORS, work);
  const { inputs, output } = shapesOf(work);
  return {
    ...operators,
    inputs: Object.fromEntries(inputs.map((shape, i) => [`x${i}`, shape])),
    output: ['y', output],
  };
}

type Operators = Pick<Graph, 'nodes' | 'constants'>;

const along =
  (operator: string) =>
  ({ axis }: { readonly axis: number }): Operators => ({
    ...one(operator, ['x0', 'axes'], { keepdims: 0 }),
    constants: { axes: BigInt64Array.of(BigInt(axis)) },
  });

const OPERATORS: Partial<ByOp<Operators>> = {
  gemm(work) {
    const { layout = 'NN', padding = 0 } = work;
    if (padding > 0) return notOffered(work, 'has no gaps between rows');
    if (layout === 'NN') return one('MatMul', ['x0', 'x1']);
    return one('Gemm', ['x0', 'x1'], { transA: layout[0] === 'T' ? 1 : 0, transB: layout[1] === 'T' ? 1 : 0 });
  },
  batched_gemm: () => one('MatMul', ['x0', 'x1']),
  conv2d({ f, stride, padding }) {
    const pads = [padding, padding, padding, padding];
    return one('Conv', ['x0', 'x1'], { strides: [stride, stride], pads, kernel_shape: [f, f] });
  },
  attention(work) {
    if (work.causal) return notOffered(work, 'has no causal attention without a mask');
    return {
      nodes: [
        { operator: 'Transpose', inputs: ['x1'], output: 'keys', attributes: { perm: [0, 2, 1] } },
        { operator: 'MatMul', inputs: ['x0', 'keys'], output: 'products' },
        { operator: 'Mul', inputs: ['products', 'scale'], output: 'scores' },
        { operator: 'Softmax', inputs: ['scores'], output: 'weights', attributes: { axis: 2 } },
        { operator: 'MatMul', inputs: ['weights', 'x2'], output: 'y' },
      ],
      constants: { scale: Float32Array.of(1 / Math.sqrt(work.headDim)) },
    };
  },
  reduce_sum: along('ReduceSum'),
  reduce_max: along('ReduceMax'),
  softmax: () => one('Softmax', ['x0'], { axis: 1 }),
  layer_norm: () => one('LayerNormalization', ['x0', 'x1', 'x2']),
  bias_gelu: () => ({
    nodes: [
      { operator: 'Add', inputs: ['x0', 'x1'], output: 'sum' },
      { operator: 'Gelu', inputs: ['sum'], output: 'y' },
    ],
  }),
  binary_add: () => one('Add', ['x0', 'x1']),
  unary_exp: () => one('Exp', ['x0']),
  unary_tanh: () => one('Tanh', ['x0']),
  unary_relu: () => one('Relu', ['x0']),
};

function one(operator: string, inputs: readonly string[], attributes: NonNullable<Node['attributes']> = {}): Operators {
  return { nodes: [{ operator, inputs, output: 'y', attributes }] };
}
