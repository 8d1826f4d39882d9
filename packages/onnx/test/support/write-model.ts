import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type Message, messageOf } from '../../src/read/decode.ts';
import { ELEMENT_TYPES, type ElementType, type HostTensor, sizeOf } from '../../src/graph/host-tensor.ts';
import { MESSAGES, type Proto } from '../../src/read/schema.ts';

/** Writes a message by the table that it is read by. */
export function encode(message: keyof typeof MESSAGES | Message, value: object): Uint8Array {
  const writer = new BinaryWriter();
  const fields = typeof message === 'string' ? messageOf(message) : message;
  for (const [field, [name, kind]] of Object.entries<Message[number]>(fields)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) continue;
    const number = Number(field);
    const type = kind.replace('*', '');
    const put = (wire: WireType): BinaryWriter => writer.tag(number, wire);
    for (const each of type !== kind && Array.isArray(given) ? given : [given]) {
      if (type in MESSAGES) put(WireType.LengthDelimited).bytes(encode(type as 'Model', each as object));
      else if (kind.startsWith('string')) put(WireType.LengthDelimited).string(each as string);
      else if (kind.startsWith('bytes')) put(WireType.LengthDelimited).bytes(each as Uint8Array);
      else if (kind.startsWith('float')) put(WireType.Bit32).float(each as number);
      else if (type === 'double') put(WireType.Bit64).double(each as number);
      else if (type === 'uint') put(WireType.Varint).uint64(each as bigint);
      else put(WireType.Varint).int64(each as bigint);
    }
  }
  return writer.finish();
}

const numberOf = (type: ElementType): number =>
  Number(Object.entries(ELEMENT_TYPES).find(([, name]) => name === type)?.[0]);

/** A tensor of a model. */
export function tensorProto(name: string, { type, dims, data }: HostTensor): Proto<'Tensor'> {
  const head = { name, dims: dims.map(BigInt), dataType: numberOf(type) };
  if (type === 'string')
    return { ...head, strings: (data as readonly string[]).map((each) => new TextEncoder().encode(each)) };
  const { buffer, byteOffset, byteLength } = data as Float32Array;
  return { ...head, raw: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** The elements of a tensor, or what gives each by its place. */
type Elements = ArrayLike<number> | ((place: number) => number);

const listed = (dims: readonly number[], elements: Elements): ArrayLike<number> =>
  typeof elements === 'function' ? Array.from({ length: sizeOf(dims) }, (_, place) => elements(place)) : elements;

export const f32 = (dims: readonly number[], elements: Elements): HostTensor => ({
  type: 'float32',
  dims,
  data: Float32Array.from(listed(dims, elements)),
});
export const i64 = (dims: readonly number[], elements: Elements): HostTensor => ({
  type: 'int64',
  dims,
  data: BigInt64Array.from(Array.from(listed(dims, elements)), BigInt),
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
  | { readonly graph: Proto<'Graph'> };

function attribute(name: string, given: Given): Proto<'Attribute'> {
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
): Proto<'Node'> {
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

export function value(
  name: string,
  type: ElementType = 'float32',
  dims?: readonly (number | string)[],
): Proto<'Value'> {
  const shape = dims && {
    dims: dims.map((dim) => (typeof dim === 'number' ? { value: BigInt(dim) } : { param: dim })),
  };
  return { name, type: { tensor: { elementType: numberOf(type), ...(shape && { shape }) } } };
}

/** What a test's model is made of. */
export interface Parts {
  readonly nodes: readonly Proto<'Node'>[];
  readonly inputs: readonly Proto<'Value'>[];
  readonly outputs: readonly (string | Proto<'Value'>)[];
  readonly constants?: Readonly<Record<string, HostTensor>>;
  readonly opset?: number;
  readonly more?: Partial<Proto<'Model'>>;
}

export function graphProto({ nodes, inputs, outputs, constants = {} }: Parts): Proto<'Graph'> {
  return {
    ...{ name: 'test', nodes, inputs, outputs: outputs.map((each) => (typeof each === 'string' ? value(each) : each)) },
    initializers: Object.entries(constants).map(([name, tensor]) => tensorProto(name, tensor)),
  };
}

/** The bytes of a model. */
export function modelBytes(parts: Parts): Uint8Array {
  return encode('Model', {
    ...{ irVersion: 8n, producer: 'test', graph: graphProto(parts) },
    operatorSets: [
      { domain: '', version: BigInt(parts.opset ?? 17) },
      { domain: 'com.microsoft', version: 1n },
    ],
    ...parts.more,
  });
}
