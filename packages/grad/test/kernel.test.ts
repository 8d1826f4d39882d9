import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { expect, test } from 'vitest';
import { vjpKernel } from '../src/index.ts';
import { productsOfKernel } from './support/drawn.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const floats = Object.fromEntries(NAMES.map((name) => [name, 'f32' as const]));

/** Fails unless `<vjp(g), v>` is `<g, jvp(v)>`. */
function expectAdjoint(kernel: Kernel, shape: number[], folded: number): void {
  const { left, right, scale } = productsOfKernel(kernel, { shape, folded, params: {} });
  expect(Math.abs(left - right)).toBeLessThanOrEqual(2e-6 * scale);
  expect(scale).toBeGreaterThan(0);
}

test('gradients of six inputs with rows take several kernels, each within its limits', () => {
  const kernel = defineKernel('six', { inputs: floats }, (xs, k) => {
    const all = NAMES.map((name) => xs[name] as Value<'f32'>);
    const product = all.reduce((product, x, at) => k.mul(product, k.add(k.sin(x), at)));
    return { y: k.mul(product, k.fold('mean', product)) };
  }) as Kernel;
  const { parts } = vjpKernel(kernel);
  expect(parts.length).toBeGreaterThan(1);
  expectAdjoint(kernel, [2, 3], 1);
});

test('scans of scans, forth and back, exchange values', () => {
  for (const reverse of [false, true]) {
    const kernel = defineKernel('scans', { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } } }, ({ x, r }, k) => {
      const sums = k.scan('sum', k.mul(x, r), { reverse });
      const products = k.scan('product', k.sin(x), { reverse, exclusive: true });
      return { y: k.mul(k.exp(k.mul(sums, 0.1)), products), z: k.add(sums, k.fold('max', x)) };
    }) as Kernel;
    expectAdjoint(kernel, [3, 5], 1);
  }
});

test('a scan that a gather passes on is stored as well, where later parts read it', () => {
  const t = { type: 'f32', access: 'gather', rank: 1 } as const;
  const kernel = defineKernel('passed on', { inputs: { x: 'f32', t } }, ({ x, t }, k) => ({
    y: k.scan('sum', k.gather(t, [k.index(-1)], k.fold('mean', x))),
  })) as Kernel;
  const { parts } = vjpKernel(kernel);
  const stored = new Set(parts.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  const read = parts.flatMap(({ kernel }) => kernel.inputs.map(({ name }) => name));
  expect(read.filter((name) => name.startsWith('value ') && !stored.has(name))).toEqual([]);
  expect(read.some((name) => name.startsWith('value '))).toBe(true);
});

test('what is added to is an input and an output in one place', () => {
  const kernel = defineKernel('square', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, x) })) as Kernel;
  const [part] = vjpKernel(kernel, ['x'], { adds: ['x'] }).parts;
  expect(part?.kernel.inputs.map(({ name }) => name)).toContain('d x');
  expect(part?.outputs).toEqual([
    { name: 'd x', input: 'x', level: 'element', type: 'f32', isGathered: false, adds: true },
  ]);
});

test('a gradient that is that of the output takes no kernel', () => {
  const kernel = defineKernel('sum', { inputs: { x: 'f32', y: 'f32' } }, ({ x, y }, k) => ({
    z: k.add(x, y),
  })) as Kernel;
  const { parts, same } = vjpKernel(kernel);
  expect([parts.length, [...same]]).toEqual([
    0,
    [
      ['y', 'z'],
      ['x', 'z'],
    ],
  ]);
  expect([...vjpKernel(kernel, ['x', 'y'], { given: [] }).same]).toEqual([]);
});

test('names that are taken, and wrong ones', () => {
  const kernel = defineKernel('named', { inputs: { 'd y': 'f32', 'dd x': 'f32' } }, (xs, k) => ({
    x: k.mul(xs['d y'], k.exp(xs['dd x'])),
  })) as Kernel;
  expectAdjoint(kernel, [4], 0);
  expect(() => vjpKernel(kernel, ['z'])).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  expect(() => vjpKernel(kernel, ['dd x'], { given: ['y'] })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
});

test('a gradient beyond the limits is cut where values can be stored', () => {
  const names = [...NAMES, 'g'];
  const seven = { inputs: Object.fromEntries(names.map((name) => [name, 'f32' as const])) };
  const kernel = defineKernel('seven', seven, (xs, k) => {
    return { y: names.map((name) => xs[name] as Value<'f32'>).reduce((product, x) => k.mul(product, k.sin(x))) };
  }) as Kernel;
  expectAdjoint(kernel, [4], 0);
  const rows = defineKernel('rows', { inputs: floats }, (xs, k) => {
    const product = NAMES.map((name) => xs[name] as Value<'f32'>).reduce((product, x) => k.mul(product, k.exp(x)));
    return { y: k.div(product, k.fold('sum', product)) };
  }) as Kernel;
  expectAdjoint(rows, [2, 3], 1);
  const long = defineKernel('long', { inputs: { x: 'f32' } }, ({ x }, k) => {
    let y: Value<'f32'> = x;
    for (let at = 0; at < 60; at++) y = k.add(k.sin(k.mul(y, 1 + at / 64)), x);
    return { y };
  }) as Kernel;
  expect(vjpKernel(long).parts.length).toBeGreaterThan(1);
  expectAdjoint(long, [3], 0);
});

test('scans of max and min need the rank of the domain, and are added by place', () => {
  for (const reverse of [false, true]) {
    const kernel = defineKernel('peaks', { inputs: { x: 'f32' } }, ({ x }, k) => {
      // An exclusive one begins at infinity.
      const least = k.min(k.scan('min', x, { exclusive: true, reverse }), 9);
      return { y: k.mul(k.scan('max', k.sin(x), { reverse }), least), z: k.scan('max', x, { reverse }) };
    }) as Kernel;
    expect(() => vjpKernel(kernel)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    const outputs = vjpKernel(kernel, ['x'], { rank: 3 }).parts.flatMap((part) => part.outputs);
    expect(outputs.filter(({ input, isGathered }) => input === undefined && isGathered)).toHaveLength(3);
    expectAdjoint(kernel, [2, 3, 4], 2);
  }
});

test('an output that combines by max counts what it is equal to', () => {
  const outputs = { y: { type: 'f32', access: 'scatter', rank: 1, mode: 'max' } } as const;
  const kernel = defineKernel('highest', { inputs: { x: 'f32', i: 'i32' }, outputs }, ({ x, i }, k) => ({
    y: k.scatter(k.mul(x, x), [i]),
  })) as Kernel;
  const { parts, ties, gradientOf, resultOf } = vjpKernel(kernel);
  const reads = (list: typeof parts): string[][] =>
    list.map(({ kernel }) => kernel.inputs.map(({ name }) => name).sort());
  expect(reads(parts)).toEqual([[gradientOf('y'), 'i', resultOf('y'), 'x'].sort()]);
  expect(reads(ties.get('y') ?? [])).toEqual([['i', resultOf('y'), 'x'].sort()]);
});
