import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { defineKernel, type Kernel, type KernelBuilder } from './index.ts';

/** Symbols as a program without types uses them. */
type Untyped = Record<'x' | 'p' | 't', never>;
type UntypedBuilder = Record<keyof KernelBuilder, (...operands: unknown[]) => never>;

/** A kernel of an input, a parameter and a gather input, from JavaScript that has no types. */
function define(compute: (symbols: Untyped, k: UntypedBuilder) => unknown): Kernel {
  const inputs = { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } } as const;
  return defineKernel('k', { inputs, params: { p: 'f32' } }, compute as never);
}

const START = "kernel k: JavaScript's operators and functions do not compute with symbols: write ";

describe("JavaScript's own operators", () => {
  it.each<[string, string, (symbols: Untyped, k: UntypedBuilder) => unknown]>([
    ['x > 0 ? x : -x', 'k.gt(x, 0) for x > 0', ({ x }, k) => (x > 0 ? x : k.neg(x))],
    ['x * 2', 'k.mul(x, 2) for x * 2', ({ x }, k) => k.add(x, x * 2)],
    ['x - x', 'k.mul(x, 2) for x * 2', ({ x }) => x - x],
    ['-x', 'k.neg(x) for -x', ({ x }) => -x],
    ['x | 0', 'k.mul(x, 2) for x * 2', ({ x }) => x | 0],
    ['Math.exp(x)', 'k.exp(x) for Math.exp(x)', ({ x }) => Math.exp(x)],
    ['a comparison in ? :', 'k.select(c, a, b) for c ? a : b', ({ x, p }) => (x < p ? x : p)],
    ['x + 1', 'k.add(x, y) for x + y', ({ x }) => (x as number) + 1],
    // oxlint-disable-next-line eslint/eqeqeq -- what a program may write
    ['x == 1', 'k.eq(x, y) for x == y', ({ x }) => x == 1],
    ['a parameter', 'k.mul(x, 2) for x * 2', ({ p }) => p * 2],
    ['a gather input', 'k.mul(x, 2) for x * 2', ({ t }) => t * 2],
    ['a list at x', 'k.gather(input, [i], otherwise) for input[i]', ({ x }) => [1, 2][x]],
    ['a text', 'a value has no text', ({ x }) => String(x)],
    ['a computed value', 'k.mul(x, 2) for x * 2', ({ x }, k) => k.exp(x) * 2],
  ])('%s', (_, instead, compute) => {
    const { detail } = expectInvalid(() => define(compute));
    expect(detail.startsWith(START), detail).toBe(true);
    expect(detail).toContain(instead);
  });

  it('that cannot throw are what an unused input is said to come from', () => {
    const { hint } = expectInvalid(
      () => define(({ x, p }) => ({ y: x ? x : p })),
      'kernel k: t is declared but no output depends on it',
    );
    expect(hint).toContain('write k.select(c, a, b)');
  });

  it.each<[string, string, (symbols: Untyped, k: UntypedBuilder) => unknown]>([
    [
      'x === p as a condition',
      'the condition of select must be a value of this kernel, got false',
      ({ x, p }, k) => k.select(x === p, x, p),
    ],
    ['!x as a number', 'an f32 must be a number, got false', ({ x }, k) => k.add(x, !x)],
    ['x === p as an output', 'output y must be a value of this kernel, got false', ({ x, p }) => ({ y: x === p })],
  ])('%s', (_, detail, compute) => {
    const { hint } = expectInvalid(() => define(compute), `kernel k: ${detail}`);
    expect(hint).toContain('write k.eq(a, b), k.and(a, b), k.not(a)');
  });
});

describe('a symbol', () => {
  const symbols: unknown[] = [];
  define(({ x, p, t }, k) => {
    symbols.push(x, p, t);
    return { y: k.add(k.mul(x, p), k.gather(t, [k.index(0)], 0)) };
  });

  it('can be looked at', () => {
    expect(symbols.map((symbol) => inspect(symbol))).toEqual([
      "NodeValue { type: 'f32', level: 'element', node: 0 }",
      "NodeValue { type: 'f32', level: 'call', node: 1 }",
      expect.stringMatching(/^GatherHandle \{/),
    ]);
    expect(JSON.stringify(symbols[0])).toBe('{"type":"f32","level":"element","node":0}');
    expect(typeof symbols[0]).toBe('object');
  });

  it.each<[string, (own: object) => unknown]>([
    ['a copy', (own) => ({ ...own })],
    ['a copy with another node', (own) => ({ ...own, node: 999 })],
    [
      'one of its class',
      (own) => Object.create(Object.getPrototypeOf(own) as object, Object.getOwnPropertyDescriptors(own)),
    ],
    ['what inherits from it', (own) => Object.create(own)],
    ['a proxy', (own) => new Proxy(own, {})],
    [
      'a proxy that throws',
      (own) =>
        new Proxy(own, {
          get: () => {
            throw new Error('a trap');
          },
          getPrototypeOf: () => {
            throw new Error('a trap');
          },
        }),
    ],
  ])('forged: %s', (_, forge) => {
    const uses: ((symbols: Untyped, k: UntypedBuilder) => unknown)[] = [
      ({ x }) => ({ y: forge(x) }),
      ({ x }, k) => k.add(x, forge(x)),
      ({ x }, k) => k.add(forge(x), 1),
      ({ x, t }, k) => k.gather(forge(t), [k.toI32(x)], 0),
    ];
    for (const use of uses) expectInvalid(() => define(use));
  });

  it('of another call of defineKernel', () => {
    const [x, , t] = symbols;
    expectInvalid(
      () => define(({ x: own }, k) => k.add(own, x)),
      'kernel k: an operand of add must be a value of this kernel, got a value of another defineKernel call',
    );
    expectInvalid(
      () => define(({ x: own }, k) => k.gather(t, [k.toI32(own)], 0)),
      "kernel k: gather reads an input that is declared with access: 'gather', got a gather input of another defineKernel call",
    );
  });
});

it('names of operations are texts, not what converts to one', () => {
  expectInvalid(() => define(({ x }, k) => k.fold(['sum'], x)));
  expectInvalid(() => define(({ x }, k) => k.bitcast(['u32'], x)));
});
