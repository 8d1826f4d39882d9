import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CpuBackend } from '@concord/backend-cpu';
import { defineKernel } from '@concord/backend-core/kernel';
import { WasmBackend } from '@concord/backend-wasm';
import * as o from '@concord/ops';
import { add, copy, memory, mul, record, sum, tensor, type Tensor, tidy } from '@concord/ops';
import { afterAll, describe, expect, test } from 'vitest';
import {
  adamW,
  checkpoint,
  clipByNorm,
  customVjp,
  grad,
  type Optimizer,
  sgd,
  stopGradient,
  valueAndGrad,
  vjp,
  warmupCosine,
} from '../src/index.ts';
import { close, numbers } from './support/close.ts';

const backend = await CpuBackend.create();
const wasm = await WasmBackend.create();
afterAll(() => Promise.all([backend.dispose(), wasm.dispose()]));

const HIGHEST = defineKernel(
  'highest',
  { inputs: { x: 'f32', i: 'i32' }, outputs: { y: { type: 'f32', access: 'scatter', rank: 1, mode: 'max' } } },
  ({ x, i }, k) => ({ y: k.scatter(x, [i]) }),
);

describe('functions', () => {
  test('trees: the gradient has the form of the argument', async () => {
    const params = {
      layers: [
        { w: tensor(backend, [2, 3]) },
        Object.assign(Object.create(null) as object, { w: tensor(backend, [5]) }),
      ],
      name: 'x',
      unused: tensor(backend, [1, 1]),
    };
    const f = ({ layers }: typeof params, x: Tensor): [Tensor, string] => {
      return [layers.reduce((loss, { w }) => add(loss, sum(mul(w, mul(w, x)))), o.zeros(backend, [])), 'more'];
    };
    const { value, gradient } = valueAndGrad(f)(params, tensor(backend, [10]));
    expect(value[1]).toBe('more');
    expect(gradient.name).toBe('x');
    await close(value[0], [380]);
    await close(gradient.layers[0]?.w as Tensor, [40, 60]);
    await close(gradient.layers[1]?.w as Tensor, [100]);
    await close(gradient.unused, [0, 0]);
  });

  test('vjp: gradients of several results, once', async () => {
    const { value, pullback } = vjp(
      (a: Tensor, b: Tensor) => ({ product: mul(a, b), sum: add(a, b) }),
      tensor(backend, [2, 3]),
      tensor(backend, [5, 7]),
    );
    await close(value.product, [10, 21]);
    const given = { product: tensor(backend, [1, 10]), sum: tensor(backend, [100, 0]) };
    const [a, b] = pullback(given);
    await close(a, [105, 70]);
    await close(b, [102, 30]);
    expect(() => pullback(given)).toThrow('may be called once');
    const other = vjp((a: Tensor) => ({ once: mul(a, 1), tenfold: mul(a, 10) }), tensor(backend, [1, 1]));
    await close(other.pullback({ tenfold: tensor(backend, [1, 0]), once: tensor(backend, [0, 1]) })[0], [10, 1]);
  });

  test('views of one argument, expanded ones and the same one twice', async () => {
    const x = tensor(backend, [1, 2, 3, 4], [2, 2]);
    await close(grad((x: Tensor) => sum(mul(o.slice(x, [0]), o.slice(x, [null, 1]))))(x), [2, 5, 0, 2]);
    await close(grad((y: Tensor) => sum(mul(y, x)))(o.expand(tensor(backend, [[1], [1]]), [2, 2])), [1, 2, 3, 4]);
    await close(grad((y: Tensor) => sum(o.square(y)))(o.slice(x, [null, 1])), [4, 8]);
    await close(grad((y: Tensor) => sum(o.square(y)))(o.slice(x, [1])), [6, 8]);
    const [a, b] = grad(([a, b]: readonly Tensor[]) => sum(mul(a as Tensor, o.square(b as Tensor))))([
      x,
      x,
    ]) as Tensor[];
    await close(a as Tensor, [1, 4, 9, 16]);
    await close(b as Tensor, [2, 8, 18, 32]);
    // One tensor in two places of a kernel, with another between them.
    const inputs = { a: 'f32', b: 'f32', c: 'f32' } as const;
    const cube = defineKernel('cube', { inputs }, ({ a, b, c }, k) => ({ y: k.mul(k.mul(a, b), c) }));
    const product = ([y, z]: readonly [Tensor, Tensor]): Tensor => sum(o.run(cube, { a: y, b: z, c: y }).y);
    const [twice, once] = grad(product)([copy(x), x]);
    await close(twice, [2, 8, 18, 32]);
    await close(once, [1, 4, 9, 16]);
    await close(grad((y: Tensor) => y)(tensor(backend, [3])), [1]);
  });

  test('the type of an argument does not matter: its gradient is f32', async () => {
    const x = tensor(backend, [1.5, -2], [2], { dtype: 'bf16' });
    const gradient = grad((x: Tensor) => sum(mul(x, x)))(x);
    expect(gradient.dtype).toBe('f32');
    await close(gradient, [3, -4]);
  });

  test('second derivatives, also through a product, folds and attention', async () => {
    const x = tensor(backend, [0.3, -0.8, 1.1, 0.5]);
    const second = (f: (x: Tensor) => Tensor): Tensor =>
      grad((y: Tensor) => sum(mul(grad(f)(y), tensor(backend, [1, 2, 3, 4]))))(x);
    const matrix = (y: Tensor): Tensor => o.reshape(y, [2, 2]);
    const heads = (y: Tensor): Tensor => o.reshape(y, [1, 1, 2, 2]);
    for (const f of [
      (y: Tensor) => sum(o.exp(o.sin(y))),
      (y: Tensor) => sum(o.matmul(matrix(y), o.tanh(matrix(y)))),
      (y: Tensor) => sum(mul(o.softmax(y), o.softmax(y))),
      (y: Tensor) => o.logSumExp(o.cumsum(y)),
      (y: Tensor) => sum(o.layerNorm(matrix(y), { weight: o.slice(y, [[0, 2]]), activation: 'gelu', eps: 0.3 })),
      (y: Tensor) => sum(o.square(o.attention(heads(y), heads(o.sin(y)), heads(y)))),
      (y: Tensor) => sum(o.square(o.conv2d(heads(y), o.reshape(o.slice(y, [[1, 3]]), [1, 1, 1, 2])))),
      (y: Tensor) => sum(o.square(o.gather(y, tensor(backend, [0, 0, 3], [3], { dtype: 'i32' })))),
    ]) {
      const step = 1 / 64;
      const expected: number[] = [];
      for (let at = 0; at < 4; at++) {
        const slope = async (by: number): Promise<number> => {
          const moved = await numbers(x);
          moved[at] = (moved[at] as number) + by;
          const first = await numbers(grad(f)(tensor(backend, moved)));
          return first.reduce((total, each, index) => total + each * (index + 1), 0);
        };
        expected.push(
          ((await slope(-2 * step)) - 8 * (await slope(-step)) + 8 * (await slope(step)) - (await slope(2 * step))) /
            (12 * step),
        );
      }
      await close(second(f), expected, 2);
    }
  });

  test('stopGradient, customVjp and checkpoint', async () => {
    const x = tensor(backend, [3, -2]);
    await close(grad((y: Tensor) => sum(mul(y, stopGradient(y))))(x), [3, -2]);
    const step = customVjp(
      (y: Tensor) => o.cast(o.greater(y, 0), 'f32'),
      (g, [y], result) => [mul(g, add(mul(y, 10), result))],
    );
    await close(grad((y: Tensor) => sum(mul(step(y), 2)))(x), [62, -40]);
    let runs = 0;
    const scale = tensor(backend, [0.5]);
    const block = checkpoint((y: Tensor, { w }: { w: Tensor }) => {
      runs++;
      return o.sin(mul(o.exp(mul(y, w)), scale));
    });
    const plain = (y: Tensor, { w }: { w: Tensor }): Tensor => o.sin(mul(o.exp(mul(y, w)), scale));
    const loss =
      (own: typeof plain) =>
      (p: { y: Tensor; w: Tensor }): Tensor =>
        sum(mul(own(p.y, p), own(mul(p.y, 0.5), p)));
    const p = { y: x, w: tensor(backend, [0.4]) };
    const [wanted, got] = [grad(loss(plain))(p), grad(loss(block))(p)];
    expect(runs).toBe(4);
    await close(got.y, await numbers(wanted.y), 6);
    await close(got.w, await numbers(wanted.w), 6);
    // What it finds outside has its gradient, too.
    const outside = grad((w: Tensor) => sum(checkpoint((y: Tensor) => mul(y, o.square(w)))(x)));
    await close(outside(tensor(backend, [3, 5])), [18, -20]);
  });

  test('out: what is written later has the later gradient, and what is needed may not be overwritten', async () => {
    const x = tensor(backend, [1, 2]);
    const f = (x: Tensor): Tensor => {
      const y = mul(x, 3);
      add(y, x, { out: y });
      const z = copy(y);
      mul(z, 5, { out: z });
      o.full(backend, [2], 1);
      return sum(mul(z, y));
    };
    await close(grad(f)(x), [160, 320]);
    const overwritten = (x: Tensor): Tensor => {
      const y = o.exp(x);
      const z = mul(y, y);
      add(y, 1, { out: y });
      return sum(z);
    };
    expect(() => grad(overwritten)(x)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', detail: expect.stringContaining('overwritten') as string }),
    );
    const saturated = customVjp(
      (y: Tensor) => o.tanh(y),
      (g, _, result) => [mul(g, result)],
    );
    const changed = (y: Tensor): Tensor => sum(add(y, 1, { out: y }));
    expect(() => grad((y: Tensor) => changed(saturated(y)))(x)).toThrow('overwritten');
    // What is written beside it does no harm.
    const halves = (x: Tensor): Tensor => {
      const [a, b] = o.split(mul(x, 3), 2) as [Tensor, Tensor];
      const z = mul(a, a);
      mul(b, 2, { out: b });
      return sum(mul(z, b));
    };
    await close(grad(halves)(x), [216, 54]);
    // Constants that replace it have no gradient.
    const replaced = (x: Tensor): Tensor => {
      const y = mul(x, 3);
      o.copy(y);
      mul(tensor(backend, [7, 7]), 1, { out: y });
      return sum(y);
    };
    await close(grad(replaced)(x), [0, 0]);
  });

  test('a result in the memory of an argument has a gradient of its own', async () => {
    const x = tensor(backend, [1, 2]);
    const reverse = customVjp(
      (y: Tensor) => y,
      (g) => [o.neg(g)],
    );
    await close(grad((y: Tensor) => sum(reverse(mul(y, y))))(x), [-2, -4]);
    await close(grad((y: Tensor) => sum(reverse(y)))(x), [-1, -1]);
    const view = checkpoint((y: Tensor) => o.reshape(y, [2, 1]));
    await close(grad((y: Tensor) => sum(mul(view(mul(y, y)), 3)))(x), [6, 12]);
    // What backward gives may be memory that it uses again.
    const scratch = o.zeros(backend, [2]);
    const doubled = customVjp(
      (y: Tensor) => mul(y, 2),
      (g) => [mul(g, 2, { out: scratch })],
    );
    const both = grad(({ a, b }: { a: Tensor; b: Tensor }) => sum(add(mul(doubled(a), 5), mul(doubled(b), 7))));
    const { a, b } = both({ a: x, b: copy(x) });
    await close(a, [10, 10]);
    await close(b, [14, 14]);
  });

  test('errors have codes', () => {
    const x = tensor(backend, [1, 2]);
    const refused = (x: Tensor): Tensor => {
      const y = o.zeros(backend, [2], { dtype: 'f16' });
      return o.cast(o.run(HIGHEST, { x, i: tensor(backend, [0, 1], [2], { dtype: 'i32' }) }, { out: { y } }).y, 'f32');
    };
    const codeOf = (work: () => unknown): unknown => {
      try {
        work();
      } catch (error) {
        return (error as { code: string }).code;
      }
      return undefined;
    };
    expect(codeOf(() => grad((y: Tensor) => mul(y, 2))(x))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => grad((y: Tensor) => sum(y))(tensor(backend, [1], [1], { dtype: 'i32' })))).toBe(
      'INVALID_ARGUMENT',
    );
    expect(codeOf(() => grad((y: Tensor) => sum(mul(x, y)))(x))).toBe('UNSUPPORTED');
    expect(codeOf(() => grad((y: Tensor) => sum(refused(y)))(x))).toBe('UNSUPPORTED');
    expect(codeOf(() => grad((y: Tensor) => sum(mul(o.viewAs(o.viewAs(y, 'i32'), 'f32'), y)))(x))).toBe(undefined);
    expect(codeOf(() => sgd({}, { rate: 1 }))).toBe('INVALID_ARGUMENT');
    // Without a tensor the gradient would be the argument itself.
    expect(codeOf(() => grad(() => sum(x))(new Map([['x', x]])))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => grad(undefined as never))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => grad((() => undefined) as never)(x))).toBe('INVALID_ARGUMENT');
    const gone = copy(x);
    gone.dispose();
    expect(codeOf(() => grad((y: Tensor) => sum(y))(gone))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => vjp((y: Tensor) => mul(y, 2), x).pullback(gone))).toBe('INVALID_ARGUMENT');
    expect(() => grad((async (y: Tensor) => sum(y)) as never)(x)).toThrow(
      'valueAndGrad: the function must return at once',
    );
    const whole = tensor(backend, [1, 2], [2], { dtype: 'i32' });
    expect(codeOf(() => vjp((y: Tensor) => mul(y, 2), x).pullback(whole))).toBe('INVALID_ARGUMENT');
    const toWhole = customVjp(
      (y: Tensor) => mul(y, 2),
      () => [whole],
    );
    expect(codeOf(() => grad((y: Tensor) => sum(toWhole(y)))(x))).toBe('INVALID_ARGUMENT');
    const bad = customVjp(
      (y: Tensor) => mul(y, 2),
      (g) => g as never,
    );
    expect(codeOf(() => grad((y: Tensor) => sum(bad(y)))(x))).toBe('INVALID_ARGUMENT');
    expect(codeOf(() => grad((y: Tensor) => [sum(y), refused(y)] as const)(x))).toBe(undefined);
    const half = tensor(backend, [1, 2], [2], { dtype: 'f16' });
    expect(codeOf(() => grad((y: Tensor) => sum(mul(o.viewAs(y, 'bf16'), o.cast(y, 'bf16'))))(half))).toBe(
      'UNSUPPORTED',
    );
  });

  test('points that tie in an element share its gradient, with what was there before', async () => {
    const i = tensor(backend, [1, 1, 0, 2], [4], { dtype: 'i32' });
    const highest = (y: Tensor, x: Tensor): Tensor => o.run(HIGHEST, { x, i }, { out: { y: copy(y) } }).y;
    const { value, pullback } = vjp(highest, tensor(backend, [1, 5, 2, 4]), tensor(backend, [5, 5, 0, 2]));
    expect(await numbers(value)).toEqual([1, 5, 2, 4]);
    const [before, stored] = pullback(tensor(backend, [1, 3, 4, 5]));
    expect([await numbers(before), await numbers(stored)]).toEqual([
      [1, 1, 2, 5],
      [1, 1, 0, 2],
    ]);
  });
});

describe('memory', () => {
  test('a vjp that is forgotten is collected with all that it holds', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const collect = (): Promise<void> => (gc(), setImmediate());
    const x = tensor(wasm, [1, 2]);
    for (let turn = 0; turn < 20; turn++) await collect();
    const before = memory().tensors;
    for (let index = 0; index < 10; index++) vjp((y: Tensor) => mul(y, y), x).value.dispose();
    for (let turn = 0; turn < 20 && memory().tensors > before; turn++) await collect();
    expect(memory().tensors).toBeLessThanOrEqual(before);
    x.dispose();
  });

  // Outside of any tidy.
  test('memory that only a place is left of is not freed twice, and what fails keeps nothing', async () => {
    const x = tensor(wasm, [1, 2]);
    const before = [memory().tensors, wasm.memory().liveAllocations];
    const spread = (x: Tensor): Tensor => sum(tidy(() => add(o.reshape(mul(x, x), [2, 1]), tensor(wasm, [[1, 2, 3]]))));
    const slope = grad(spread)(x);
    await close(slope, [6, 12]);
    slope.dispose();
    const overwritten = (x: Tensor): Tensor => {
      const [y, z] = [mul(x, x), o.zeros(wasm, [2])];
      mul(y, y, { out: z });
      add(y, 1, { out: y });
      return sum(z);
    };
    expect(() => grad(overwritten)(x)).toThrow('overwritten');
    expect(() => grad((y: Tensor) => sum(mul(y, x)))(x)).toThrow('as another tensor');
    expect([memory().tensors, wasm.memory().liveAllocations]).toEqual(before);
    x.dispose();
  });

  test('the gradient of attention takes memory by its operands, not by queries times keys', async () => {
    const peak = async (length: number): Promise<number> => {
      const own = await WasmBackend.create();
      const x = o.full(own, [1, 1, length, 8], 0.5);
      grad((x: Tensor) => sum(o.square(o.attention(x, x, x, { causal: true }))))(x).dispose();
      const { peakBytes } = own.memory();
      await own.dispose();
      return peakBytes;
    };
    expect((await peak(2048)) / (await peak(1024))).toBeLessThan(2.1);
  });

  const batch = { x: [0.3, -0.7, 0.9, 0.2], t: [1, -1] };
  const newParams = (): { w: Tensor; b: Tensor; v: Tensor } =>
    tidy(() => ({
      w: tensor(wasm, [0.1, -0.2, 0.3, 0.4, 0.5, -0.6], [3, 2]),
      b: o.zeros(wasm, [3]),
      v: tensor(wasm, [[0.3, -0.2, 0.7]]),
    }));
  const loss = ({ w, b, v }: ReturnType<typeof newParams>, x: Tensor, t: Tensor): Tensor =>
    tidy(() =>
      o.mean(
        o.square(
          o.sub(
            o.flatten(
              o.linear(
                tidy(() => o.linear(x, w, { bias: b, activation: 'gelu' })),
                v,
              ),
            ),
            t,
          ),
        ),
      ),
    );

  test('a training step keeps nothing, over 1,000 of them', async () => {
    const params = newParams();
    const [x, t] = [tensor(wasm, batch.x, [2, 2]), tensor(wasm, batch.t)];
    using optimizer = adamW(params, { rate: 0.01 });
    const step = valueAndGrad(loss);
    const counts = new Set<string>();
    let last = 0;
    for (let index = 0; index < 1000; index++) {
      const value = tidy(() => {
        const { value, gradient } = step(params, x, t);
        optimizer.step(gradient);
        return value;
      });
      if (index % 100 === 0) last = await value.item();
      value.dispose();
      counts.add(`${wasm.memory().liveAllocations} ${wasm.memory().inUseBytes}`);
    }
    expect([...counts]).toHaveLength(1);
    expect(last).toBeLessThan(0.01);
    for (const each of [...Object.values(params), x, t]) each.dispose();
  });

  test('a recorded step trains as one that is made each time', async () => {
    const [x, t] = [tensor(wasm, batch.x, [2, 2]), tensor(wasm, batch.t)];
    const [own, other] = [newParams(), newParams()];
    using optimizer = adamW(own, { rate: warmupCosine({ peak: 0.05, warmup: 5, total: 50 }) });
    using recordedOptimizer = adamW(other, { rate: warmupCosine({ peak: 0.05, warmup: 5, total: 50 }) });
    const stepOf = (params: typeof own, by: Optimizer<typeof own>) => (): Tensor =>
      tidy(() => {
        const { value, gradient } = valueAndGrad(loss)(params, x, t);
        clipByNorm(gradient, 1);
        by.step(gradient);
        return value;
      });
    using recorded = record(wasm, stepOf(other, recordedOptimizer));
    const losses: [number, number][] = [];
    for (let index = 0; index < 20; index++) {
      const value = stepOf(own, optimizer)();
      if (index > 0) recorded.replay();
      losses.push([await value.item(), await recorded.result.item()]);
      value.dispose();
    }
    for (const [a, b] of losses) expect(b).toBe(a);
    expect(losses.at(-1)?.[0]).toBeLessThan(0.7 * (losses[0]?.[0] as number));
    for (const each of [...Object.values(own), ...Object.values(other), x, t]) each.dispose();
  });
});
