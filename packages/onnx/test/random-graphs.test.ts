import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, describe, expect, it } from 'vitest';
import { type HostTensor, sizeOf } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import type { Proto } from '../src/read/schema.ts';
import { difference } from './support/node-tests.ts';
import { reference } from './support/reference.ts';
import { f32, type Given, i64, modelBytes, node, value } from './support/write-model.ts';

/** As many as are drawn; the seeds of one run are those of every other. */
const GRAPHS = Number(process.env['CONCORD_ONNX_GRAPHS'] ?? 150);

/** A number below another, and one of a list, the same for each seed. */
class Draw {
  #state: number;
  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 12345) % 2147483647 || 1;
  }
  below(end: number): number {
    this.#state = (this.#state * 48271) % 2147483647;
    return Math.floor((this.#state / 2147483647) * end);
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  floats(dims: readonly number[], from = -2, to = 2): HostTensor {
    return f32(dims, () => from + (this.below(1000) / 1000) * (to - from));
  }
}

const UNARY = [
  ...'Abs Neg Relu Sigmoid Tanh Erf Softplus Softsign HardSigmoid HardSwish Elu'.split(' '),
  ...'Selu LeakyRelu Floor Ceil Round Sin Cos Atan Identity Sign'.split(' '),
];
const BINARY = ['Add', 'Sub', 'Mul', 'Max', 'Min', 'PRelu'];
const REDUCE = ['ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceSumSquare', 'ReduceLogSumExp'];

interface Known {
  readonly name: string;
  readonly dims: readonly number[];
}

/** A graph of a few nodes, whose shapes are known as it grows. */
class Growing {
  readonly draw: Draw;
  readonly nodes: Proto<'Node'>[] = [];
  readonly constants: Record<string, HostTensor> = {};
  readonly values: Known[];

  constructor(seed: number) {
    this.draw = new Draw(seed);
    this.values = [{ name: 'x', dims: Array.from({ length: 2 + this.draw.below(3) }, () => 1 + this.draw.below(5)) }];
  }

  constant(tensor: HostTensor): string {
    const name = `c${Object.keys(this.constants).length}`;
    this.constants[name] = tensor;
    return name;
  }

  add(
    op: string,
    inputs: readonly string[],
    dims: readonly number[],
    attributes: Readonly<Record<string, Given>> = {},
  ): void {
    const name = `v${this.nodes.length}`;
    this.nodes.push(node(op, inputs, [name], attributes));
    this.values.push({ name, dims });
  }

  /** An operator, with others, on the last value, whose sizes it keeps. */
  follow(op: string, ...others: readonly string[]): void {
    const { name, dims } = this.values.at(-1) as Known;
    this.add(op, [name, ...others], dims);
  }

  grow(): void {
    const { draw } = this;
    // Often the last value, so that chains form.
    const { name, dims } = draw.below(3) > 0 ? (this.values.at(-1) as Known) : draw.of(this.values);
    const rank = dims.length;
    const axis = rank === 0 ? 0 : draw.below(rank);
    const along = dims[axis] as number;
    const withAxis = (size: number): number[] => dims.map((each, i) => (i === axis ? size : each));
    const kinds: (() => void)[] = [
      () => this.add(draw.of(UNARY), [name], dims),
      () => this.add(draw.of(UNARY), [name], dims),
      () => {
        const other = dims.map((size) => (draw.below(3) === 0 ? 1 : size)).slice(draw.below(2) && rank > 1 ? 1 : 0);
        this.add(draw.of(BINARY), [name, this.constant(draw.floats(other))], dims);
      },
      () => {
        const same = this.values.filter((each) => each.dims.join() === dims.join());
        this.add(draw.of(BINARY.slice(0, 5)), [name, draw.of(same).name], dims);
      },
      () => this.add('Div', [name, this.constant(draw.floats(dims, 1, 3))], dims),
      () =>
        this.add('Clip', [name, this.constant(draw.floats([], -1, 0)), this.constant(draw.floats([], 0.5, 1))], dims),
    ];
    if (rank >= 1) {
      kinds.push(
        () => {
          const keepdims = draw.below(2);
          const reduced = keepdims ? withAxis(1) : dims.filter((_, each) => each !== axis);
          this.add(draw.of(REDUCE), [name], reduced, { axes: [draw.below(2) ? axis : axis - rank], keepdims });
        },
        () => this.add(draw.of(['Softmax', 'LogSoftmax']), [name], dims, { axis }),
        () => {
          const perm = dims.map((_, each) => each);
          for (let i = rank - 1; i > 0; i--) {
            const j = draw.below(i + 1);
            [perm[i], perm[j]] = [perm[j] as number, perm[i] as number];
          }
          this.add(
            'Transpose',
            [name],
            perm.map((each) => dims[each] as number),
            { perm },
          );
        },
        () => this.add('Concat', [name, name], withAxis(2 * along), { axis }),
        () => {
          const start = draw.below(along);
          const list = (x: number): string => this.constant(i64([1], [x]));
          this.add('Slice', [name, list(start), list(100), list(axis)], withAxis(along - start));
        },
        () => {
          const picks = Array.from({ length: 1 + draw.below(3) }, () => draw.below(along) - draw.below(2) * along);
          this.add('Gather', [name, this.constant(i64([picks.length], picks))], withAxis(picks.length), { axis });
        },
        () => this.add('Flatten', [name], [sizeOf(dims.slice(0, axis)), sizeOf(dims.slice(axis))], { axis }),
        () => {
          const pads = [...dims, ...dims].map(() => draw.below(3));
          this.add(
            'Pad',
            [name, this.constant(i64([2 * rank], pads))],
            dims.map((size, each) => size + (pads[each] as number) + (pads[each + rank] as number)),
          );
        },
        () =>
          this.add('CumSum', [name, this.constant(i64([], [axis]))], dims, {
            exclusive: draw.below(2),
            reverse: draw.below(2),
          }),
      );
    }
    if (rank >= 2) {
      const width = dims.at(-1) as number;
      kinds.push(() => {
        const columns = 1 + draw.below(4);
        const weights = this.constant(draw.floats([width, columns]));
        this.add('MatMul', [name, weights], [...dims.slice(0, -1), columns]);
        if (draw.below(2)) this.follow('Add', this.constant(draw.floats([columns])));
        if (draw.below(2)) this.follow(draw.of(['Relu', 'Tanh', 'Sigmoid']));
      });
      kinds.push(() => {
        const [scale, bias] = [this.constant(draw.floats([width])), this.constant(draw.floats([width]))];
        this.add('LayerNormalization', [name, scale, bias], dims);
      });
    }
    if (rank === 4) {
      kinds.push(() => {
        const channels = 1 + draw.below(4);
        const [h, w] = [1 + draw.below(3), 1 + draw.below(3)];
        const weights = [
          this.constant(draw.floats([channels, dims[1] as number, h, w])),
          this.constant(draw.floats([channels])),
        ];
        const size = [(dims[2] as number) + 2 - h + 1, (dims[3] as number) + 2 - w + 1];
        this.add('Conv', [name, ...weights], [dims[0] as number, channels, ...size], { pads: [1, 1, 1, 1] });
        if (draw.below(2)) this.follow('Relu');
      });
      kinds.push(() =>
        this.add('MaxPool', [name], [...dims.slice(0, 2), (dims[2] as number) + 1, (dims[3] as number) + 1], {
          kernel_shape: [2, 2],
          pads: [1, 1, 1, 1],
        }),
      );
      kinds.push(() => this.add('GlobalAveragePool', [name], [...dims.slice(0, 2), 1, 1]));
    }
    if (sizeOf((this.values.at(-1) as Known).dims) > 4000) return;
    draw.of(kinds)();
  }
}

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

describe('random graphs', () => {
  it(`give what ONNX Runtime gives, ${GRAPHS} of them`, async () => {
    const wrong: string[] = [];
    const used = new Set<string>();
    let refused = 0;
    for (let seed = 1; seed <= GRAPHS; seed++) {
      const growing = new Growing(seed);
      const [input] = growing.values as [Known];
      for (let i = 0; i < 12; i++) growing.grow();
      const read = new Set(growing.nodes.flatMap(({ inputs = [] }) => inputs));
      const outputs = growing.values.slice(1).filter(({ name }) => !read.has(name));
      const { nodes, constants } = growing;
      const bytes = modelBytes({
        nodes,
        constants,
        inputs: [value('x', 'float32', input.dims)],
        outputs: outputs.map(({ name }) => name),
      });
      const feeds = { x: growing.draw.floats(input.dims) };
      const wanted = await reference(bytes, feeds).catch(() => undefined);
      // Such as a normalization of nothing.
      if (wanted === undefined) {
        refused++;
        continue;
      }
      for (const { op } of nodes) used.add(op as string);
      using model = await loadOnnx(backend, bytes);
      for (let turn = 0; turn < 2; turn++) {
        const got = await model.runOnHost(feeds);
        for (const [name, each] of Object.entries(wanted)) {
          const text = difference(got[name] as HostTensor, each, 1e-4, 1e-4);
          if (text !== undefined)
            wrong.push(`seed ${seed}, run ${turn + 1}: ${name} ${text}; ${nodes.map(({ op }) => op).join(' ')}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeLessThanOrEqual(GRAPHS / 100);
    expect(used.size).toBeGreaterThan(30);
  });
});
