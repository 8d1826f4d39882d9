import { CpuBackend } from '@concord/backend-cpu';
import { mul, slice, tensor, type Tensor } from '@concord/ops';
import { afterAll, describe, expect, test } from 'vitest';
import {
  adam,
  adamW,
  clipByNorm,
  lion,
  type Optimizer,
  type Rate,
  sgd,
  warmupCosine,
  warmupLinear,
} from '../src/index.ts';
import { close } from './support/close.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

describe('optimisers', () => {
  const gradients = [
    [0.5, -0.1],
    [0.2, 0.3],
    [-0.4, 0],
  ];
  const rules: [
    string,
    (p: Tensor[], rate: Rate) => Optimizer<Tensor[]>,
    (p: number, g: number, s: number[], t: number, rate: number) => number,
  ][] = [
    ['sgd', (p, rate) => sgd(p, { rate, decay: 0.1 }), (p, g, _, __, rate) => p - rate * (g + 0.1 * p)],
    [
      'momentum',
      (p, rate) => sgd(p, { rate, momentum: 0.9 }),
      (p, g, s, _, rate) => {
        s[0] = 0.9 * (s[0] ?? 0) + g;
        return p - rate * s[0];
      },
    ],
    [
      'nesterov',
      (p, rate) => sgd(p, { rate, momentum: 0.9, nesterov: true, decay: 0.1 }),
      (p, grad, s, _, rate) => {
        const g = grad + 0.1 * p;
        s[0] = 0.9 * (s[0] ?? 0) + g;
        return p - rate * (g + 0.9 * s[0]);
      },
    ],
    ...([false, true] as const).map((isW): (typeof rules)[number] => [
      isW ? 'adamW' : 'adam',
      (p, rate) => (isW ? adamW : adam)(p, { rate, decay: 0.1, eps: 0.1 }),
      (p, grad, s, t, rate) => {
        const g = isW ? grad : grad + 0.1 * p;
        s[0] = 0.9 * (s[0] ?? 0) + 0.1 * g;
        s[1] = 0.999 * (s[1] ?? 0) + 0.001 * g * g;
        const step = s[0] / (1 - 0.9 ** t) / (Math.sqrt(s[1] / (1 - 0.999 ** t)) + 0.1);
        return (isW ? p * (1 - rate * 0.1) : p) - rate * step;
      },
    ]),
    [
      'lion',
      (p, rate) => lion(p, { rate, decay: 0.1 }),
      (p, g, s, _, rate) => {
        const way = Math.sign(0.9 * (s[0] ?? 0) + (1 - 0.9) * g);
        s[0] = 0.99 * (s[0] ?? 0) + 0.01 * g;
        return p - rate * (way + 0.1 * p);
      },
    ],
  ];
  test.each(rules)('%s takes the steps of its paper', async (_, create, rule) => {
    for (const rate of [0.1, tensor(backend, [0.1]), (step: Tensor) => mul(step, 0.1)] as const) {
      // One of no axes beside it.
      const p = [tensor(backend, [1, -2]), tensor(backend, 1, [])];
      using optimizer = create(p, rate);
      const [expected, states] = [[1, -2], [[], []] as number[][]];
      for (const [index, each] of gradients.entries()) {
        using g = tensor(backend, each);
        using first = tensor(backend, each[0] as number, []);
        optimizer.step([g, first]);
        for (const [at, own] of each.entries()) {
          expected[at] = rule(
            expected[at] as number,
            own,
            states[at] as number[],
            index + 1,
            typeof rate === 'function' ? 0.1 * (index + 1) : 0.1,
          );
        }
      }
      await close(p[0] as Tensor, expected, 5);
      await close(p[1] as Tensor, expected.slice(0, 1), 5);
      for (const [at, kept] of (optimizer.state[0] ?? []).entries())
        await close(
          kept,
          states.map((each) => each[at] as number),
          5,
        );
    }
  });

  test('gradients are those of the same names, in whatever order these come', async () => {
    const params = { w: tensor(backend, [1, 2]), 'b.c': tensor(backend, [3, 4]) };
    const optimizer = sgd(params, { rate: 1 });
    optimizer.step({ 'b.c': tensor(backend, [10, 10]), w: tensor(backend, [1, 1]) });
    await close(params.w, [0, 1]);
    await close(params['b.c'], [-7, -6]);
    const other = { w: tensor(backend, [1, 1]), b: { c: tensor(backend, [1, 1]) } };
    expect(() => optimizer.step(other as never)).toThrow('there is no tensor for parameter["b.c"]');
    const short = { ...params, w: tensor(backend, [1]) };
    expect(() => optimizer.step(short)).toThrow('for parameter.w of [2] there is one of [1]');
    expect(() => optimizer.step({ ...params, more: params.w } as never)).toThrow('there is no parameter.more');
    optimizer.dispose();
    expect([optimizer.steps, ...optimizer.state.flat()].map((each) => each.isDisposed)).not.toContain(false);
  });

  test.each([
    ['sgd', { rate: 0.1, momentun: 0.9 }, 'sgd: options has no field momentun; did you mean momentum?'],
    ['sgd', 0.1, 'sgd: takes its options in one object, such as { rate }, got 0.1'],
    ['sgd', undefined, 'sgd: takes its options in one object, such as { rate }, got undefined'],
    ['adam', { beta1: 0.9 }, 'adam: rate must be a number, a tensor or a function, got undefined'],
    ['adamW', { rate: 0.1, weightDecay: 3 }, 'adamW: options has no field weightDecay; it has rate, beta1'],
    ['lion', { rate: 0.1, decay: '1' }, 'lion: decay must be a number, got "1"'],
    ['warmupCosine', { peak: 1 }, 'warmupCosine: total must be a number, got undefined'],
  ] as const)('%s refuses %j', (name, options, text) => {
    const w = tensor(backend, [1]);
    const made = { sgd, adam, adamW, lion, warmupCosine: (_: Tensor, given: never) => warmupCosine(given) };
    expect(() => made[name](w, options as never)).toThrow(text);
  });

  test('one tensor under two names is refused: it would be updated twice', () => {
    const w = tensor(backend, [1, 2]);
    const refused = {
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('parameter.head has another name too') as string,
    };
    expect(() => sgd({ tokens: w, head: w }, { rate: 1 })).toThrow(expect.objectContaining(refused) as Error);
    const halves = [slice(w, [[0, 1]]), slice(w, [[1, 2]])];
    expect(() => sgd(halves, { rate: 1 })).not.toThrow();
  });

  test('schedules and clipping', async () => {
    const at = async (f: (step: Tensor) => Tensor, step: number): Promise<number> => f(tensor(backend, [step])).item();
    const cosine = warmupCosine({ peak: 2, warmup: 10, total: 110, floor: 1 });
    for (const [step, wanted] of [
      [0, 0],
      [5, 1],
      [10, 2],
      [60, 1.5],
      [110, 1],
      [500, 1],
    ] as const)
      expect(await at(cosine, step)).toBeCloseTo(wanted, 5);
    const linear = warmupLinear({ peak: 2, total: 100 });
    for (const [step, wanted] of [
      [0, 2],
      [50, 1],
      [100, 0],
    ] as const)
      expect(await at(linear, step)).toBeCloseTo(wanted, 5);
    const tree = { a: tensor(backend, [3]), b: [tensor(backend, [4])] };
    await close(clipByNorm(tree, 1), [5]);
    await close(tree.a, [0.6], 5);
    await close(clipByNorm(tree, 2), [1], 5);
    await close(tree.b[0] as Tensor, [0.8], 5);
  });
});
