import { expect, it } from 'vitest';
import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '../contract/function-names.ts';
import { binaryKernel, builtInOf, defineKernel, kernelFromJson, reduceKernel, unaryKernel } from './index.ts';

it('a built-in is known by its graph, whatever its name', () => {
  for (const name of UNARY_OPS) expect(builtInOf(unaryKernel(name))).toEqual({ op: 'unary', function: name });
  for (const name of BINARY_OPS) expect(builtInOf(binaryKernel(name))).toEqual({ op: 'binary', function: name });
  for (const name of REDUCE_OPS) expect(builtInOf(reduceKernel(name))).toEqual({ op: 'reduce', function: name });
  const relu = defineKernel('clip', { inputs: { input: 'f32' } }, ({ input }, k) => ({ output: k.max(input, 0) }));
  expect(builtInOf(relu)).toEqual({ op: 'unary', function: 'relu' });
  expect(builtInOf(kernelFromJson(JSON.parse(JSON.stringify(relu))))).toEqual({ op: 'unary', function: 'relu' });
});

it('and anything else is not', () => {
  const other = defineKernel('relu', { inputs: { input: 'f32' } }, ({ input }, k) => ({ output: k.max(input, 1) }));
  expect(builtInOf(other)).toBeUndefined();
});

it('each is made once, and its graph is its own', () => {
  const all = [...UNARY_OPS.map(unaryKernel), ...BINARY_OPS.map(binaryKernel), ...REDUCE_OPS.map(reduceKernel)];
  expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  expect(unaryKernel('exp')).toBe(unaryKernel('exp'));
  expect(reduceKernel('sum').hasRows).toBe(true);
});
