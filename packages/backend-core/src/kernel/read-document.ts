import { describe } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import { MAX_NODES, MAX_OPERANDS, MAX_PARAMETERS } from './finish-kernel.ts';
import { MAX_NAME } from './graph-builder.ts';
import type { Kernel } from './graph.ts';

/** The parts of a kernel's document, from which the rest follows; what they say is not checked. */
export type KernelDocument = Omit<Kernel, 'key' | 'hasRows' | ' types'>;

/** The fields of each part of a document that hold a text or a number, and the number of such parts. */
const PARTS = {
  inputs: { limit: MAX_OPERANDS, fields: ['name', 'type', 'access', 'rank'] },
  params: { limit: MAX_PARAMETERS, fields: ['name', 'type'] },
  nodes: { limit: MAX_NODES, fields: ['kind', 'type', 'level', 'name', 'bits', 'axis', 'op', 'exclusive', 'reverse'] },
  outputs: { limit: MAX_OPERANDS, fields: ['name', 'type', 'level', 'node'] },
} as const;

/** A gather of 4 indices, and what it gives outside. */
const MAX_NODE_OPERANDS = 5;

/**
 * Copies a document: what a kernel has, each read once, and never more of it than a kernel may have.
 *
 * @throws {BackendError} INVALID_ARGUMENT where the value is larger, or of another form
 */
export function readDocument(value: unknown): KernelDocument {
  if (!isObject(value)) throw invalid(`a kernel must be an object, got ${describe(value)}`);
  const parts = Object.fromEntries(
    Object.entries(PARTS).map(([part, { limit, fields }]) => [
      part,
      readList(`a kernel's ${part}`, value[part], limit).map((given) => readPart(part, given, fields)),
    ]),
  );
  for (const part of ['inputs', 'params', 'outputs']) checkNames(part, parts[part] as { name: unknown }[]);
  const { nodes = [] } = parts;
  return {
    ...parts,
    name: value['name'],
    labels: readLabels(value['labels'], nodes.length),
  } as unknown as KernelDocument;
}

function readPart(part: string, given: unknown, fields: readonly string[]): Record<string, unknown> {
  if (!isObject(given)) throw invalid(`a kernel's ${part} must be objects, got ${describe(given)}`);
  const copy: Record<string, unknown> = {};
  for (const field of fields) {
    const held = given[field];
    if (held !== undefined) copy[field] = readPlain(`${field} of a kernel's ${part}`, held);
  }
  const scatter = part === 'outputs' ? given['scatter'] : undefined;
  if (scatter !== undefined) {
    if (!isObject(scatter)) throw invalid(`scatter of an output must be an object, got ${describe(scatter)}`);
    copy['scatter'] = {
      mode: readPlain('mode of an output', scatter['mode']),
      indices: readList('the indices of an output', scatter['indices'], MAX_NODE_OPERANDS - 1),
    };
  }
  if (part !== 'nodes') return copy;
  const operands = given['operands'];
  if (operands !== undefined) copy['operands'] = readList('the operands of a node', operands, MAX_NODE_OPERANDS);
  return copy;
}

function readLabels(labels: unknown = {}, count: number): Record<number, string> {
  if (!isObject(labels)) throw invalid(`a kernel's labels must be an object, got ${describe(labels)}`);
  const copy: Record<number, string> = {};
  for (let index = 0; index < count; index++) {
    const label = labels[index];
    if (typeof label === 'string') copy[index] = readPlain('a label of a kernel', label) as string;
  }
  return copy;
}

function readList(what: string, list: unknown, limit: number): unknown[] {
  if (!Array.isArray(list)) throw invalid(`a kernel must hold a list, got ${describe(list)}`);
  const { length } = list;
  if (!(length <= limit)) throw invalid(`${what} exceed the limit of ${limit}: there are ${length}`);
  const copy: unknown[] = [];
  for (let index = 0; index < length; index++) copy.push(list[index]);
  return copy;
}

/** A list or object would pass for the text that it converts to. */
function readPlain(what: string, held: unknown): unknown {
  if (typeof held === 'string' && held.length > MAX_NAME) {
    throw invalid(`${what} must have at most ${MAX_NAME} letters, got ${held.length}`);
  }
  if (held === null || ['string', 'number', 'boolean'].includes(typeof held)) return held;
  throw invalid(`${what} must be a text or a number, got ${describe(held)}`);
}

/** Refuses two of one name: in a record, the last would stand for both. */
function checkNames(part: string, declared: readonly { readonly name: unknown }[]): void {
  const names = declared.map(({ name }) => name);
  const wrong = names.findIndex((name, index) => typeof name !== 'string' || names.indexOf(name) !== index);
  if (wrong >= 0) throw invalid(`a kernel's ${part} must have distinct names, got ${describe(names[wrong])}`);
}

function isObject(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' && value !== null;
}
