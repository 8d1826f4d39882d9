import type { KernelBuilder } from '@concord/backend-core/kernel';
import type { Tensor } from '@concord/ops';
import type { Graph } from '../graph/graph.ts';
import { isFloat, numbersOf, sizeOf } from '../graph/host-tensor.ts';
import { Call, type Results } from '../run/call.ts';
import { operatorOf } from '../run/execute.ts';
import type { Value } from '../run/value.ts';
import { elements, type Num } from './elements.ts';
import type { Operator } from './operator.ts';

/** The maximum of a kernel: 8 bindings, of which the result is one. */
const MAX_TENSORS = 7;

/**
 * Operators that work element by element as one kernel, where all they compute with are floats of one type; one by one elsewhere. Numbers
 * that are constant are part of the kernel.
 */
export function* chain(call: Call): Generator<Value, Results> {
  const graph = call.graph('chain');
  const values = graph.inputs.map((_, i) => call.value(i));
  const tensors: Tensor[] = [];
  const numbers = values.map((value, i) => numberOf(call, value, i, values));
  const type = values[0]?.type as Value['type'];
  const isOneKind = isFloat(type) && type !== 'float64' && values.every((value) => value.type === type);
  const indices = numbers.flatMap((number, i) => (number === undefined ? [i] : []));
  if (!isOneKind || indices.length === 0 || indices.length > MAX_TENSORS) return yield* call.body(graph, values);
  for (const i of indices) tensors.push(call.x(i));
  const { name, formula } = formulaOf(graph, call, numbers, indices);
  return elements(name, formula, tensors, (tensors[0] as Tensor).dtype);
}

/** A constant of one element that does not make the result's shape larger. */
function numberOf(
  call: Call,
  { isConstant, host, dims }: Value,
  index: number,
  all: readonly Value[],
): number | undefined {
  if (!isConstant || host === undefined || sizeOf(dims) !== 1) return undefined;
  return all.some((other, i) => i !== index && other.dims.length >= dims.length && !other.isConstant)
    ? call.scalar(index)
    : undefined;
}

type Element = ReturnType<NonNullable<Operator['element']>>;

type UnaryFunction = (k: KernelBuilder, x: Num) => Num;

/** Functions by their names, which say all that they do. */
const functions = new Map<string, UnaryFunction>();

/**
 * Returns the function of the one input that a graph of operators that work element by element computes; its constants
 * are numbers.
 */
export function functionOf(call: Call, graph: Graph): UnaryFunction {
  const numbers = graph.inputs.map(({ name }) => {
    const constant = graph.constants.get(name);
    return constant && numbersOf(constant)[0];
  });
  const { name, formula } = call.keep(() => formulaOf(graph, call, numbers, [numbers.indexOf(undefined)]));
  let known = functions.get(name);
  if (known === undefined) {
    known = { [name]: (k: KernelBuilder, x: Num) => formula(k, x) as Num }[name] as UnaryFunction;
    functions.set(name, known);
  }
  return known;
}

function formulaOf(
  graph: Graph,
  call: Call,
  numbers: readonly (number | undefined)[],
  indices: readonly number[],
): Element {
  const steps = graph.nodes.map((node) => {
    const inner = new Call(node, [], call.context, call.body);
    return { node, element: operatorOf(node)?.element?.(inner) as Element };
  });
  const places = new Map(
    graph.inputs.map(({ name }, i) => [name, numbers[i] === undefined ? `#${indices.indexOf(i)}` : String(numbers[i])]),
  );
  // Names of values differ from model to model, the work does not.
  steps.forEach(({ node }, i) => places.set(node.outputs[0] as string, `$${i}`));
  const name = `Chain ${steps.map(({ node, element }) => `${element.name}(${node.inputs.map((each) => places.get(each)).join()})`).join(';')}`;
  return {
    name,
    formula: (k, ...given) => {
      const known = new Map<string, Num>();
      graph.inputs.forEach(({ name: input }, i) =>
        known.set(input, numbers[i] === undefined ? (given[indices.indexOf(i)] as Num) : k.f32(numbers[i])),
      );
      for (const { node, element } of steps) {
        known.set(
          node.outputs[0] as string,
          element.formula(k, ...node.inputs.map((each) => known.get(each) as Num)) as Num,
        );
      }
      return known.get(graph.outputs[0]?.name as string) as Num;
    },
  };
}
