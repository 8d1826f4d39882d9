import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { defineKernel, type InputSpecs, type Kernel, type KernelBuilder, kernelFromJson, type Value } from './index.ts';

type Symbols = Record<string, Value<'f32'>>;

/** A kernel from JavaScript that has no types. */
function define(
  inputs: object,
  compute: (symbols: Symbols, k: KernelBuilder) => unknown,
  params: object = {},
): Kernel<InputSpecs, {}, string> {
  return defineKernel('k', { inputs, params } as { inputs: InputSpecs }, compute as never);
}

const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.name('shifted', k.exp(k.sub(x, k.fold('max', x))));
  return { y: k.div(e, k.fold('sum', e)) };
});

describe('defineKernel', () => {
  it('keeps a frozen graph of data, operands first', () => {
    expect(softmax).toMatchObject({
      name: 'softmax',
      inputs: [{ name: 'x', type: 'f32', access: 'element', rank: 0 }],
      params: [],
      outputs: [{ name: 'y', type: 'f32', level: 'element', node: 5 }],
      hasRows: true,
      labels: { 3: 'shifted' },
      nodes: [
        { kind: 'input', name: 'x', type: 'f32', level: 'element' },
        { kind: 'fold', op: 'max', level: 'row', operands: [0] },
        { kind: 'arithmetic', op: 'sub', level: 'element', operands: [0, 1] },
        { kind: 'arithmetic', op: 'exp', operands: [2] },
        { kind: 'fold', op: 'sum', operands: [3] },
        { kind: 'arithmetic', op: 'div', operands: [3, 4] },
      ],
    });
    for (const part of [softmax, softmax.nodes, softmax.nodes[2], softmax.outputs[0], softmax.labels]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('merges equal nodes and drops dead ones, and simplifies nothing', () => {
    const { nodes, labels } = defineKernel('k', { inputs: { x: 'f32' } }, ({ x }, k) => {
      k.name('dead', k.exp(x));
      return { y: k.add(k.mul(x, 1), k.mul(x, k.f32(1))), z: k.sub(x, x) };
    });
    expect(nodes.map((node) => ('op' in node ? node.op : node.kind))).toEqual([
      'input',
      'constant',
      'mul',
      'add',
      'sub',
    ]);
    expect(labels).toEqual({});
  });

  it('refuses a name that would be a prototype', () => {
    const detail = 'kernel k: no input, parameter or output may be named __proto__';
    const named = { ['__proto__']: 'f32' };
    expectInvalid(() => define({ x: 'f32', ...named }, ({ x }) => ({ y: x })), detail);
    expectInvalid(() => define({ x: 'f32' }, ({ x }) => ({ y: x }), named), detail);
    expectInvalid(() => define({ x: 'f32' }, ({ x }) => ({ ['__proto__']: x })), detail);
  });

  it('has one key for every NaN', () => {
    const nans = [0x7ff8000000000000n, 0xfff8000000000000n, 0x7ffc000000000001n].map(
      (bits) => new Float64Array(BigUint64Array.of(bits).buffer)[0] as number,
    );
    const kernels = nans.map((nan) => define({ x: 'f32' }, ({ x }, k) => ({ y: k.add(x!, nan) })));
    expect(new Set(kernels.map(({ key }) => key)).size).toBe(1);
    expect(kernels[0]?.nodes[1]).toMatchObject({ kind: 'constant', bits: 0x7fc00000 });
  });

  it('has one key for equal graphs, whatever their names and the order of their making', () => {
    const one = define({ x: 'f32', z: 'f32' }, ({ x, z }, k) => ({ y: k.add(k.exp(x!), k.log(z!)) }));
    const other = defineKernel('other', { inputs: { x: 'f32', z: 'f32' } }, ({ x, z }, k) => {
      const log = k.name('label', k.log(z));
      return { y: k.add(k.exp(x), log) };
    });
    expect(other.key).toBe(one.key);
    const keys = [
      one.key,
      define({ x: 'f32', z: 'f32' }, ({ x, z }, k) => ({ y: k.add(k.log(z!), k.exp(x!)) })).key,
      define({ x: 'f32', z: 'f32' }, ({ x, z }, k) => ({ w: k.add(k.exp(x!), k.log(z!)) })).key,
      define({ z: 'f32', x: 'f32' }, ({ x, z }, k) => ({ y: k.add(k.exp(x!), k.log(z!)) })).key,
      define({ x: 'f32' }, ({ x, z }, k) => ({ y: k.add(k.exp(x!), k.log(z!)) }), { z: 'f32' }).key,
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('tells constants by their bits', () => {
    const of = (value: number) => define({ x: 'f32' }, ({ x }, k) => ({ y: k.add(x!, value) }));
    const bits = (kernel: Kernel) => kernel.nodes.flatMap((node) => (node.kind === 'constant' ? node.bits : []));
    expect([0, -0, Number.NaN, Infinity, 0.1].map((value) => bits(of(value))[0])).toEqual([
      0, 0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 0x3dcc_cccd,
    ]);
    expect(of(0).key).not.toBe(of(-0).key);
    expect(of(0.1).key).toBe(of(Math.fround(0.1)).key);
  });

  it('gives each value the finest level of its operands', () => {
    const levels = define(
      { x: 'f32', w: { type: 'f32', level: 'row' } },
      ({ x, w, eps }, k) => ({
        row: k.add(k.add(w!, eps!), k.toF32(k.rowIndex(0))),
        element: k.add(k.spread(k.add(eps!, k.toF32(k.extent(-1)))), x!),
      }),
      { eps: 'f32' },
    );
    expect(levels.outputs).toMatchObject([{ level: 'row' }, { level: 'element' }]);
    expect(levels.nodes.filter(({ kind }) => kind === 'extent' || kind === 'parameter')).toMatchObject([
      { level: 'call' },
      { level: 'call' },
    ]);
  });

  it('has rows where anything is at row level', () => {
    const hasRows = (inputs: object, compute: Parameters<typeof define>[1]) => define(inputs, compute).hasRows;
    expect(hasRows({ x: 'f32' }, ({ x }, k) => ({ y: k.exp(x!) }))).toBe(false);
    expect(hasRows({ x: 'f32' }, ({ x }, k) => ({ y: k.add(x!, k.toF32(k.index(-1))) }))).toBe(false);
    expect(hasRows({ x: 'f32' }, ({ x }, k) => ({ y: k.fold('sum', x!) }))).toBe(true);
    expect(hasRows({ x: 'f32' }, ({ x }, k) => ({ y: k.add(x!, k.toF32(k.rowIndex(0))) }))).toBe(true);
    expect(hasRows({ x: { type: 'f32', level: 'row' } }, ({ x }, k) => ({ y: k.spread(x!) }))).toBe(true);
  });

  it('takes clamp, bitcast of the same type and names as they are', () => {
    const { nodes } = define({ x: 'f32' }, ({ x }, k) => ({ y: k.clamp(k.bitcast('f32', x!), -1, 1) }));
    expect(nodes.map((node) => ('op' in node ? node.op : node.kind))).toEqual([
      'input',
      'constant',
      'max',
      'constant',
      'min',
    ]);
  });
});

describe('limits', () => {
  const inputs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 'f32']));
  const sumOf = (symbols: Symbols, k: KernelBuilder) => Object.values(symbols).reduce((a, b) => k.add(a, b));

  it('8 inputs and outputs, 7 with rows, an output in the place of an input counted with it', () => {
    expect(define(inputs(7), (all, k) => ({ y: sumOf(all, k) })).inputs).toHaveLength(7);
    const two = (all: Symbols, k: KernelBuilder) => ({ y: sumOf(all, k), z: all['x0'] });
    expect(define(inputs(6), two).outputs).toHaveLength(2);
    expectInvalid(() => define(inputs(7), two), 'kernel k: 9 inputs and outputs exceed the limit of 8');
    const inPlace = (all: Symbols, k: KernelBuilder) => ({ y: sumOf(all, k), x0: all['x1'], x1: all['x0'] });
    expect(define(inputs(7), inPlace).outputs).toHaveLength(3);
    expectInvalid(() => define(inputs(8), inPlace), 'kernel k: 9 inputs and outputs exceed the limit of 8');
    const row = (all: Symbols, k: KernelBuilder) => ({ y: k.fold('sum', sumOf(all, k)) });
    expect(define(inputs(6), row).hasRows).toBe(true);
    expectInvalid(() => define(inputs(7), row), 'kernel k: 8 inputs and outputs exceed the limit of 7');
  });

  it('16 parameters', () => {
    const compute = (all: Symbols, k: KernelBuilder) => ({ y: k.spread(sumOf(all, k)) });
    expect(define({}, compute, inputs(16)).params).toHaveLength(16);
    expectInvalid(() => define({}, compute, inputs(17)), 'kernel k: 17 parameters exceed the limit of 16');
  });

  it('256 nodes, and a long chain is no problem before that is known', () => {
    const chain =
      (length: number) =>
      ({ x }: Symbols, k: KernelBuilder) => {
        let y = x as Value<'f32'>;
        for (let i = 1; i < length; i++) y = k.neg(y);
        return { y };
      };
    expect(define({ x: 'f32' }, chain(256)).nodes).toHaveLength(256);
    expectInvalid(() => define({ x: 'f32' }, chain(257)), 'kernel k: 257 nodes exceed the limit of 256');
    expectInvalid(() => define({ x: 'f32' }, chain(20_000)), 'kernel k: 20000 nodes exceed the limit of 256');
  });
});

describe('what is refused', () => {
  const x = { x: 'f32' };
  const foreign: Value<'f32'>[] = [];
  define(x, (symbols, k) => {
    foreign.push(k.exp(symbols['x'] as Value<'f32'>));
    return { y: symbols['x'] };
  });
  type Case = [detail: string, inputs: object, compute: (s: Symbols, k: never) => unknown, params?: object];
  /** What a builder takes of those who write no types. */
  type Untyped = Record<keyof KernelBuilder, (...args: unknown[]) => never>;
  const any = (compute: (s: Record<'x' | 'z', never>, k: Untyped) => unknown) => compute as unknown as Case[2];

  it.each<Case>([
    ['x must be f32, i32 or u32, got "bool"', { x: 'bool' }, any(() => ({}))],
    ['x must be a type, got 5', { x: 5 }, any(() => ({}))],
    ['x must be f32, i32 or u32, got undefined', { x: { level: 'row' } }, any(() => ({}))],
    [
      "x must have level: 'row' or access: 'gather', got \"call\"",
      { x: { type: 'f32', level: 'call' } },
      any(() => ({})),
    ],
    ['x must have a rank from 1 to 4, got 5', { x: { type: 'f32', access: 'gather', rank: 5 } }, any(() => ({}))],
    ['p must be f32, i32 or u32, got "f16"', x, any(() => ({})), { p: 'f16' }],
    ['x is an input and a parameter', x, any(() => ({})), { x: 'f32' }],
    ['the function must return its outputs by name, got undefined', x, any(() => undefined)],
    ['the function must return its outputs by name, got Object', x, any(() => ({}))],
    ['output y must be a value of this kernel, got 5', x, any(() => ({ y: 5 }))],
    [
      'output y must be a value of this kernel, got a value of another defineKernel call',
      x,
      any(() => ({ y: foreign[0] })),
    ],
    ['output y is a bool, which cannot be stored', x, any((s, k) => ({ y: k.gt(s.x, 0) }))],
    ['output y is one value a call; k.spread makes it one an element', x, any((_s, k) => ({ y: k.f32(1) }))],
    ['x is an input and an output, which must be elements of one type then', x, any((s, k) => ({ x: k.toI32(s.x) }))],
    [
      'x is an input and an output, which must be elements of one type then',
      x,
      any((s, k) => ({ x: k.fold('sum', s.x) })),
    ],
    ['z is declared but no output depends on it', { x: 'f32', z: 'f32' }, any((s) => ({ y: s.x }))],
    ['p is declared but no output depends on it', x, any((s) => ({ y: s.x })), { p: 'f32' }],
    ['add takes 2 operands, got 1', x, any((s, k) => k.add(s.x))],
    ['add needs a value among its operands, not plain numbers alone', x, any((_s, k) => k.add(1, 2))],
    ['an operand of add must be a value of this kernel, got undefined', x, any((s, k) => k.add(s.z, 1))],
    ['the function must return values by names of outputs: { y: value }', x, (s) => s.x],
    ['an operand of add must be a value of this kernel, got "1"', x, any((s, k) => k.add(s.x, '1'))],
    [
      'an operand of add must be a value of this kernel, got a value of another defineKernel call',
      x,
      any((s, k) => k.add(s.x, foreign[0])),
    ],
    ['an operand of add must be a value of this kernel, got Object', x, any((s, k) => k.add(s.x, { ...foreign[0] }))],
    ['add takes operands of one type, got f32 and u32', x, any((s, k) => k.add(s.x, k.index(0)))],
    ['add takes f32 or i32 or u32, got bool', x, any((_s, k) => k.add(k.bool(true), true))],
    ['rem takes i32 or u32, got f32', x, any((s, k) => k.rem(s.x, 2))],
    ['an f32 must be a number, got true', x, any((s, k) => k.add(s.x, true))],
    ['a bool must be true or false, got 1', x, any((_s, k) => k.bool(1))],
    ['an i32 must be an integer from -2147483648 to 2147483647, got 0.5', x, any((_s, k) => k.i32(0.5))],
    ['an u32 must be an integer from 0 to 4294967295, got -1', x, any((_s, k) => k.add(k.index(0), -1))],
    ['the condition of select must be a value of this kernel, got true', x, any((s, k) => k.select(true, s.x, 0))],
    ['the condition of select must be a bool, got f32', x, any((s, k) => k.select(s.x, s.x, 0))],
    ['index takes an axis from -8 to 7, got 8', x, any((_s, k) => k.index(8))],
    ['extent takes an axis from -8 to 7, got -9', x, any((_s, k) => k.extent(-9))],
    ['rowIndex takes an axis from -8 to 7, got 0.5', x, any((_s, k) => k.rowIndex(0.5))],
    ['fold sum takes f32 or i32 or u32, got bool', x, any((s, k) => k.fold('sum', k.gt(s.x, 0)))],
    ['fold any takes bool, got f32', x, any((s, k) => k.fold('any', s.x))],
    ['the operand of fold max must be a value of this kernel, got 5', x, any((_s, k) => k.fold('max', 5))],
    [
      'fold takes one of sum, product, max, min, mean, any, all, count, argmax, argmin, got "toString"',
      x,
      any((s, k) => k.fold('toString', s.x)),
    ],
    ['bitcast takes f32, i32 or u32, got "bool"', x, any((s, k) => k.bitcast('bool', s.x))],
    ['a name must be a string, got ""', x, any((s, k) => k.name('', s.x))],
    ['what is named a must be a value of this kernel, got 1', x, any((_s, k) => k.name('a', 1))],
    [
      "gather reads an input that is declared with access: 'gather', got a value",
      x,
      any((s, k) => k.gather(s.x, [], 0)),
    ],
  ])('%s', (detail, inputs, compute, params) => {
    expectInvalid(() => define(inputs, compute as never, params), `kernel k: ${detail}`);
  });

  it.each([
    ['gather of t takes 2 indices, got [0]', (k: KernelBuilder, t: never) => k.gather(t, [0 as never], 0)],
    [
      'an index of t must be a value of this kernel, got 0',
      (k: KernelBuilder, t: never) => k.gather(t, [0, 0] as never, 0),
    ],
    [
      'an index of t must be a u32 or i32, got f32',
      (k: KernelBuilder, t: never) => k.gather(t, [k.index(0), k.f32(1) as never], 0),
    ],
    [
      'gather of t is f32, otherwise is u32',
      (k: KernelBuilder, t: never) => k.gather(t, [k.index(0), k.index(1)], k.u32(0) as never),
    ],
  ] as [string, (k: KernelBuilder, t: never) => unknown][])('%s', (detail, compute) => {
    const t = { t: { type: 'f32', access: 'gather', rank: 2 } };
    expectInvalid(() => define(t, (symbols, k) => ({ y: compute(k, symbols['t'] as never) })), `kernel k: ${detail}`);
  });

  it('a name that is none', () => {
    expectInvalid(() => defineKernel('', {}, () => ({})), 'a kernel\'s name must be a string, got ""');
    expectInvalid(() => defineKernel(5 as never, {}, () => ({})), "a kernel's name must be a string, got 5");
    const long = 'x'.repeat(1e6);
    expectInvalid(
      () => defineKernel(long, {}, () => ({})),
      "a kernel's name must have at most 1024 letters, got 1000000",
    );
    const named = 'kernel k: a name must have at most 1024 letters, got 1000000';
    expectInvalid(() => define({ [long]: 'f32' }, () => ({})), named);
    expectInvalid(() => define({ x: 'f32' }, ({ x }) => ({ [long]: x })), named);
    expectInvalid(() => define({ x: 'f32' }, ({ x }, k) => ({ y: k.name(long, x!) })), named);
  });

  it.each<[string, unknown, unknown]>([
    ["a kernel's declarations must be an object, got null", null, () => ({})],
    ["a kernel's declaration has no field input; did you mean inputs?", { input: { x: 'f32' } }, () => ({})],
    ['kernel k: inputs must be an object, got null', { inputs: null }, () => ({})],
    ['kernel k: params must be an object, got "f32"', { params: 'f32' }, () => ({})],
    ['kernel k: the last argument must be a function, got 5', {}, 5],
  ])('%s', (detail, spec, compute) => {
    expectInvalid(() => defineKernel('k', spec as never, compute as never), detail);
  });
});

describe('scatter', () => {
  const output = { type: 'f32', access: 'scatter', rank: 1, mode: 'add' } as const;
  const kernel = defineKernel('k', { inputs: { x: 'f32', i: 'i32' }, outputs: { y: output } }, ({ x, i }, k) => ({
    y: k.scatter(k.neg(x), [i]),
    z: x,
  }));

  it('is data of the output, which JSON keeps', () => {
    expect(kernel.outputs).toEqual([
      { name: 'y', type: 'f32', level: 'element', node: 1, scatter: { mode: 'add', indices: [2] } },
      { name: 'z', type: 'f32', level: 'element', node: 0 },
    ]);
    expect(kernelFromJson(JSON.parse(JSON.stringify(kernel)))).toEqual(kernel);
  });

  it('is of the finest level of its value and indices', () => {
    const levelOf = (place: (k: KernelBuilder) => Value<'u32'>): string | undefined =>
      defineKernel('k', { inputs: { x: 'f32' }, outputs: { y: output } }, ({ x }, k) => ({
        y: k.scatter(k.fold('max', x), [place(k)]),
      })).outputs[0]?.level;
    expect(levelOf((k) => k.u32(0))).toBe('row');
    expect(levelOf((k) => k.index(0))).toBe('element');
  });

  it.each([
    [
      'of another type',
      { ...output, type: 'u32' },
      (x, i, k) => k.scatter(x, [i]),
      /declared as u32, its scatter is f32/,
    ],
    ['of another rank', { ...output, rank: 2 }, (x, i, k) => k.scatter(x, [i]), /rank 2, its scatter has 1 indices/],
    ['by floats', output, (x, _, k) => k.scatter(x, [x as never]), /an index of scatter must be a u32 or i32, got f32/],
    ['without indices', output, (x, _, k) => k.scatter(x, []), /scatter takes 1 to 4 indices/],
    ['that is none', output, (x) => x, /must be what k.scatter gives, got a value/],
    ['that is computed with', output, (x, i, k) => k.add(x, k.scatter(x, [i]) as never), /got a scatter/],
    ['once a call', output, (_x, _i, k) => k.scatter(k.f32(1), [k.u32(0)]), /one value a call/],
    ['in no mode', { ...output, mode: 'mul' }, (x, i, k) => k.scatter(x, [i]), /mode of set, add, max, min, got "mul"/],
  ] as [string, object, (x: Value<'f32'>, i: Value<'i32'>, k: KernelBuilder) => unknown, RegExp][])(
    'refuses one %s',
    (_, spec, place, detail) => {
      const compute = ({ x, i }: { x: Value<'f32'>; i: Value<'i32'> }, k: KernelBuilder) => ({
        y: place(x, i, k),
        z: k.add(x, k.toF32(i)),
      });
      const define = (): unknown =>
        defineKernel('k', { inputs: { x: 'f32', i: 'i32' }, outputs: { y: spec } } as never, compute as never);
      expectInvalid(define, detail);
    },
  );
});
