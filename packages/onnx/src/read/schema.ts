/** Messages of onnx.proto by name: their fields by number, each a name and a kind, of lists with a `*`. Others are left out. */
// ONNX, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
export const MESSAGES = {
  Entry: { 1: ['key', 'string'], 2: ['value', 'string'] },
  OperatorSet: { 1: ['domain', 'string'], 2: ['version', 'int'] },
  Tensor: {
    1: ['dims', 'int*'],
    2: ['dataType', 'int32'],
    4: ['floats', 'float*'],
    5: ['int32s', 'int32*'],
    6: ['strings', 'bytes*'],
    7: ['int64s', 'int*'],
    8: ['name', 'string'],
    9: ['raw', 'bytes'],
    10: ['doubles', 'double*'],
    11: ['uint64s', 'uint*'],
    13: ['external', 'Entry*'],
    14: ['location', 'int32'],
  },
  Nothing: {},
  Dimension: { 1: ['value', 'int'], 2: ['param', 'string'] },
  Shape: { 1: ['dims', 'Dimension*'] },
  TensorType: { 1: ['elementType', 'int32'], 2: ['shape', 'Shape'] },
  Type: {
    1: ['tensor', 'TensorType'],
    4: ['sequence', 'Nothing'],
    5: ['map', 'Nothing'],
    8: ['sparse', 'Nothing'],
    9: ['optional', 'Nothing'],
  },
  Value: { 1: ['name', 'string'], 2: ['type', 'Type'] },
  Attribute: {
    1: ['name', 'string'],
    2: ['f', 'float'],
    3: ['i', 'int'],
    4: ['s', 'bytes'],
    5: ['t', 'Tensor'],
    6: ['g', 'Graph'],
    7: ['floats', 'float*'],
    8: ['ints', 'int*'],
    9: ['strings', 'bytes*'],
    10: ['tensors', 'Tensor*'],
    11: ['graphs', 'Graph*'],
    20: ['type', 'int32'],
    21: ['reference', 'string'],
  },
  Node: {
    1: ['inputs', 'string*'],
    2: ['outputs', 'string*'],
    3: ['name', 'string'],
    4: ['op', 'string'],
    5: ['attributes', 'Attribute*'],
    7: ['domain', 'string'],
  },
  Graph: {
    1: ['nodes', 'Node*'],
    2: ['name', 'string'],
    5: ['initializers', 'Tensor*'],
    11: ['inputs', 'Value*'],
    12: ['outputs', 'Value*'],
    15: ['sparse', 'Nothing*'],
  },
  Function: {
    1: ['name', 'string'],
    4: ['inputs', 'string*'],
    5: ['outputs', 'string*'],
    6: ['attributes', 'string*'],
    7: ['nodes', 'Node*'],
    9: ['operatorSets', 'OperatorSet*'],
    10: ['domain', 'string'],
    11: ['defaults', 'Attribute*'],
  },
  Model: {
    1: ['irVersion', 'int'],
    2: ['producer', 'string'],
    5: ['version', 'int'],
    7: ['graph', 'Graph'],
    8: ['operatorSets', 'OperatorSet*'],
    14: ['metadata', 'Entry*'],
    25: ['functions', 'Function*'],
  },
} as const;

type Messages = typeof MESSAGES;

/** What scalars are read as. */
interface Scalars {
  readonly string: string;
  readonly bytes: Uint8Array;
  readonly int: bigint;
  readonly uint: bigint;
  readonly int32: number;
  readonly float: number;
  readonly double: number;
}

type Decoded<Kind> = Kind extends `${infer Each}*`
  ? readonly Decoded<Each>[]
  : Kind extends keyof Scalars
    ? Scalars[Kind]
    : Proto<Kind>;

/** A message as decoded: fields that are missing are undefined. */
export type Proto<Name> = Name extends keyof Messages
  ? {
      readonly [
        Field in keyof Messages[Name] as Messages[Name][Field] extends readonly [infer Key extends string, string]
          ? Key
          : never
      ]?: Messages[Name][Field] extends readonly [string, infer Kind] ? Decoded<Kind> : never;
    }
  : never;
