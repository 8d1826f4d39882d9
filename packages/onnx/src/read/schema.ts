// Field numbers of onnx.proto, by message. ONNX, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
import type { Message } from './decode.ts';

const ENTRY: Message = { 1: ['key', 'string'], 2: ['value', 'string'] };
const OPERATOR_SET: Message = { 1: ['domain', 'string'], 2: ['version', 'int'] };

const TENSOR: Message = {
  1: ['dims', 'ints'],
  2: ['dataType', 'int32'],
  4: ['floats', 'floats'],
  5: ['int32s', 'int32s'],
  6: ['strings', 'bytes*'],
  7: ['int64s', 'ints'],
  8: ['name', 'string'],
  9: ['raw', 'bytes'],
  10: ['doubles', 'doubles'],
  11: ['uint64s', 'uints'],
  13: ['external', () => ENTRY, '*'],
  14: ['location', 'int32'],
};

const DIMENSION: Message = { 1: ['value', 'int'], 2: ['param', 'string'] };
const SHAPE: Message = { 1: ['dims', () => DIMENSION, '*'] };
const TENSOR_TYPE: Message = { 1: ['elementType', 'int32'], 2: ['shape', () => SHAPE] };
const HELD_TYPE: Message = { 1: ['type', () => TYPE] };
const TYPE: Message = {
  1: ['tensor', () => TENSOR_TYPE],
  4: ['sequence', () => HELD_TYPE],
  5: ['map', () => ({})],
  8: ['sparse', () => ({})],
  9: ['optional', () => HELD_TYPE],
};
const VALUE: Message = { 1: ['name', 'string'], 2: ['type', () => TYPE] };

const ATTRIBUTE: Message = {
  1: ['name', 'string'],
  2: ['f', 'float'],
  3: ['i', 'int'],
  4: ['s', 'bytes'],
  5: ['t', () => TENSOR],
  6: ['g', () => GRAPH],
  7: ['floats', 'floats'],
  8: ['ints', 'ints'],
  9: ['strings', 'bytes*'],
  10: ['tensors', () => TENSOR, '*'],
  11: ['graphs', () => GRAPH, '*'],
  20: ['type', 'int32'],
  21: ['reference', 'string'],
};

/** NodeProto. */
export const NODE: Message = {
  1: ['inputs', 'string*'],
  2: ['outputs', 'string*'],
  3: ['name', 'string'],
  4: ['op', 'string'],
  5: ['attributes', () => ATTRIBUTE, '*'],
  7: ['domain', 'string'],
};

const GRAPH: Message = {
  1: ['nodes', () => NODE, '*'],
  2: ['name', 'string'],
  5: ['initializers', () => TENSOR, '*'],
  11: ['inputs', () => VALUE, '*'],
  12: ['outputs', () => VALUE, '*'],
  15: ['sparse', () => ({}), '*'],
};

const FUNCTION: Message = {
  1: ['name', 'string'],
  4: ['inputs', 'string*'],
  5: ['outputs', 'string*'],
  6: ['attributes', 'string*'],
  7: ['nodes', () => NODE, '*'],
  9: ['operatorSets', () => OPERATOR_SET, '*'],
  10: ['domain', 'string'],
  11: ['defaults', () => ATTRIBUTE, '*'],
};

/** ModelProto. */
export const MODEL: Message = {
  1: ['irVersion', 'int'],
  2: ['producer', 'string'],
  5: ['version', 'int'],
  7: ['graph', () => GRAPH],
  8: ['operatorSets', () => OPERATOR_SET, '*'],
  14: ['metadata', () => ENTRY, '*'],
  25: ['functions', () => FUNCTION, '*'],
};

/** TensorProto. */
export const TENSOR_MESSAGE: Message = TENSOR;

/** An entry of a map of texts. */
export interface EntryProto {
  readonly key?: string;
  readonly value?: string;
}

/** TensorProto, as decoded. */
export interface TensorProto {
  readonly dims?: readonly bigint[];
  readonly dataType?: number;
  readonly floats?: readonly number[];
  readonly int32s?: readonly number[];
  readonly strings?: readonly Uint8Array[];
  readonly int64s?: readonly bigint[];
  readonly name?: string;
  readonly raw?: Uint8Array;
  readonly doubles?: readonly number[];
  readonly uint64s?: readonly bigint[];
  readonly external?: readonly EntryProto[];
  readonly location?: number;
}

/** TypeProto, as decoded. */
export interface TypeProto {
  readonly tensor?: {
    readonly elementType?: number;
    readonly shape?: { readonly dims?: readonly { readonly value?: bigint; readonly param?: string }[] };
  };
  readonly sequence?: object;
  readonly optional?: object;
}

/** ValueInfoProto, as decoded. */
export interface ValueProto {
  readonly name?: string;
  readonly type?: TypeProto;
}

/** AttributeProto, as decoded. */
export interface AttributeProto {
  readonly name?: string;
  readonly f?: number;
  readonly i?: bigint;
  readonly s?: Uint8Array;
  readonly t?: TensorProto;
  readonly g?: GraphProto;
  readonly floats?: readonly number[];
  readonly ints?: readonly bigint[];
  readonly strings?: readonly Uint8Array[];
  readonly tensors?: readonly TensorProto[];
  readonly graphs?: readonly GraphProto[];
  readonly type?: number;
  readonly reference?: string;
}

/** NodeProto, as decoded. */
export interface NodeProto {
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  readonly name?: string;
  readonly op?: string;
  readonly attributes?: readonly AttributeProto[];
  readonly domain?: string;
}

/** GraphProto, as decoded. */
export interface GraphProto {
  readonly nodes?: readonly NodeProto[];
  readonly name?: string;
  readonly initializers?: readonly TensorProto[];
  readonly inputs?: readonly ValueProto[];
  readonly outputs?: readonly ValueProto[];
  readonly sparse?: readonly object[];
}

/** OperatorSetIdProto, as decoded. */
export interface OperatorSetProto {
  readonly domain?: string;
  readonly version?: bigint;
}

/** FunctionProto, as decoded. */
export interface FunctionProto {
  readonly name?: string;
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  readonly attributes?: readonly string[];
  readonly nodes?: readonly NodeProto[];
  readonly operatorSets?: readonly OperatorSetProto[];
  readonly domain?: string;
  readonly defaults?: readonly AttributeProto[];
}

/** ModelProto, as decoded. */
export interface ModelProto {
  readonly irVersion?: bigint;
  readonly producer?: string;
  readonly version?: bigint;
  readonly graph?: GraphProto;
  readonly operatorSets?: readonly OperatorSetProto[];
  readonly metadata?: readonly EntryProto[];
  readonly functions?: readonly FunctionProto[];
}
