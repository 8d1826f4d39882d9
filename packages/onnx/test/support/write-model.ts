import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Message } from '../../src/read/decode.ts';
import { ELEMENT_TYPES, type ElementType, type HostTensor } from '../../src/graph/host-tensor.ts';
import {
  MODEL,
  type AttributeProto,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  type TensorProto,
  type ValueProto,
} from '../../src/read/schema.ts';

/** Writes a message by the table that it is read by. */
export function encode(message: Message, value: object): Uint8Array {
  const writer = new BinaryWriter();
  for (const [field, [name, kind, repeated]] of Object.entries<Message[number]>(message)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) continue;
    const number = Number(field);
    const put = (type: WireType): BinaryWriter => writer.tag(number, type);
    if (typeof kind === 'function') {
      for (const each of repeated ? (given as object[]) : [given as object])
        put(WireType.LengthDelimited).bytes(encode(kind(), each));
      continue;
    }
    for (const each of /s$|\*$/.test(kind) && Array.isArray(given) ? given : [given]) {
      if (kind.startsWith('string')) put(WireType.LengthDelimited).string(each as string);
      else if (kind.startsWith('bytes')) put(WireType.LengthDelimited).bytes(each as Uint8Array);
      else if (kind.startsWith('float')) put(WireType.Bit32).float(each as number);
      else if (kind === 'doubles') put(WireType.Bit64).double(each as number);
      else if (kind === 'uints') put(WireType.Varint).uint64(each as bigint);
      else put(WireType.Varint).int64(each as bigint);
    }
  }
  return writer.finish();
}

const numberOf = (type: ElementType): number =>
  Number(Object.entries(ELEMENT_TYPES).find(([, name]) => name === type)?.[0]);

/** A tensor of a model. */
export function tensorProto(name: string, { type, dims, data }: HostTensor): TensorProto {
  const head = { name, dims: dims.map(BigInt), dataType: numberOf(type) };
  if (type === 'string')
    return { ...head, strings: (data as readonly string[]).map((each) => new TextEncoder().encode(each)) };
  const { buffer, byteOffset, byteLength } = data as Float32Array;
  return { ...head, raw: new Uint8Array(buffer, byteOffset, byteLength) };
}

export const f32 = (dims: readonly number[], values: ArrayLike<number>): HostTensor => ({
  type: 'float32',
  dims,
  data: Float32Array.from(values),
});
export const i64 = (dims: readonly number[], values: readonly number[]): HostTensor => ({
  type: 'int64',
  dims,
  data: BigInt64Array.from(values, BigInt),
});

/** The elements of a result. */
export function listOf(tensor: HostTensor | undefined): unknown[] {
  return Array.from((tensor?.data ?? []) as ArrayLike<unknown>);
}

/** The value of an attribute as tests write it: numbers with a fraction, or in `{ f }`, are floats. */
export type Given =
  | number
  | string
  | readonly number[]
  | { readonly f: number }
  | { readonly floats: readonly number[] }
  | { readonly strings: readonly string[] }
  | HostTensor
  | { readonly graph: GraphProto };

function attribute(name: string, given: Given): AttributeProto {
  if (typeof given === 'number')
    return Number.isInteger(given) ? { name, type: 2, i: BigInt(given) } : { name, type: 1, f: given };
  if (typeof given === 'string') return { name, type: 3, s: new TextEncoder().encode(given) };
  if (Array.isArray(given)) return { name, type: 7, ints: (given as readonly number[]).map(BigInt) };
  if ('f' in given) return { name, type: 1, f: given.f };
  if ('floats' in given) return { name, type: 6, floats: given.floats };
  if ('strings' in given)
    return { name, type: 8, strings: given.strings.map((each) => new TextEncoder().encode(each)) };
  if ('graph' in given) return { name, type: 5, g: given.graph };
  return { name, type: 4, t: tensorProto('', given as HostTensor) };
}

/** A node: `node('Add', ['a', 'b'], ['c'])`, of another domain `com.microsoft.FastGelu`. */
export function node(
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, Given>> = {},
): NodeProto {
  const dot = op.lastIndexOf('.');
  return {
    ...{
      op: op.slice(dot + 1),
      domain: dot < 0 ? '' : op.slice(0, dot),
      inputs,
      outputs,
      name: `${op.slice(dot + 1)}_${outputs[0] ?? ''}`,
    },
    attributes: Object.entries(attributes).map(([name, given]) => attribute(name, given)),
  };
}

export function value(name: string, type: ElementType = 'float32', dims?: readonly (number | string)[]): ValueProto {
  const shape = dims && {
    dims: dims.map((dim) => (typeof dim === 'number' ? { value: BigInt(dim) } : { param: dim })),
  };
  return { name, type: { tensor: { elementType: numberOf(type), ...(shape && { shape }) } } };
}

/** What a test's model is made of. */
export interface Parts {
  readonly nodes: readonly NodeProto[];
  readonly inputs: readonly ValueProto[];
  readonly outputs: readonly (string | ValueProto)[];
  readonly constants?: Readonly<Record<string, HostTensor>>;
  readonly opset?: number;
  readonly more?: Partial<ModelProto>;
}

export function graphProto({ nodes, inputs, outputs, constants = {} }: Parts): GraphProto {
  return {
    ...{ name: 'test', nodes, inputs, outputs: outputs.map((each) => (typeof each === 'string' ? value(each) : each)) },
    initializers: Object.entries(constants).map(([name, tensor]) => tensorProto(name, tensor)),
  };
}

/** The bytes of a model. */
export function modelBytes(parts: Parts): Uint8Array {
  return encode(MODEL, {
    ...{ irVersion: 8n, producer: 'test', graph: graphProto(parts) },
    operatorSets: [
      { domain: '', version: BigInt(parts.opset ?? 17) },
      { domain: 'com.microsoft', version: 1n },
    ],
    ...parts.more,
  });
}
