import { describe } from '../contract/checks.ts';
import type { InputSpec, InputSpecs, KernelInput, KernelParameter, ParameterSpecs } from './graph.ts';
import { GraphBuilder } from './graph-builder.ts';
import { GatherHandle } from './kernel-symbol.ts';
import type { NumberType } from './value-types.ts';

const TYPES: readonly string[] = ['f32', 'i32', 'u32'];

/** A kernel whose inputs and parameters are known and whose nodes are not yet. */
export interface DeclaredKernel {
  readonly graph: GraphBuilder;
  readonly inputs: readonly KernelInput[];
  readonly params: readonly KernelParameter[];
  /** The value of each input and parameter, or the handle of a gather input. */
  readonly symbols: Readonly<Record<string, unknown>>;
}

/** @throws {BackendError} INVALID_ARGUMENT for a declaration of no known form */
export function declareKernel(name: unknown, inputs: InputSpecs = {}, params: ParameterSpecs = {}): DeclaredKernel {
  const graph = new GraphBuilder(name);
  for (const [what, specs] of Object.entries({ inputs, params })) {
    if (typeof specs !== 'object' || specs === null)
      throw graph.invalid(`${what} must be an object, got ${describe(specs)}`);
  }
  const symbols: Record<string, unknown> = {};
  const declaredInputs = Object.entries(inputs).map(([own, spec]) => {
    graph.checkName(own);
    const input = checkInput(graph, own, spec);
    const { type, access } = input;
    symbols[own] =
      access === 'gather'
        ? new GatherHandle(graph, input)
        : graph.add({ kind: 'input', name: own, type, level: access });
    return input;
  });
  const declaredParams = Object.entries(params).map(([own, type]) => {
    graph.checkName(own);
    checkType(graph, own, type);
    if (Object.hasOwn(symbols, own)) throw graph.invalid(`${own} is an input and a parameter`);
    symbols[own] = graph.add({ kind: 'parameter', name: own, type, level: 'call' });
    return { name: own, type };
  });
  return { graph, inputs: declaredInputs, params: declaredParams, symbols };
}

function checkType(graph: GraphBuilder, name: string, type: unknown): asserts type is NumberType {
  if (!TYPES.includes(type as string)) throw graph.invalid(`${name} must be f32, i32 or u32, got ${describe(type)}`);
}

/** A declaration as the graph keeps it. */
function checkInput(graph: GraphBuilder, name: string, spec: InputSpec): KernelInput {
  if (typeof spec === 'string') {
    checkType(graph, name, spec);
    return { name, type: spec, access: 'element', rank: 0 };
  }
  if (typeof spec !== 'object' || spec === null) throw graph.invalid(`${name} must be a type, got ${describe(spec)}`);
  const { type, level, access, rank } = spec as { type: unknown; level?: unknown; access?: unknown; rank?: unknown };
  checkType(graph, name, type);
  if (level === 'row' && access === undefined) return { name, type, access: 'row', rank: 0 };
  if (access !== 'gather' || level !== undefined) {
    throw graph.invalid(`${name} must have level: 'row' or access: 'gather', got ${describe(level ?? access)}`);
  }
  if (!Number.isInteger(rank) || (rank as number) < 1 || (rank as number) > 4) {
    throw graph.invalid(`${name} must have a rank from 1 to 4, got ${describe(rank)}`);
  }
  return { name, type, access, rank: rank as number };
}
