import { it } from 'vitest';
import { type HostTensor, hostTensor } from '../src/graph/host-tensor.ts';
import { expectAsRuntime, Numbers, type OneNode } from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import type { Given } from './support/write-model.ts';

const numbers = new Numbers(5);
const x = (dims: readonly number[]): HostTensor => numbers.tensor(dims);
const [ROWS, BATCH, IN, HIDDEN] = [5, 3, 4, 6];
const GATES = { LSTM: 4, GRU: 3, RNN: 1 };

interface Layer {
  readonly bias?: boolean;
  readonly lengths?: readonly number[];
  readonly states?: boolean;
  readonly peepholes?: boolean;
  readonly more?: Readonly<Record<string, Given>>;
}

function layer(op: keyof typeof GATES, { bias, lengths, states, peepholes, more = {} }: Layer = {}): OneNode {
  const directions = more['direction'] === 'bidirectional' ? 2 : 1;
  const gates = GATES[op] * HIDDEN;
  const state = (): HostTensor => x([directions, BATCH, HIDDEN]);
  return {
    op,
    inputs: [
      ...[x([ROWS, BATCH, IN]), x([directions, gates, IN]), x([directions, gates, HIDDEN])],
      bias ? x([directions, 2 * gates]) : undefined,
      lengths ? hostTensor('int32', [BATCH], lengths) : undefined,
      ...(states
        ? [state(), ...(op === 'LSTM' ? [state()] : [])]
        : op === 'LSTM'
          ? [undefined, undefined]
          : [undefined]),
      ...(peepholes ? [x([directions, 3 * HIDDEN])] : []),
    ],
    constant: [1, 2, 3],
    attributes: { hidden_size: HIDDEN, ...more },
    outputs: op === 'LSTM' ? [0, 1, 2] : [0, 1],
    opset: 14,
  };
}

const BOTH = { direction: 'bidirectional' };
const CASES: Readonly<Record<string, OneNode>> = {
  LSTM: layer('LSTM'),
  'LSTM with all it may have': layer('LSTM', { bias: true, states: true, peepholes: true, lengths: [5, 2, 3] }),
  'LSTM backwards, of lengths': layer('LSTM', { bias: true, lengths: [4, 5, 1], more: { direction: 'reverse' } }),
  'LSTM both ways, of lengths': layer('LSTM', { bias: true, states: true, lengths: [4, 5, 1], more: BOTH }),
  'LSTM that clips': layer('LSTM', { bias: true, more: { clip: { f: 0.4 } } }),
  'LSTM whose gates are coupled': layer('LSTM', { bias: true, more: { input_forget: 1 } }),
  GRU: layer('GRU'),
  'GRU with states, of lengths': layer('GRU', { bias: true, states: true, lengths: [5, 2, 3] }),
  'GRU both ways': layer('GRU', { bias: true, states: true, more: BOTH }),
  'GRU that resets after the product': layer('GRU', { bias: true, states: true, more: { linear_before_reset: 1 } }),
  'GRU that resets after the product, both ways, of lengths': layer('GRU', {
    ...{ bias: true, lengths: [5, 2, 3], more: { linear_before_reset: 1, ...BOTH } },
  }),
  RNN: layer('RNN', { bias: true, states: true }),
  'RNN backwards, of lengths': layer('RNN', { bias: true, lengths: [4, 5, 1], more: { direction: 'reverse' } }),
  'RNN that clips': layer('RNN', { more: { clip: { f: 0.3 } } }),
};

const list = (...texts: readonly string[]): Given => ({ strings: texts });
const FUNCTIONS: readonly (readonly [string, OneNode])[] = [
  [
    'LSTM',
    layer('LSTM', {
      more: { activations: list('HardSigmoid', 'Softsign', 'Relu'), activation_alpha: { floats: [0.3] } },
    }),
  ],
  ['GRU', layer('GRU', { more: { activations: list('Sigmoid', 'LeakyRelu'), activation_alpha: { floats: [0.2] } } })],
  [
    'RNN',
    layer('RNN', {
      more: {
        ...BOTH,
        activations: list('Affine', 'ScaledTanh'),
        activation_alpha: { floats: [0.5, 0.7] },
        activation_beta: { floats: [0.1, 0.9] },
      },
    }),
  ],
];

onBackends('recurrent operators', (backend) => {
  it.each(Object.entries(CASES))('%s', (_, given) => expectAsRuntime(backend(), given));
  it.each(FUNCTIONS)('%s with other functions', (_, given) => expectAsRuntime(backend(), given));
});
