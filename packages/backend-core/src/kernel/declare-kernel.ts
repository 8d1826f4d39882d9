import { describe } from '../contract/checks.ts';
import type {
  InputSpec,
  InputSpecs,
  KernelInput,
  KernelParameter,
  OutputSpecs,
  ParameterSpecs,
  ScatterMode,
} from './graph.ts';
import { GraphBuilder } from './graph-builder.ts';
import { GatherHandle } from './kernel-symbol.ts';
import type { NumberType } from './value-types.ts';

const TYPES: readonly string[] = ['f32', 'i32', 'u32'];
const MODES: readonly ScatterMode[] = ['set', 'add', 'max', 'min'];

/** A kernel whose inputs and parameters are known and whose nodes are not yet. */
export interface DeclaredKernel {
  readonly graph: GraphBuilder;
  readonly inputs: readonly KernelInput[];
  readonly params: readonly KernelParameter[];
  /** The outputs that are written by index. */
  readonly outputs: OutputSpecs;
  /** The value of each input and parameter, or the handle of a gather input. */
  readonly symbols: Readonly<Record<string, unknown>>;
}

/** @throws {BackendError} INVALID_ARGUMENT for a declaration of no known form */
export function declareKernel(
  name: unknown,
  inputs: InputSpecs = {},
  params: ParameterSpecs = {},
  outputs: OutputSpecs = {},
): DeclaredKernel {
  const graph = new GraphBuilder(name);
  for (const [what, specs] of Object.entries({ inputs, params, outputs })) {
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
  const declaredOutputs = Object.entries(outputs).map(([own, spec]) => [own, checkOutput(graph, own, spec)] as const);
  return {
    graph,
    inputs: declaredInputs,
    params: declaredParams,
    outputs: Object.fromEntries(declaredOutputs),
    symbols,
  };
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
  return { name, type, access, rank: checkRank(graph, name, rank) };
}

function checkOutput(graph: GraphBuilder, name: string, spec: unknown): OutputSpecs[string] {
  if (typeof spec !== 'object' || spec === null) {
    throw graph.invalid(`output ${name} must be { type, access: 'scatter', rank, mode }, got ${describe(spec)}`);
  }
  const { type, access, rank, mode } = spec as Readonly<Record<string, unknown>>;
  checkType(graph, name, type);
  // The others are what the function returns, and declared by it.
  if (access !== 'scatter') throw graph.invalid(`output ${name} must have access: 'scatter', got ${describe(access)}`);
  if (!MODES.includes(mode as ScatterMode)) {
    throw graph.invalid(`output ${name} must have a mode of ${MODES.join(', ')}, got ${describe(mode)}`);
  }
  return { type, access, rank: checkRank(graph, name, rank) as 1, mode: mode as ScatterMode };
}

function checkRank(graph: GraphBuilder, name: string, rank: unknown): number {
  if (Number.isInteger(rank) && (rank as number) >= 1 && (rank as number) <= 4) return rank as number;
  throw graph.invalid(`${name} must have a rank from 1 to 4, got ${describe(rank)}`);
}
