import { slice, stack, type Tensor, tidy } from '@concord/ops';
import { refuse } from '../errors.ts';
import type { Graph, ValueInfo } from '../graph/graph.ts';
import { type HostTensor, hostTensor, scalars, sizeOf } from '../graph/host-tensor.ts';
import { Call } from '../run/call.ts';
import { Value } from '../run/value.ts';
import type { Operators } from './operator.ts';

const number = (value: number): Value => Value.ofHost(hostTensor('int64', [], [value]));
const truth = (value: boolean): Value => Value.ofHost(hostTensor('bool', [], [Number(value)]));

/** The only number of a value, which is read back where it is only on the device. */
function* numberOf(value: Value): Generator<Value, number> {
  if (value.host === undefined) yield value;
  const { dims } = value;
  if (sizeOf(dims) !== 1) throw refuse(`a condition or count must be one number, got [${dims.join(', ')}]`);
  return Number(scalars(value.host as HostTensor)[0]);
}

/** A value of all turns along a new axis; without a turn an empty one, as the graph's output is declared. */
function stacked(
  call: Call,
  turns: readonly (readonly Value[])[],
  place: number,
  { type: declared, dims: free = [] }: ValueInfo,
  axis = 0,
  backwards = false,
): Value {
  const values = turns.map((each) => each[place] as Value);
  const [first] = values;
  if (first === undefined) {
    const sizes = free.map((dim) => (typeof dim === 'number' ? dim : 0));
    return Value.ofHost(hostTensor(declared, [...sizes.slice(0, axis), 0, ...sizes.slice(axis)], []));
  }
  const { type, dims } = first;
  const list = backwards ? [...values].reverse() : values;
  if (axis === 0 && type !== 'string' && list.every(({ host }) => host !== undefined)) {
    const all = list.flatMap(({ host }) => Array.from(scalars(host as HostTensor)));
    return Value.ofHost(hostTensor(type, [list.length, ...dims], all));
  }
  const tensors = tensorsOf(call, list);
  return call.typed(
    tidy(() => stack(tensors, { axis })),
    type,
  );
}

/** Values on the device; the copies of what was on the host are the values' own. */
function tensorsOf(call: Call, values: readonly Value[]): Tensor[] {
  return new Call(call.node, values, call.context, call.body).all();
}

const dispose = (values: Iterable<Value>): void => {
  for (const each of values) each.dispose();
};

/** The repeated runs of a graph: values of its own that it hands on, and its results at each turn. */
interface Turns {
  readonly graph: Graph;
  readonly states: readonly Value[];
  /** What the graph gets at a turn, its states among it; undefined ends. It is disposed after the turn. */
  readonly inputs: (turn: number, states: readonly Value[]) => readonly Value[] | undefined;
  /** Whether the first result says if there is a further turn. */
  readonly asks: boolean;
}

function* repeated(call: Call, given: Turns): Generator<Value, { states: Value[]; turns: Value[][] }> {
  const { graph, inputs, asks } = given;
  let states = given.states.map((each) => each.share());
  const turns: Value[][] = [];
  let isDone = false;
  try {
    for (let turn = 0, goesOn = true; goesOn; turn++) {
      const own = inputs(turn, states);
      if (own === undefined) break;
      const results = yield* call.body(graph, own);
      dispose(own);
      const condition = asks ? (results.shift() as Value) : undefined;
      states = results.splice(0, given.states.length);
      turns.push(results);
      if (condition !== undefined) {
        goesOn = (yield* numberOf(condition)) !== 0;
        condition.dispose();
      }
    }
    isDone = true;
    return { states, turns };
  } finally {
    if (!isDone) dispose([...states, ...turns.flat()]);
  }
}

function* loop(call: Call): Generator<Value, Value[]> {
  const graph = call.graph('body');
  const count = call.has(0) ? yield* numberOf(call.value(0)) : Infinity;
  const starts = call.has(1) ? (yield* numberOf(call.value(1))) !== 0 : true;
  const initial = call.inputs.slice(2).map((_, i) => call.value(i + 2));
  const { states, turns } = yield* repeated(call, {
    graph,
    states: initial,
    inputs: (turn, own) => (starts && turn < count ? [number(turn), truth(true), ...own] : undefined),
    asks: true,
  });
  const scans = graph.outputs.slice(1 + initial.length);
  const results = scans.map((_, i) => stacked(call, turns, i, graph.outputs[1 + initial.length + i] as ValueInfo));
  dispose(turns.flat());
  return [...states, ...results];
}

function* scan(call: Call): Generator<Value, Value[]> {
  if (call.version < 9) return call.refuse('operator set 8');
  const graph = call.graph('body');
  const count = call.int('num_scan_inputs');
  const initial = call.inputs.slice(0, -count).map((_, i) => call.value(i));
  const scanned = call.inputs.slice(-count).map((_, i) => call.x(initial.length + i));
  const of = (name: string, i: number): number => call.list(name)?.[i] ?? 0;
  const axes = scanned.map((x, i) => call.axis(of('scan_input_axes', i), x.rank));
  const lengths = new Set(scanned.map((x, i) => x.shape[axes[i] as number] as number));
  const [length = 0] = lengths;
  if (lengths.size > 1) throw refuse(`the axes that are scanned have ${[...lengths].join(' and ')} places`);
  const part = (i: number, turn: number): Value => {
    const place = of('scan_input_directions', i) === 1 ? length - 1 - turn : turn;
    const before = Array.from({ length: axes[i] as number }, () => null);
    return call.typed(slice(scanned[i] as Tensor, [...before, place]), call.type(initial.length + i));
  };
  const { states, turns } = yield* repeated(call, {
    graph,
    states: initial,
    inputs: (turn, own) => (turn < length ? [...own, ...scanned.map((__, i) => part(i, turn))] : undefined),
    asks: false,
  });
  const results = graph.outputs.slice(initial.length).map((__, i) => {
    const rank = (turns[0]?.[i]?.dims.length ?? 0) + 1;
    const axis = call.axis(of('scan_output_axes', i), rank);
    const backwards = of('scan_output_directions', i) === 1;
    return stacked(call, turns, i, graph.outputs[initial.length + i] as ValueInfo, axis, backwards);
  });
  dispose(turns.flat());
  return [...states, ...results];
}

/** Operators that run graphs. */
export const CONTROL_FLOW: Operators = {
  If: {
    needs: [0],
    flow: function* (call) {
      const isTrue = (yield* numberOf(call.value(0))) !== 0;
      return yield* call.body(call.graph(isTrue ? 'then_branch' : 'else_branch'), []);
    },
  },
  Loop: { needs: [0, 1], flow: loop },
  Scan: { flow: scan },
};
