import { describe, expect, it } from 'vitest';
import { instructionsOf } from './list-instructions.ts';
import { thrown } from '../test/support/thrown.ts';
import type { FunctionBuilder } from './function-builder.ts';
import { Capability, Op, StorageClass } from './generated/spirv.ts';
import type { KernelOptions } from './kernel-options.ts';
import { ModuleBuilder } from './module-builder.ts';
import type { Type } from './type.ts';
import type { Value } from './value.ts';

// What would be an invalid module, or a valid one that means something else than what was written.

interface Arguments {
  readonly x: Value;
  readonly n: Value;
  readonly p: Value;
  readonly m: ModuleBuilder;
}

function misuse(code: (k: FunctionBuilder, args: Arguments) => unknown, options?: KernelOptions): string {
  return thrown(() => {
    const m = new ModuleBuilder();
    const parameters = { x: m.float(32), n: m.int(32), p: m.globalPointer(m.float(32)) };
    m.kernel('test', parameters, (k, args) => void code(k, { ...args, m }), options);
    m.build();
  });
}

/** Calls that types would refuse, but for a cast or an index that is not there. */
const wrong = (value: unknown): never => value as never;

describe('an exception on the way', () => {
  it('leaves no branch or loop half written, also when it is caught', () => {
    const fail = (): never => {
      throw new Error('of the caller');
    };
    const half = 'kernel test, code: an exception left a branch or loop, which has no end';
    const caught = (act: () => unknown): void => expect(act).toThrow();
    expect(misuse((k, { n }) => caught(() => k.forLoop({ to: n }, [], fail)))).toBe(half);
    expect(misuse((k, { x }) => caught(() => k.when(k.lt(x, 1), fail)))).toBe(half);
    expect(misuse((k, { n, x }) => caught(() => k.forLoop({ to: n }, [x], () => [])))).toBe(half);
  });

  it('is not needed for code that is asynchronous', () => {
    const later = wrong(async () => {});
    expect(misuse((k, { x }) => k.when(k.lt(x, 1), later))).toContain('when: code cannot be asynchronous');
    expect(misuse((k, { n }) => k.forLoop({ to: n }, [], later))).toContain('forLoop: code cannot be asynchronous');
    expect(thrown(() => new ModuleBuilder().kernel('a', {}, later))).toContain('kernel a: code cannot be asynchronous');
  });
});

describe('what is no value', () => {
  it('is named', () => {
    expect(misuse((k, { n }) => k.add(n, wrong('5')))).toBe('kernel test, add: operand 2: string 5 is not of type u32');
    expect(misuse((k, { n }) => k.add(n, wrong(null)))).toBe('kernel test, add: operand 2 is not a value: got null');
    expect(misuse((k, { n }) => k.add(wrong(undefined), n))).toContain('operand 1: undefined is not of type u32');
    expect(misuse((k, { n }) => k.add(n, wrong([n])))).toContain('operand 2 is not a value: got array');
    expect(misuse((k) => k.neg(wrong(undefined)))).toContain('neg: operand is not a value: got undefined');
    expect(misuse((k) => k.forLoop({ to: wrong(8) }, [], () => {}))).toContain('to is not a value: got number 8');
    expect(
      misuse((k, { n }) =>
        k.forLoop(
          { to: n },
          [n],
          wrong(() => n),
        ),
      ),
    ).toContain('have to be an array');
  });

  it('of a function that gives nothing', () => {
    const m = new ModuleBuilder();
    const nothing = m.function(
      'f',
      {},
      m.types.void(),
      wrong(() => {}),
    );
    const use = (): void => m.kernel('a', {}, (k) => void k.not(k.call(nothing)));
    expect(use).toThrow('kernel a, not: operand is of a function that gives nothing');
    const none = wrong(() => {});
    expect(thrown(() => m.function('g', {}, m.int(32), none))).toBe(
      'function g, return: value: undefined is not of type u32',
    );
  });

  it('after the end of the function', () => {
    const m = new ModuleBuilder();
    let kept: FunctionBuilder | undefined;
    m.kernel('a', {}, (k) => void (kept = k));
    expect(() => kept?.variable(m.int(32))).toThrow('kernel a, code: the function is already complete');
    expect(() => kept?.localArray(m.int(32), 4)).toThrow('kernel a, code: the function is already complete');
    expect(() => kept?.barrier()).toThrow('kernel a, code: the function is already complete');
  });
});

describe('what belongs to another module', () => {
  const other = new ModuleBuilder();
  const f32 = other.float(32);

  it.each<[string, (m: ModuleBuilder) => unknown]>([
    ['a parameter', (m) => m.kernel('a', { x: f32 }, () => {})],
    ['a pointee', (m) => m.globalPointer(f32)],
    ['a component', (m) => m.vector(f32, 4)],
    ['an element', (m) => m.types.array(f32, m.constant(m.int(32), 4))],
    ['a member', (m) => m.types.struct([f32])],
    ['the type of a constant', (m) => m.constant(f32, 1)],
    ['the type of a specialisation constant', (m) => m.specConstant(f32, 1, 0)],
    ['what a conversion gives', (m) => m.kernel('a', { n: m.int(32) }, (k, { n }) => void k.utof(n, f32))],
    ['what a cast gives', (m) => m.kernel('a', { n: m.int(32) }, (k, { n }) => void k.bitcast(n, f32))],
  ])('as %s', (_, act) => {
    expect(thrown(() => act(new ModuleBuilder()))).toContain('f32 belongs to another module');
  });

  it('as a function, a named value or a specialised length', () => {
    const f = other.function('f', {}, f32, (k) => k.constant(f32, 1));
    expect(misuse((k) => k.call(f))).toContain('kernel test, call: takes a function of this module');
    expect(misuse((k, { x }) => k.add(x, other.constant(f32, 1)))).toContain('operand 2 belongs to another module');
    expect(misuse((_, { m }) => m.name(other.constant(f32, 1), 'one'))).toContain('for a value of this module');
    const length = other.specConstant(other.int(32), 4, 0);
    expect(misuse((_, { m }) => m.specOperation('add', length, length))).toContain('two integer constants');
    expect(misuse((k) => k.localArray(k.types.int(32), length))).toContain('length belongs to another module');
  });

  it('and a function that calls itself', () => {
    const m = new ModuleBuilder();
    const u32 = m.int(32);
    const handles: never[] = [];
    const act = (): unknown => m.function('r', { x: u32 }, u32, (k, { x }) => k.call(handles[0]!, x));
    expect(thrown(act)).toBe(
      'function r, call: takes a function of this module that is complete: none can call itself',
    );
  });
});

describe('functions', () => {
  it('have no built-ins and no workgroup memory', () => {
    const within = (code: (k: FunctionBuilder) => Value): string => {
      const m = new ModuleBuilder();
      return thrown(() => m.function('f', {}, m.int(32), code));
    };
    expect(within((k) => k.localId(0))).toContain('function f, id: built-ins are for kernels');
    expect(within((k) => k.subgroupSize())).toContain('function f, id: built-ins are for kernels');
    expect(within((k) => k.localArray(k.types.int(32), 4))).toContain('function f, localArray: arrays in workgroup');
  });
});

describe('declarations', () => {
  const options = (given: unknown): string => misuse(() => {}, wrong(given));

  it('sizes and alignments that are none', () => {
    for (const localSize of [
      [0, 1, 1],
      [1.5, 1, 1],
      [1, 1],
      [1, 1, 1, 1],
      [2 ** 32, 1, 1],
      ['8', 1, 1],
    ]) {
      expect(options({ localSize })).toContain('kernel test, localSize: is');
    }
    for (const subgroupSize of [0, -1, 1.5]) expect(options({ subgroupSize })).toContain('kernel test, subgroupSize');
    for (const bytes of [0, -1, 3, 1.5, 2 ** 32]) {
      expect(options({ align: { p: bytes } })).toContain('is not a power of two');
      expect(misuse((k, { p }) => k.load(p, { align: bytes }))).toContain('expected a power of two');
    }
    expect(options({ align: { q: 16 } })).toBe('kernel test, align: there is no pointer q');
    expect(options({ align: { n: 16 } })).toBe('kernel test, align: there is no pointer n');
  });

  it('parameters that a kernel cannot have', () => {
    const parameter = (of: (m: ModuleBuilder) => Type, name = 'x'): string => {
      const m = new ModuleBuilder();
      return thrown(() => m.kernel('a', { [name]: of(m) }, () => {}));
    };
    expect(parameter((m) => m.types.void())).toBe('kernel a, parameter x: cannot be void');
    expect(parameter((m) => m.types.bool())).toContain('cannot be bool');
    expect(parameter((m) => m.types.pointer(StorageClass.Function, m.int(32)))).toContain(
      'global, constant or workgroup',
    );
    // { b: ..., 1: ... } would come out as 1, b.
    expect(parameter((m) => m.int(32), '1')).toContain('cannot be called 1');
    expect(parameter((m) => m.int(32), 'a\0b')).toContain('no zeros');
    const m = new ModuleBuilder();
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`p${index}`, m.int(32)]));
    expect(thrown(() => m.kernel('a', many, () => {}))).toBe('kernel a: has 256 parameters, and can have 255');
  });

  it('names that a module cannot hold, and a module without a kernel', () => {
    for (const name of ['a\0b', 'a\ud800']) {
      expect(thrown(() => new ModuleBuilder().kernel(name, {}, () => {}))).toContain('no zeros and no half characters');
    }
    expect(thrown(() => new ModuleBuilder().kernel('a'.repeat(300_000), {}, () => {}))).toContain('can have 65535');
    expect(thrown(() => new ModuleBuilder().build())).toBe('module: has no kernel');
  });

  it('types and constants that there are not', () => {
    const m = new ModuleBuilder();
    expect(thrown(() => m.int(wrong(7)))).toContain('none of 7 bits');
    expect(thrown(() => m.float(wrong('32')))).toContain('none of 32 bits');
    expect(thrown(() => m.vector(m.int(32), wrong(5)))).toContain('none of 5 components');
    expect(thrown(() => m.vector(wrong(m.vector(m.int(32), 4)), 4))).toContain('cannot have components of u32x4');
    expect(thrown(() => m.types.pointer(wrong(99), m.int(32)))).toContain('there is no memory 99');
    expect(thrown(() => m.globalPointer(m.vector(m.types.bool(), 4)))).toContain('memory cannot hold boolx4');
    expect(thrown(() => m.types.struct(Array.from({ length: 16_384 }, () => m.int(8))))).toContain('more than 16383');
    for (const id of [-1, 1.5, 2 ** 32])
      expect(thrown(() => m.specConstant(m.int(32), 1, id))).toContain('is not an id');
    expect(thrown(() => m.specOperation(wrong('pow'), m.constant(m.int(32), 1), m.constant(m.int(32), 1)))).toContain(
      'there is no operation pow',
    );
  });

  it('lengths that are no constants, or zero', () => {
    expect(misuse((k, { n }) => k.privateArray(n.type, n))).toContain(
      'privateArray: length is not an integer constant',
    );
    expect(misuse((k, { n, m }) => k.localArray(n.type, m.constant(m.float(32), 4)))).toContain(
      'not an integer constant',
    );
    expect(misuse((k, { n, m }) => k.localArray(n.type, m.specConstant(n.type as never, 0, 0)))).toContain(
      '0 elements',
    );
    const product = (m: ModuleBuilder): Value =>
      m.specOperation('mul', m.specConstant(m.int(32), 4, 0), m.constant(m.int(32), 4));
    expect(misuse((k, { n, m }) => k.localArray(n.type, product(m)))).toContain('give it a separate one');
    expect(misuse((k, { n }) => k.localArray(n.type, 1.5))).toBe('kernel test, localArray: cannot have 1.5 elements');
    expect(misuse((k) => k.privateArray(k.types.bool(), 4))).toContain(
      'kernel test, variable: memory cannot hold bool',
    );
  });
});

describe('operands', () => {
  it('cases that the selector cannot have, or too many', () => {
    const one = (value: number | bigint): string =>
      misuse((k, { n }) => k.switchOn(n, [{ value, body: () => {} }], () => {}));
    expect(one(2 ** 32)).toBe('kernel test, switchOn: case 1: number 4294967296 is not of type u32');
    expect(one(1.5)).toBe('kernel test, switchOn: case 1: number 1.5 is not of type u32');
    expect(one(-1)).toBe('nothing thrown');
    const two = (first: number, second: number): string =>
      misuse((k, { n }) =>
        k.switchOn(
          n,
          [first, second].map((value) => ({ value, body: () => {} })),
          () => {},
        ),
      );
    expect(two(1, 2)).toBe('nothing thrown');
    expect(two(7, 7)).toContain('two cases have the same value');
    // The same bits of a u32.
    expect(two(-1, 0xffff_ffff)).toContain('two cases have the same value');
    const cases = Array.from({ length: 16_384 }, (_, value) => ({ value, body: () => {} }));
    expect(misuse((k, { n }) => k.switchOn(n, cases, () => {}))).toContain('cannot have more than 16383 cases');
  });

  it('a step of zero, and an element beyond an array', () => {
    expect(misuse((k, { n }) => k.forLoop({ to: n, step: 0 }, [], () => {}))).toContain('the loop would not end');
    expect(misuse((k, { n }) => k.at(k.privateArray(n.type, 4), 4))).toContain('there is no element 4 of 4');
    expect(misuse((k) => k.globalId(wrong(3)))).toContain('there is no dimension 3');
  });

  it('memory that is only read, and atomics on what others cannot see', () => {
    const m = new ModuleBuilder();
    const constant = m.types.pointer(StorageClass.UniformConstant, m.int(32));
    expect(thrown(() => m.kernel('a', { c: constant }, (k, { c }) => k.store(c, 1)))).toContain('only for reading');
    expect(misuse((k, { n }) => k.atomic('add', k.variable(n.type), 1))).toContain('global or workgroup memory');
    expect(misuse((k, { n, m: own }) => k.atomic(wrong('mul'), k.at(k.localArray(own.int(32), 1), 0), n))).toContain(
      'there is no mul',
    );
  });

  it('pointers to one memory as pointers to another, and casts and choices of arrays', () => {
    const local = (k: FunctionBuilder): Type => k.types.pointer(StorageClass.Workgroup, k.types.float(32));
    expect(misuse((k, { p }) => k.bitcast(p, local(k)))).toContain('cannot be seen as one to another');
    expect(misuse((k, { n }) => k.bitcast(k.load(k.privateArray(n.type, 2)), k.types.struct([n.type])))).toContain(
      'cannot be seen as',
    );
    const array = (k: FunctionBuilder, n: Value): Value => k.load(k.privateArray(n.type, 2));
    expect(misuse((k, { n }) => k.select(k.eq(n, 1), array(k, n), array(k, n)))).toContain('select: takes');
  });

  it('counts of components', () => {
    for (const count of [0, 5, 1.5]) {
      expect(misuse((k, { p }) => k.loadVector(p, wrong(count)))).toContain(
        `loadVector: there are no vectors of ${count}`,
      );
    }
    expect(misuse((k, { p }) => k.shuffle(k.loadVector(p, 4), k.loadVector(p, 4), [0]))).toContain('no vectors of 1');
    // Numbers count through both vectors, whose lengths may differ.
    for (const [first, other, most] of [
      [2, 4, 5],
      [4, 2, 5],
      [4, 4, 7],
    ] as const) {
      const shuffled = (component: number): string =>
        misuse((k, { p }) => k.shuffle(k.loadVector(p, first), k.loadVector(p, other), [0, component]));
      expect(shuffled(most)).toBe('nothing thrown');
      expect(shuffled(most + 1)).not.toBe('nothing thrown');
    }
    expect(misuse((k, { p }) => k.extractAt(k.loadVector(p, 4), k.loadVector(p, 4)))).toContain('expected an integer');
    expect(misuse((k, { x }) => k.splat(wrong(x.type), x))).toContain('f32 is not a vector type');
  });

  it('sub-group operations on booleans', () => {
    expect(misuse((k, { n }) => k.subgroupBroadcast(k.eq(n, 1), 0))).toContain('takes int or float operands');
    expect(misuse((k, { p }) => k.subgroupShuffle(p, 0))).toContain('takes int or float operands');
    expect(misuse((k, { n }) => k.subgroupReduce(wrong('mul'), n))).toContain('there is no mul');
  });
});

it('halves declare what they need: values Float16, pointers to them less', () => {
  const capabilities = (code: (k: FunctionBuilder, h: Value) => unknown): string[] => {
    const m = new ModuleBuilder();
    m.kernel('a', { h: m.globalPointer(m.float(16)) }, (k, { h }) => void code(k, h));
    const declared = instructionsOf(m.build()).filter(({ opcode }) => opcode === Op.Capability);
    return Object.entries(Capability).flatMap(([name, value]) =>
      declared.some(({ operands }) => operands[0] === value) ? name : [],
    );
  };
  expect(capabilities((k, h) => k.storeHalf(h, k.loadHalf(h)))).not.toContain('Float16');
  expect(capabilities((k, h) => k.storeHalf(h, k.loadHalf(h)))).toContain('Float16Buffer');
  expect(capabilities((k, h) => k.store(h, 1))).toContain('Float16');
  expect(capabilities((k, h) => k.load(h))).toContain('Float16');
});
