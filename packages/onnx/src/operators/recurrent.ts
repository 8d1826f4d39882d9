import {
  defineKernel,
  type GatherInput,
  type InputSpecs,
  type Kernel,
  type KernelBuilder,
} from '@concord/backend-core/kernel';
import { add, empty, linear, permute, reshape, run, slice, split, stack, type Tensor, zeros } from '@concord/ops';
import { Kernels } from '@concord/ops/listen';
import { refuse } from '../errors.ts';
import type { Call, Results } from '../run/call.ts';
import { ACTIVATIONS } from './activations.ts';
import { elements, type Num } from './elements.ts';
import type { Operators } from './operator.ts';

type Gate = (k: KernelBuilder, x: Num) => Num;

/** The functions of gates: activations, and two more. */
const FUNCTIONS: typeof ACTIVATIONS = {
  ...ACTIVATIONS,
  Affine: [(k, x, a, b) => k.add(k.mul(x, a), b), { alpha: 1, beta: 0 }],
  ScaledTanh: [(k, x, a, b) => k.mul(k.tanh(k.mul(x, b)), a), { alpha: 1, beta: 1 }],
};
const functionsByName = new Map(Object.entries(FUNCTIONS).map(([name, each]) => [name.toLowerCase(), each]));

/** The functions of a direction's gates, and a text that tells them apart. */
interface Functions {
  readonly of: readonly Gate[];
  readonly key: string;
}

/** The functions of all directions; those with parameters take the next of the node's. */
function functionsOf(call: Call, usual: readonly string[], directions: number): Functions[] {
  const given = call.attribute('activations') as readonly string[] | undefined;
  const names = given ?? Array.from({ length: directions }, () => usual).flat();
  if (names.length !== usual.length * directions) throw refuse(`${names.length} activations`);
  const [alphas, betas] = ['activation_alpha', 'activation_beta'].map((name) => [...(call.list(name) ?? [])]);
  const clip = call.float('clip', 0);
  const all = names.map((name) => {
    const known = functionsByName.get(name.toLowerCase()) ?? call.refuse(`activation ${name}`);
    const [compute, { alpha, beta }] = known;
    const a = alpha === undefined ? 0 : (alphas?.shift() ?? alpha);
    const b = beta === undefined ? 0 : (betas?.shift() ?? beta);
    return { key: `${name} ${a} ${b}`, compute: (k: KernelBuilder, x: Num) => compute(k, x, a, b) };
  });
  const bounded = (k: KernelBuilder, x: Num, place: number): Num =>
    // What a cell holds is not clipped, which is the operand of the third of an LSTM.
    clip > 0 && place < 2 ? k.clamp(x, -clip, clip) : x;
  return Array.from({ length: directions }, (_, direction) => {
    const own = all.slice(direction * usual.length, (direction + 1) * usual.length);
    const of = own.map(
      ({ compute }, place): Gate =>
        (k, x) =>
          compute(k, bounded(k, x, place)),
    );
    return { of, key: `${clip} ${own.map(({ key }) => key).join()}` };
  });
}

/** The states of a text between two rows; `c` of an LSTM. */
interface States {
  readonly h: Tensor;
  readonly c?: Tensor;
}

/**
 * The row that a step leaves its result in, and what tells whether a text has it: its place, and `[batch, 1]` lengths.
 */
interface Row {
  readonly y: Tensor;
  readonly turn: number;
  readonly length: Tensor | undefined;
}

/** Reads an input: an element of `[batch, hidden]`, or that of a gate beside others. */
type Read = (name: string, gate?: number) => Num;

/** The function of a step; `h` and `c` are also the states before it. */
type Compute = (k: KernelBuilder, of: Read) => { readonly h: Num; readonly c?: Num };

const kernels = new Kernels();

/** A step's states. Where texts have lengths, states stay as they were after the end, and results are 0. */
function advance(key: string, { y, turn, length }: Row, gates: Tensors, states: Tensors, compute: Compute): States {
  const inputs = { ...gates, ...states, ...(length && { length }) };
  const full = `${key} ${Object.keys(inputs).join()}`;
  const kernel = kernels.of(full, () => defineStep(gates, states, length !== undefined, compute));
  const dtypes = Object.fromEntries(kernel.outputs.map(({ name }) => [name, y.dtype]));
  const more = length ? { params: { turn }, out: { y } } : { out: { afterH: y } };
  const made = run(kernel, inputs, { dtypes, shape: y.shape, ...more }) as Record<string, Tensor>;
  return { h: made['afterH'] as Tensor, ...(made['afterC'] && { c: made['afterC'] }) };
}

type Tensors = Readonly<Record<string, Tensor>>;

function defineStep(gates: Tensors, states: Tensors, hasLengths: boolean, compute: Compute): Kernel {
  const inputs: Record<string, InputSpecs[string]> = hasLengths ? { length: 'i32' } : {};
  for (const [name, { rank }] of Object.entries(gates))
    inputs[name] = { type: 'f32', access: 'gather', rank: rank as 1 };
  for (const name of Object.keys(states)) inputs[name] = 'f32';
  return defineKernel(
    'recurrent',
    { inputs, params: hasLengths ? { turn: 'i32' } : {} },
    (symbols, k): Record<string, Num> => {
      const all = symbols as unknown as Readonly<Record<string, Num & GatherInput<'f32'>>>;
      const of: Read = (name, gate) => {
        const input = all[name] as Num & GatherInput<'f32'>;
        if (gate === undefined) return input;
        const column = k.add(k.index(1), k.mul(k.extent(1), gate));
        return k.gather(input, gates[name]?.rank === 1 ? [column] : [k.index(0), column], 0);
      };
      const { h, c } = compute(k, of);
      if (!hasLengths) return { afterH: h, ...(c ? { afterC: c } : {}) };
      const isAlive = k.lt(of('turn'), of('length'));
      return {
        ...{ afterH: k.select(isAlive, h, of('h')), y: k.select(isAlive, h, k.f32(0)) },
        ...(c ? { afterC: k.select(isAlive, c, of('c')) } : {}),
      };
    },
  );
}

/** One direction of a layer. */
interface Direction {
  /** `[gates hidden, hidden]`. */
  readonly r: Tensor;
  /** The bias of the products of the states, if it is not in that of the inputs. */
  readonly rBias: Tensor | undefined;
  readonly peepholes: Tensor | undefined;
  readonly functions: Functions;
}

/** A step of a layer of a kind: a function of the states before it and of the inputs' product. */
type Step = (call: Call, direction: Direction, x: Tensor, states: States, row: Row) => States;

const lstmStep: Step = (call, { r, peepholes, functions }, x, { h, c }, row) => {
  const couples = call.int('input_forget', 0) === 1;
  const [f, g, last] = functions.of as [Gate, Gate, Gate];
  const gates = { x: linear(h, r, { residual: x }), ...(peepholes && { peepholes }) };
  const states = { c: c as Tensor, ...(row.length && { h }) };
  return advance(`LSTM ${couples} ${functions.key}`, row, gates, states, (k, of) => {
    // In the order of ONNX: input, output, forget, cell.
    const seen = (gate: number, cell: Num): Num =>
      peepholes ? k.add(of('x', gate), k.mul(of('peepholes', gate), cell)) : of('x', gate);
    const input = f(k, seen(0, of('c')));
    const forget = couples ? k.sub(1, input) : f(k, seen(2, of('c')));
    const cell = k.add(k.mul(forget, of('c')), k.mul(input, g(k, of('x', 3))));
    return { c: cell, h: k.mul(f(k, seen(1, cell)), last(k, cell)) };
  });
};

const gruStep: Step = (_, { r, rBias, functions }, x, { h }, row) => {
  const [f, g] = functions.of as [Gate, Gate];
  const next = (k: KernelBuilder, z: Num, fresh: Num, before: Num): Num =>
    k.add(k.mul(k.sub(1, z), fresh), k.mul(z, before));
  const hidden = h.shape[1] as number;
  if (rBias) {
    return advance(`GRU reset ${functions.key}`, row, { x, own: linear(h, r, { bias: rBias }) }, { h }, (k, of) => {
      const [z, reset] = [0, 1].map((gate) => f(k, k.add(of('x', gate), of('own', gate)))) as [Num, Num];
      return { h: next(k, z, g(k, k.add(of('x', 2), k.mul(reset, of('own', 2)))), of('h')) };
    });
  }
  const [first, last] = [[0, 2 * hidden] as const, [2 * hidden, 3 * hidden] as const];
  const gates = linear(h, slice(r, [first]), { residual: slice(x, [null, first]) });
  const reset = slice(gates, [null, [hidden, 2 * hidden]]);
  const left = elements(`Reset ${functions.key}`, (k, a, b) => k.mul(f(k, a), b), [reset, h], h.dtype);
  const n = linear(left, slice(r, [last]), { residual: slice(x, [null, last]) });
  return advance(`GRU ${functions.key}`, row, { gates }, { n, h }, (k, of) => ({
    h: next(k, f(k, of('gates', 0)), g(k, of('n')), of('h')),
  }));
};

const rnnStep: Step = (_, { r, functions }, x, { h }, row) => {
  const [f] = functions.of as [Gate];
  const states = { sum: linear(h, r, { residual: x }), ...(row.length && { h }) };
  return advance(`RNN ${functions.key}`, row, {}, states, (k, of) => ({ h: f(k, of('sum')) }));
};

/** A layer that goes along the rows of a text, in one direction or both. */
function layer(call: Call, gates: number, usual: readonly string[], step: Step): Results {
  call.floats(0);
  const isBatchFirst = call.int('layout', 0) === 1;
  const x = isBatchFirst ? permute(call.x(0), [1, 0, 2]) : call.x(0);
  const [rows = 0, batch = 0] = x.shape;
  const name = call.choice('direction', 'forward', 'reverse', 'bidirectional');
  const directions = name === 'bidirectional' ? [false, true] : [name === 'reverse'];
  const functions = functionsOf(call, usual, directions.length);
  const hidden = call.x(2).shape[2] as number;
  if (call.int('hidden_size', hidden) !== hidden) throw refuse(`hidden_size is not ${hidden}`);
  if (rows === 0) call.refuse('an empty text');
  const hasReset = call.int('linear_before_reset', 0) === 1;
  const hasCell = call.node.op === 'LSTM';
  const all = empty(call.backend, [rows, directions.length, batch, hidden], { dtype: x.dtype });
  const length = call.has(4) ? reshape(call.x(4), [batch, 1]) : undefined;
  const finals = directions.map((isBackwards, d) => {
    const [w, r] = [slice(call.x(1), [d]), slice(call.x(2), [d])];
    const biases = call.has(3) ? split(slice(call.x(3), [d]), 2) : undefined;
    const [wBias, ownBias] = biases ?? [];
    // The bias of a GRU's states is reset with them, so that it cannot be added before.
    const rBias = hasReset ? (ownBias ?? zeros(call.backend, [gates * hidden], { dtype: x.dtype })) : undefined;
    const bias = biases && !hasReset ? add(biases[0] as Tensor, biases[1] as Tensor) : wBias;
    const products = linear(x, w, { bias });
    const initial = (index: number): Tensor => {
      if (!call.has(index)) return zeros(call.backend, [batch, hidden], { dtype: x.dtype });
      return slice(call.x(index), isBatchFirst ? [null, d] : [d]);
    };
    const peepholes = call.has(7) ? slice(call.x(7), [d]) : undefined;
    const direction = { r, rBias, peepholes, functions: functions[d] as Functions };
    let states: States = { h: initial(5), ...(hasCell && { c: initial(6) }) };
    for (let i = 0; i < rows; i++) {
      const at = isBackwards ? rows - 1 - i : i;
      states = step(call, direction, slice(products, [at]), states, { y: slice(all, [at, d]), turn: at, length });
    }
    return states;
  });
  const joined = (states: readonly Tensor[]): Tensor => stack(states, { axis: isBatchFirst ? 1 : 0 });
  const results = [isBatchFirst ? permute(all, [2, 0, 1, 3]) : all, joined(finals.map(({ h }) => h))];
  if (hasCell) results.push(joined(finals.map(({ c }) => c as Tensor)));
  return results;
}

/** Operators that hand a state on from row to row. */
export const RECURRENT: Operators = {
  LSTM: (call) => layer(call, 4, ['Sigmoid', 'Tanh', 'Tanh'], lstmStep),
  GRU: (call) => layer(call, 3, ['Sigmoid', 'Tanh'], gruStep),
  RNN: (call) => layer(call, 1, ['Tanh'], rnnStep),
};
