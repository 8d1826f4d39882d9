import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import type { Arithmetic } from '../src/arithmetic/arithmetic.ts';
import { type Leaves, NodeLowering } from '../src/program/node-lowering.ts';
import { floatArithmetic } from './support/float-arithmetic.ts';

/** An expression: its text, and what it would compute. */
const text = new Proxy({} as Arithmetic<string>, {
  get:
    (_, name: string) =>
    (...operands: unknown[]) => {
      const values = operands.filter((operand) => typeof operand !== 'string' || !/^(f32|i32|u32|bool)$/.test(operand));
      return name === 'constant' ? `#${String(operands[1])}` : `${name}(${values.join()})`;
    },
});

const leaves: Leaves<string> = {
  parameter: ({ name }) => name,
  input: ({ name }) => name,
  axis: ({ kind, axis }) => `${kind}${axis}`,
  gather: ({ name }, _, outside, indices) => `${name}[${indices.join()}|${outside}]`,
  fold: ({ op }, index) => `${op}${index}`,
};

type Body = (k: KernelBuilder, x: Value<'f32'>, y: Value<'f32'>) => Value<'f32' | 'i32' | 'u32'>;

function lowered(body: Body): string {
  const kernel = defineKernel('kernel', { inputs: { x: 'f32', y: 'f32' } }, ({ x, y }, k) => ({
    z: body(k, x, y),
    used: k.select(k.eq(k.bitcast('u32', x), 0), x, y),
  }));
  return new NodeLowering(text, kernel, leaves).value(kernel.outputs[0]?.node as number);
}

describe('what compilers must not see', () => {
  it('is a sum or product that is added', () => {
    expect(lowered((k, x, y) => k.add(k.mul(x, y), x))).toBe('add(opaque(mul(x,y)),x)');
    expect(lowered((k, x, y) => k.sub(x, k.neg(k.add(x, y))))).toBe('sub(x,opaque(neg(add(x,y))))');
    expect(lowered((k, x, y) => k.mul(k.add(x, y), x))).toBe('mul(add(x,y),x)');
    expect(lowered((k, x, y) => k.add(x, y))).toBe('add(x,y)');
  });

  it('is one side of a value and itself', () => {
    expect(lowered((k, x) => k.sub(x, x))).toBe('sub(x,opaque(x))');
    expect(lowered((k, x) => k.mul(x, x))).toBe('mul(x,opaque(x))');
  });

  it('is what was computed and is told by its bits', () => {
    expect(lowered((k, x, y) => k.floor(k.mul(x, y)))).toContain('opaque(mul(x,y))');
    expect(lowered((k, x) => k.floor(x))).not.toContain('opaque');
    expect(lowered((k, x, y) => k.floor(k.select(k.eq(k.bitcast('u32', x), 1), k.add(x, y), x)))).toContain(
      'opaque(select',
    );
  });

  it('is not an integer', () => {
    expect(lowered((k, x, y) => k.add(k.add(k.bitcast('i32', x), k.bitcast('i32', y)), 1))).not.toContain('opaque');
  });
});

describe('scopes', () => {
  const kernel: Kernel = defineKernel('scopes', { inputs: { x: 'f32' }, params: { eps: 'f32' } }, ({ x, eps }, k) => {
    const mean = k.fold('mean', x);
    const shifted = k.add(mean, k.mul(eps, 2));
    return { y: k.sub(x, shifted), row: shifted };
  });
  const [y] = kernel.outputs.map(({ node }) => node) as [number];

  it('know the values around them, which are computed once', () => {
    const computed: string[] = [];
    const counted: Leaves<number> = {
      parameter: () => computed.push('eps') && 0.5,
      input: () => computed.push('x') && 4,
      axis: () => 0,
      gather: () => 0,
      fold: () => computed.push('mean') && 3,
    };
    const outer = new NodeLowering(floatArithmetic(), kernel, counted);
    for (const [index, { level }] of kernel.nodes.entries()) if (level === 'row') outer.value(index);
    expect(computed).toEqual(['mean', 'eps']);
    const inner = new NodeLowering(floatArithmetic(), kernel, counted, outer);
    expect([inner.value(y), inner.value(y)]).toEqual([0, 0]);
    expect(computed).toEqual(['mean', 'eps', 'x']);
  });
});
