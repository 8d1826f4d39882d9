import { describe, expect, it } from 'vitest';
import { instructionsOf } from './list-instructions.ts';
import { thrown } from '../test/support/thrown.ts';
import type { FunctionBuilder } from './function-builder.ts';
import { ExecutionMode, Op } from './generated/spirv.ts';
import { ModuleBuilder } from './module-builder.ts';
import type { Value } from './value.ts';

/** Writes a kernel with a float, an unsigned integer and a pointer to floats. */
function write(code: (k: FunctionBuilder, args: { x: Value; n: Value; p: Value }) => void): Uint32Array {
  const module = new ModuleBuilder();
  const f32 = module.float(32);
  module.kernel('test', { x: f32, n: module.int(32), p: module.globalPointer(f32) }, code);
  return module.build();
}

const misuse = (code: Parameters<typeof write>[0]): string => thrown(() => write(code));

describe('misuse is refused, with its place', () => {
  it('operands of different types', () => {
    expect(misuse((k, { x, n }) => k.add(x, n))).toBe('kernel test, add: operand 2 is u32, expected f32');
  });

  it('an operation on a type that it does not take', () => {
    expect(misuse((k, { n }) => k.div(n, n))).toBe('kernel test, div: takes float operands, got u32');
    expect(misuse((k, { x }) => k.ult(x, x))).toBe('kernel test, ult: takes int operands, got f32');
    expect(misuse((k, { x }) => k.not(x))).toContain('takes int or bool operands');
    expect(misuse((k, { n }) => k.math('fma', n, 1.5, n))).toBe('kernel test, fma: takes float, got u32');
  });

  it('literals that a type cannot hold', () => {
    expect(misuse((k, { n }) => k.add(n, 2 ** 32))).toContain('number 4294967296 is not of type u32');
    expect(misuse((k, { n }) => k.add(n, 0.5))).toContain('number 0.5 is not of type u32');
    expect(misuse((k, { x }) => k.add(x, true))).toContain('boolean true is not of type f32');
    expect(misuse((k) => k.add(1, 2))).toContain('one operand at least must be a value');
  });

  it('a value of another function', () => {
    const module = new ModuleBuilder();
    let stranger: Value | undefined;
    module.kernel('first', { x: module.float(32) }, (k, { x }) => void (stranger = k.add(x, 1)));
    const second = (): void => module.kernel('second', { x: module.float(32) }, (k, { x }) => void k.add(x, stranger!));
    expect(second).toThrow('kernel second, add: operand 2 is used outside of the branch, loop or function');
  });

  it('a value before or outside of the branch that defines it', () => {
    const leak = misuse((k, { x, p }) => {
      let inner = x;
      k.when(k.lt(x, 1), () => void (inner = k.add(x, 1)));
      k.store(p, inner);
    });
    expect(leak).toBe('kernel test, store: value is used outside of the branch, loop or function that defines it');
  });

  it('a value of a loop after the loop', () => {
    const leak = misuse((k, { n, p }) => {
      let inner: Value | undefined;
      k.forLoop({ to: n }, [], (i) => void (inner = k.utof(i, k.types.float(32))));
      k.store(p, inner!);
    });
    expect(leak).toContain('used outside of the branch, loop or function');
  });

  it('branches with different results', () => {
    const both = misuse((k, { x, n }) =>
      k.ifElse(
        k.lt(x, 1),
        () => [x],
        () => [n],
      ),
    );
    expect(both).toBe('kernel test, ifElse: branches give different results: (f32) and (u32)');
    expect(
      misuse((k, { x }) =>
        k.ifElse(
          k.lt(x, 1),
          () => [x],
          () => {},
        ),
      ),
    ).toContain('(f32) and ()');
  });

  it('a loop that gives too few values, or of another type', () => {
    expect(misuse((k, { n, x }) => k.forLoop({ to: n }, [x], () => []))).toContain('body gives 0 values for 1 carried');
    expect(misuse((k, { n, x }) => k.forLoop({ to: n }, [x], (i) => [i]))).toContain(
      'next value 2 is u32, expected f32',
    );
  });

  it('a condition that is none', () => {
    expect(misuse((k, { n }) => k.when(n, () => {}))).toBe('kernel test, when: condition is u32, expected bool');
  });

  it('memory through what is no pointer, and stores of the wrong type', () => {
    expect(misuse((k, { x }) => k.load(x))).toBe('kernel test, load: takes a pointer, got f32');
    expect(misuse((k, { p, n }) => k.store(p, n))).toBe('kernel test, store: value is u32, expected f32');
    expect(misuse((k, { p }) => k.loadHalf(p))).toContain('takes a pointer to f16');
  });

  it('components that are not there', () => {
    expect(misuse((k, { p }) => k.extract(k.loadVector(p, 4), 4))).toContain('there is no component 4 of 4');
    expect(misuse((k, { x }) => k.vector(k.types.vector(k.types.float(32), 4), x, x))).toContain('1 + 1 components');
  });

  it('casts between sizes', () => {
    expect(misuse((k, { x }) => k.bitcast(x, k.types.int(64)))).toContain('f32 cannot be seen as u64');
  });

  it('a module with a function that has no end', () => {
    const module = new ModuleBuilder();
    expect(() => module.kernel('open', {}, () => void module.build())).toThrow('kernel open: the function has no end');
    // A kernel that threw half-way leaves the module unusable rather than half written.
    expect(() => module.build()).toThrow('kernel open: the function has no end yet');
  });

  it('two kernels of one name, a specialisation id twice, a call with other arguments', () => {
    const module = new ModuleBuilder();
    const u32 = module.int(32);
    module.kernel('same', {}, () => {});
    expect(() => module.kernel('same', {}, () => {})).toThrow('there is a kernel of this name');
    module.specConstant(u32, 1, 7);
    expect(() => module.specConstant(u32, 2, 7)).toThrow('there is one with id 7');
    const twice = module.function('twice', { x: u32 }, u32, (k, { x }) => k.add(x, x));
    expect(() => module.kernel('caller', {}, (k) => void k.call(twice))).toThrow('takes 1 arguments, got 0');
  });
});

describe('what a module is made of', () => {
  it('emits nothing twice for the same calls', () => {
    const code = (k: FunctionBuilder, { x, p }: { x: Value; p: Value }): void => k.store(p, k.add(x, 1));
    expect(write(code)).toEqual(write(code));
  });

  it('has the header of SPIR-V 1.2', () => {
    const [magic, version, generator, bound, schema] = write(() => {});
    expect([magic, version, generator, schema]).toEqual([0x07230203, 0x00010200, 0, 0]);
    expect(bound).toBeGreaterThan(1);
  });
});

describe('contraction', () => {
  it('is declared off where it is asked to be', () => {
    const modes = (options: { contraction?: 'off' }): boolean => {
      const module = new ModuleBuilder();
      module.kernel('k', {}, () => {}, options);
      return instructionsOf(module.build()).some(
        ({ opcode, operands }) => opcode === Op.ExecutionMode && operands[1] === ExecutionMode.ContractionOff,
      );
    };
    expect(modes({ contraction: 'off' })).toBe(true);
    expect(modes({})).toBe(false);
  });

  it('is not turned on', () => {
    const options = { contraction: 'on' as 'off' };
    expect(() => new ModuleBuilder().kernel('k', {}, () => {}, options)).toThrow(
      'kernel k, contraction: is on, expected off',
    );
  });
});
