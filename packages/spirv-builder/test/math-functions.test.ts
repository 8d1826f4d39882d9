import { expect, it } from 'vitest';
import { type FunctionBuilder, type MathFunction, ModuleBuilder, type Value } from '../src/index.ts';
import { MATH } from '../src/ops/math.ts';
import { needSpirvTools, validationErrors } from './support/spirv-tools.ts';

function write(code: (k: FunctionBuilder, x: Value, n: Value) => void): Uint32Array {
  const module = new ModuleBuilder();
  const parameters = { x: module.float(32), n: module.int(32) };
  module.kernel('test', parameters, (k, args) => code(k, args.x, args.n));
  return module.build();
}

it('writes each with the operands that it is listed with, and spirv-val accepts it', (context) => {
  const module = write((k, x, n) => {
    for (const [name, { kind, count }] of MATH) {
      const operand = kind === 'float' ? x : n;
      k.math(name as MathFunction, operand, ...Array.from({ length: count - 1 }, () => operand));
    }
  });
  expect(module.length).toBeGreaterThan(5 * MATH.size);
  needSpirvTools(context);
  expect(validationErrors([module], 'opencl2.2')).toEqual([]);
});

it('refuses other operands', () => {
  expect(() => write((k, x) => k.math('fma', x, x))).toThrow('kernel test, fma: takes 3 operands, got 2');
  expect(() => write((k, _, n) => k.math('exp', n))).toThrow('kernel test, exp: takes float, got u32');
  expect(() => write((k, x) => k.math('u_max', x, x))).toThrow('kernel test, u_max: takes int, got f32');
  expect(() => write((k) => k.math('s_mul24', k.globalId(0), 1))).toThrow('s_mul24: takes 32-bit int, got u64');
  expect(() => write((k, x) => k.math('sincos' as MathFunction, x, x))).toThrow('there is no sincos');
});
