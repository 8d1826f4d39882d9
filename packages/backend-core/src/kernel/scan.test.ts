import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { checkRun } from './check-run.ts';
import { defineKernel, type KernelBuilder, kernelFromJson, type Value } from './index.ts';

const kernel = defineKernel('k', { inputs: { x: 'f32', r: { type: 'u32', level: 'row' } } }, ({ x, r }, k) => ({
  y: k.scan('max', k.sub(x, k.fold('max', x)), { exclusive: true }),
  z: k.scan('sum', r),
}));

/** Defines a kernel of what a function gives of an element, an integer and a truth. */
const define = (compute: (k: KernelBuilder, x: Value<'f32'>) => unknown) => (): unknown =>
  defineKernel('k', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: compute(k, x) as Value<'f32'> }));

describe('scan', () => {
  it('is a value of elements, of coarser ones repeated, which JSON keeps', () => {
    const scans = kernel.nodes.filter(({ kind }) => kind === 'scan');
    expect(scans).toMatchObject([
      { op: 'max', type: 'f32', level: 'element', exclusive: true, reverse: false },
      { op: 'sum', type: 'u32', level: 'element', exclusive: false, reverse: false },
    ]);
    expect(kernelFromJson(JSON.parse(JSON.stringify(kernel)))).toEqual(kernel);
    const document = JSON.parse(JSON.stringify(kernel)) as { nodes: { kind: string; reverse?: unknown }[] };
    for (const node of document.nodes) if (node.kind === 'scan') node.reverse = 1;
    expectInvalid(() => kernelFromJson(document), /the options of scan are bools, got 1/);
  });

  it('folds axes, and is a feature that a backend must have', () => {
    const lone = defineKernel('lone', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.scan('sum', x) }));
    expect(lone.hasRows).toBe(true);
    expectInvalid(() => checkRun(lone, { shape: [3] }), /folded must say/);
    expect(checkRun(lone, { shape: [3], folded: 1 }).needs).toEqual(['scan']);
  });

  it('is another node in another direction or without the element', () => {
    const four = defineKernel('four', { inputs: { x: 'f32' } }, ({ x }, k) => ({
      a: k.add(k.scan('sum', x), k.scan('sum', x, { exclusive: true })),
      b: k.scan('sum', x, { reverse: false }),
    }));
    expect(four.nodes.filter(({ kind }) => kind === 'scan')).toHaveLength(2);
  });

  it.each([
    [
      'a fold of a scan',
      (k, x) => k.spread(k.fold('sum', k.neg(k.scan('sum', x)))),
      /fold sum takes nothing that depends/,
    ],
    ['a scan of a scan', (k, x) => k.scan('max', k.scan('sum', x)), /scan max takes nothing that depends on a scan/],
    ['both directions', (k, x) => k.add(k.scan('sum', x), k.scan('sum', x, { reverse: true })), /both directions/],
    ['another op', (k, x) => k.scan('mean' as 'sum', x), /scan takes one of sum, product, max, min, got "mean"/],
    ['truths', (k, x) => k.scan('sum', k.gt(x, 0) as never), /takes f32 or i32 or u32, got bool/],
    ['numbers', (k) => k.scan('sum', 3 as never), /the operand of scan sum must be a value/],
    ['options that are none', (k, x) => k.scan('sum', x, true as never), /options of scan must be an object, got true/],
    ['an unknown option', (k, x) => k.scan('sum', x, { inclusive: true } as never), /inclusive/],
    ['an option that is no bool', (k, x) => k.scan('sum', x, { reverse: 1 as never }), /are bools, got 1/],
  ] as [string, (k: KernelBuilder, x: Value<'f32'>) => unknown, RegExp][])('refuses %s', (_, compute, detail) => {
    expectInvalid(define(compute), detail);
  });
});
