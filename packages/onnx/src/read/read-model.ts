import { nodeText, refuse, unsupported } from '../errors.ts';
import type { Attribute, Graph, Model, Node, ValueInfo } from '../graph/graph.ts';
import { elementType, type HostTensor, hostTensor } from '../graph/host-tensor.ts';
import { decode, MAX_NODES, tooMany } from './decode.ts';
import { domainOf, type Functions, inline, versionsOf } from './inline.ts';
import type { Proto } from './schema.ts';
import { dimsOf, externalFile, type ExternalData, readTensor } from './tensor.ts';

/** The operator sets that models may be written for. */
const VERSIONS = { oldest: 7, newest: 28 };

const text = new TextDecoder();

/**
 * The ModelProto in a file's bytes, and the files that its tensors lie in.
 *
 * @throws {BackendError} INVALID_ARGUMENT for what is no model, and data outside of its folder
 */
export function decodeModel(bytes: Uint8Array): {
  readonly proto: Proto<'Model'>;
  readonly files: ReadonlySet<string>;
} {
  const proto = decode('Model', bytes);
  if (proto.graph === undefined) throw refuse('the file has no graph: it is no ONNX model, or cut off');
  const files = new Set<string>();
  const visit = (tensor: Proto<'Tensor'> | undefined): void => {
    const file = tensor && externalFile(`tensor "${tensor.name ?? ''}"`, tensor);
    if (file !== undefined) files.add(file);
  };
  const walk = ({ initializers = [], nodes = [] }: Proto<'Graph'>): void => {
    initializers.forEach(visit);
    for (const { attributes = [] } of nodes) {
      for (const { t, tensors = [], g, graphs = [] } of attributes) {
        [t, ...tensors].forEach(visit);
        for (const graph of g ? [g, ...graphs] : graphs) walk(graph);
      }
    }
  };
  walk(proto.graph);
  return { proto, files };
}

/** The facts that all graphs of a model share. */
interface Reading {
  readonly versions: ReadonlyMap<string, number>;
  readonly functions: Functions;
  readonly external: ExternalData;
  nodes: number;
}

/**
 * A model with its functions inlined, its constants read and its order checked.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a graph that cannot run: values that nothing gives, cycles, names given twice
 * @throws {BackendError} UNSUPPORTED for operator sets before 7 or after 28, element types, sparse tensors
 */
export function readModel(proto: Proto<'Model'>, external: ExternalData): Model {
  const versions = new Map([['', VERSIONS.newest], ...versionsOf(proto.operatorSets)]);
  const version = versions.get('') as number;
  if (version < VERSIONS.oldest || version > VERSIONS.newest) {
    throw unsupported(
      `the model is of operator set ${version}, supported are ${VERSIONS.oldest} to ${VERSIONS.newest}`,
    );
  }
  const functions = new Map(
    (proto.functions ?? []).map((each) => [`${domainOf(each.domain)}.${each.name ?? ''}`, each]),
  );
  const reading = { versions, functions, external, nodes: 0 };
  return {
    graph: readGraph(proto.graph ?? {}, reading, new Set()),
    producer: proto.producer ?? '',
    metadata: new Map((proto.metadata ?? []).map(({ key = '', value = '' }) => [key, value])),
  };
}

function readGraph(proto: Proto<'Graph'>, reading: Reading, outer: ReadonlySet<string>): Graph {
  if ((proto.sparse ?? []).length > 0)
    throw unsupported(`an initializer of graph "${proto.name ?? ''}" is sparse, which is not supported`);
  const constants = new Map<string, HostTensor>();
  for (const each of proto.initializers ?? []) {
    constants.set(each.name ?? '', readTensor(`initializer "${each.name ?? ''}"`, each, reading.external));
  }
  const given = (proto.inputs ?? []).filter(({ name = '' }) => !constants.has(name));
  const inputs = given.map((each) => readInfo('input', each, false));
  const known = new Set([...outer, ...constants.keys(), ...inputs.map(({ name }) => name)]);
  const nodes: Node[] = [];
  for (const { node, versions } of inline(proto.nodes ?? [], reading.functions, reading.versions)) {
    if (++reading.nodes > MAX_NODES) throw tooMany();
    const read = readNode(node, versions, reading, known);
    const { outputs } = read;
    const missing = read.inputs.find((name) => name !== '' && !known.has(name));
    if (missing !== undefined) {
      throw refuse(
        `node ${nodeText(read)} reads "${missing}", which is no input, no constant and given by no node before it`,
        {
          hint: 'a model has its nodes in an order in which they can run, without cycles',
        },
      );
    }
    for (const name of outputs) {
      if (name === '') continue;
      if (known.has(name) && !outer.has(name))
        throw refuse(`node ${nodeText(read)} gives "${name}", which there is already`);
      known.add(name);
    }
    const constant = read.op === 'Constant' && read.domain === '' ? constantOf(read) : undefined;
    if (constant === undefined) nodes.push(read);
    else constants.set(outputs[0] ?? '', constant);
  }
  const outputs = (proto.outputs ?? []).map((each) => readInfo('output', each, true));
  for (const { name } of outputs) if (!known.has(name)) throw refuse(`output "${name}" is given by no node`);
  return { nodes, inputs, outputs, constants };
}

function readInfo(what: string, { name = '', type }: Proto<'Value'>, isOutput: boolean): ValueInfo {
  if (type && Object.keys(type).some((kind) => kind !== 'tensor'))
    throw unsupported(`${what} "${name}" is no tensor, which is not supported`);
  // Graphs in nodes need not say of what type their values are.
  if (type?.tensor === undefined) return { name, type: 'float32' };
  const elements = type.tensor.elementType ?? 0;
  const dims = type.tensor.shape?.dims ?? (type.tensor.shape ? [] : undefined);
  return {
    name,
    type: elements === 0 && isOutput ? 'float32' : elementType(`${what} "${name}"`, elements),
    dims: dims?.map(({ value, param }) =>
      value !== undefined ? (dimsOf(`${what} "${name}"`, [value])[0] as number) : (param ?? null),
    ),
  };
}

function readNode(
  proto: Proto<'Node'>,
  versions: ReadonlyMap<string, number>,
  reading: Reading,
  known: ReadonlySet<string>,
): Node {
  const { name = '', op = '', inputs = [], outputs = [] } = proto;
  const domain = domainOf(proto.domain);
  const attributes = new Map<string, Attribute>();
  const node = { name, op, domain, version: versions.get(domain) ?? 1, inputs, outputs, attributes };
  for (const each of proto.attributes ?? []) {
    const value = readAttribute(node, each, reading, known);
    if (value !== undefined) attributes.set(each.name ?? '', value);
  }
  return node;
}

function readAttribute(
  node: Node,
  proto: Proto<'Attribute'>,
  reading: Reading,
  known: ReadonlySet<string>,
): Attribute | undefined {
  const what = `attribute "${proto.name ?? ''}" of node ${nodeText(node)}`;
  // The numbers of AttributeProto.AttributeType.
  switch (proto.type) {
    case 1:
      return proto.f ?? 0;
    case 2:
      return proto.i ?? 0n;
    case 3:
      return text.decode(proto.s ?? new Uint8Array());
    case 4:
      return readTensor(what, proto.t ?? {}, reading.external);
    case 5:
      return readGraph(proto.g ?? {}, reading, known);
    case 6:
      return proto.floats ?? [];
    case 7:
      return proto.ints ?? [];
    case 8:
      return (proto.strings ?? []).map((each) => text.decode(each));
    default:
      throw unsupported(`${what} is of type ${String(proto.type)}, which is not supported`);
  }
}

/** Attributes of Constant besides a tensor. */
const CONSTANTS: Readonly<Record<string, HostTensor['type']>> = {
  ...{ value_float: 'float32', value_int: 'int64', value_string: 'string' },
  ...{ value_floats: 'float32', value_ints: 'int64', value_strings: 'string' },
};

/** @throws {BackendError} UNSUPPORTED for a sparse one, and where there is more than a value */
function constantOf(node: Node): HostTensor {
  if (node.inputs.length > 0) throw unsupported(`node ${nodeText(node)} has the input 0, which is not supported`);
  const [[name = '', value] = [], ...others] = node.attributes;
  const isList = Array.isArray(value);
  const list = (isList ? value : [value]) as readonly (number | bigint | string)[];
  const dims = isList ? [list.length] : [];
  const type = CONSTANTS[name];
  if (name === 'value' && others.length === 0) return value as HostTensor;
  if (type === undefined || others.length > 0)
    throw unsupported(
      `node ${nodeText(node)} has ${[...node.attributes.keys()].join(', ') || 'no value'}, which is not supported`,
    );
  if (type === 'string') return { type, dims, data: list as readonly string[] };
  return hostTensor(type, dims, list as readonly number[]);
}
