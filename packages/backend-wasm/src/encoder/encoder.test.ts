import { describe, expect, test } from 'vitest';
import {
  call,
  callStatement,
  f32,
  f32x4,
  f64x2,
  i16x8,
  i32,
  i32x4,
  i64x2,
  i8x16,
  memory,
  ModuleBuilder,
  select,
  v128,
} from './index.ts';
import type { FunctionBody, Local, Statement, Value } from './index.ts';
import { signed, unsigned } from './instruction.ts';

type Run = (a: number, b: number) => number;

/** Runs a function of two i32 on a memory that holds `words` at 0. */
function run(
  statements: (body: FunctionBody, a: Local<'i32'>, b: Local<'i32'>) => void,
  words: ArrayLike<number> = [],
  a = 0,
  b = 0,
) {
  const module = new ModuleBuilder({ shared: false });
  module.function({ params: ['i32', 'i32'], result: 'i32', export: 'run' }, (body, x, y) => {
    statements(body, x, y);
    body.return(i32.const(0));
  });
  const { floats, integers, result } = start(module.toBytes(), words, a, b);
  return { floats, integers, result };
}

function start(bytes: Uint8Array<ArrayBuffer>, words: ArrayLike<number>, a: number, b: number, isShared = false) {
  const wasmMemory = new WebAssembly.Memory({ initial: 1, maximum: 65_536, shared: isShared });
  const integers = new Int32Array(wasmMemory.buffer);
  integers.set(Array.from(words, (word) => word | 0));
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory: wasmMemory } });
  const result = (instance.exports['run'] as Run)(a, b);
  return { integers, floats: new Float32Array(wasmMemory.buffer), result };
}

const valueOf = (value: Value<'i32'>) => run((body) => body.return(value)).result;
const vectorOf = (value: Value<'v128'>) => run((body) => body.emit(v128.store(0, value)));
const integersOf = (value: Value<'v128'>) => [...vectorOf(value).integers.subarray(0, 4)];
const floatsOf = (value: Value<'v128'>) => [...vectorOf(value).floats.subarray(0, 4)];

describe('the encoder', () => {
  test('writes numbers in LEB128', () => {
    expect(unsigned(624_485)).toEqual([0xe5, 0x8e, 0x26]);
    expect(unsigned(0xffff_ffff)).toEqual([0xff, 0xff, 0xff, 0xff, 0x0f]);
    expect(signed(-123_456)).toEqual([0xc0, 0xbb, 0x78]);
    expect(signed(64)).toEqual([0xc0, 0x00]);
    for (const value of [0, 63, 64, -64, -65, 2 ** 31 - 1, -(2 ** 31)]) expect(valueOf(i32.const(value))).toBe(value);
    expect(valueOf(i32.const(0xffff_fffe))).toBe(-2);
  });

  test('computes with scalars', () => {
    expect(valueOf(i32.sub(i32.mul(6, 7), 2))).toBe(40);
    expect(valueOf(i32.divU(-2, 2))).toBe(0x7fff_ffff);
    expect(valueOf(i32.shrS(-8, 1))).toBe(-4);
    expect(valueOf(select(i32.ltU(1, -1), i32.const(3), i32.const(4)))).toBe(3);
  });

  test('counts in loops and leaves them', () => {
    const sum = (n: number, most: number) =>
      run(
        (body, end, limit) => {
          const total = body.let(i32.const(0));
          body.block((exit) => {
            body.for(0, end, 3, (i) => {
              body.branchIf(exit, i32.geU(i, limit));
              body.increase(total, i);
            });
          });
          body.return(total);
        },
        [],
        n,
        most,
      ).result;
    expect([sum(0, 100), sum(1, 100), sum(10, 100), sum(10, 6)]).toEqual([0, 0, 18, 3]);
  });

  test('takes either side of an if, and branches over several levels', () => {
    const outcome = (a: number, b: number) =>
      run(
        (body, x, y) => {
          body.block((outer) => {
            body.loop((again) => {
              body.if(
                x,
                () => {
                  body.increase(x, -1);
                  body.increase(y, 10);
                  body.branch(again);
                },
                () => body.branch(outer),
              );
            });
            body.unreachable();
          });
          body.return(y);
        },
        [],
        a,
        b,
      ).result;
    expect([outcome(0, 5), outcome(4, 5)]).toEqual([5, 45]);
  });

  test('calls functions, with and without a result', () => {
    const module = new ModuleBuilder({ shared: false });
    const square = module.function({ params: ['f32'], result: 'f32' }, (body, x) => body.return(f32.mul(x, x)));
    const keep = module.function({ params: ['i32', 'f32'], result: 'none' }, (body, to, x) =>
      body.emit(f32.store(to, x)),
    );
    module.function({ params: ['i32', 'i32'], result: 'i32', export: 'run' }, (body, a) => {
      body.emit(callStatement(keep, 8, call(square, f32.load(a))));
      body.return(a);
    });
    const seven = [...new Int32Array(Float32Array.of(7).buffer)];
    expect(start(module.toBytes(), seven, 0, 0).floats[2]).toBe(49);
  });

  test('loads and stores vectors, lanes and narrow elements at any address', () => {
    const bytes = [0x0403_0201, 0x8877_6685];
    const { integers } = run((body) => {
      body.emit(v128.store(16, v128.load16x4U(1)), v128.store(48, v128.load32Splat(2)));
      body.emit(v128.store(64, v128.load32Lane(4, v128.load32Zero(0), 3)), v128.store16Lane(80, v128.load(0), 3));
    }, bytes);
    expect([...integers.subarray(4, 8)]).toEqual([0x0302, 0x8504, 0x7766, 0x0088]);
    expect([...integers.subarray(12, 16)]).toEqual(Array.from({ length: 4 }, () => 0x6685_0403));
    expect([...integers.subarray(16, 20)]).toEqual([0x0403_0201, 0, 0, 0x8877_6685 | 0]);
    expect(integers[20]).toBe(0x8877);
  });

  test('computes with vectors of every shape', () => {
    const x = i32x4.const(1, -2, 3, -4);
    expect(integersOf(i32x4.shrU(x, 28))).toEqual([0, 15, 0, 15]);
    expect(integersOf(i32x4.ltS(x, i32x4.splat(0)))).toEqual([0, -1, 0, -1]);
    expect(integersOf(i32x4.maxU(x, i32x4.splat(2)))).toEqual([2, -2, 3, -4]);
    expect(integersOf(i32x4.extendLowI16x8S(i16x8.narrowI32x4S(x, x)))).toEqual([1, -2, 3, -4]);
    expect(integersOf(i64x2.extmulLowI32x4U(x, x))).toEqual([1, 0, 4, -4]);
    expect(integersOf(v128.bitselect(x, i32x4.splat(7), i32x4.const(-1, 0, -1, 0)))).toEqual([1, 7, 3, 7]);
    const lowBytes = i8x16.shuffle(
      x,
      i32x4.splat(0x0909_0909),
      [0, 16, 4, 16, 8, 16, 12, 16, 1, 1, 1, 1, 31, 31, 31, 31],
    );
    expect(integersOf(lowBytes)).toEqual([0x09fe_0901, 0x09fc_0903, 0, 0x0909_0909]);
    const y = f32x4.const(1.5, -2.5, NaN, 4);
    expect(floatsOf(f32x4.mul(y, f32x4.splat(2)))).toEqual([3, -5, NaN, 8]);
    expect(floatsOf(f32x4.pmax(f32x4.splat(0), y))).toEqual([1.5, 0, 0, 4]);
    expect(integersOf(i32x4.truncSatF32x4S(f32x4.nearest(y)))).toEqual([2, -2, 0, 4]);
    expect(floatsOf(f32x4.replaceLane(y, 2, 8))).toEqual([1.5, -2.5, 8, 4]);
    expect(valueOf(i32x4.extractLane(x, 3))).toBe(-4);
    expect(valueOf(v128.anyTrue(v128.xor(x, x)))).toBe(0);
  });

  test('copies and fills memory, which may be shared', () => {
    const statements = [memory.copy(4, 0, 8), memory.fill(16, 3, 2)];
    const { integers } = run((body) => body.emit(...statements), [1, 2, 3]);
    expect([...integers.subarray(0, 5)]).toEqual([1, 1, 2, 0, 0x0303]);
    const module = new ModuleBuilder({ shared: true });
    module.function({ params: ['i32', 'i32'], result: 'i32', export: 'run' }, (body, a) => {
      body.emit(...statements);
      body.return(a);
    });
    const shared = start(module.toBytes(), [1, 2, 3], 7, 0, true);
    expect([shared.result, ...shared.integers.subarray(0, 5)]).toEqual([7, 1, 1, 2, 0, 0x0303]);
  });

  test('has float64 where sums are long', () => {
    const sum = f64x2.add(
      f64x2.promoteLowF32x4(f32x4.const(2 ** 24, 1, 5, 5)),
      f64x2.promoteLowF32x4(f32x4.const(1, 2, 5, 5)),
    );
    const rounded = f64x2.demoteZero(f64x2.add(sum, f64x2.promoteLowF32x4(f32x4.splat(-(2 ** 24)))));
    expect(floatsOf(rounded)).toEqual([1, 3 - 2 ** 24, 0, 0]);
  });

  test('emits only valid code for every instruction of its tables', () => {
    const operand: Record<string, Value> = {
      v128: i32x4.splat(1),
      i32: i32.const(1),
      f32: f32.const(1),
    };
    const shapes = { i8x16, i16x8, i32x4, i64x2, f32x4, f64x2, v128 };
    let tried = 0;
    for (const [shape, instructions] of Object.entries(shapes)) {
      for (const [name, make] of Object.entries(instructions)) {
        if (name.startsWith('relaxed')) continue;
        const statement = sample(shape, name, make as (...operands: unknown[]) => Value | Statement, operand);
        const module = new ModuleBuilder({ shared: false });
        module.function({ params: [], result: 'none' }, (body) => {
          if (statement.type === 'none') body.emit(statement);
          else body.drop(statement);
        });
        expect(WebAssembly.validate(module.toBytes()), `${shape}.${name}`).toBe(true);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(80);
  });
});

/** One use of an instruction, with the operands that its name implies. */
function sample(
  shape: string,
  name: string,
  make: (...operands: unknown[]) => Value | Statement,
  operand: Record<string, Value>,
): Value | Statement {
  const scalar = shape.startsWith('f32') ? operand['f32'] : operand['i32'];
  if (name === 'const') return make(1, 2, 3, 4);
  if (name === 'splat') return make(scalar);
  if (name === 'shuffle')
    return make(
      operand['v128'],
      operand['v128'],
      Array.from({ length: 16 }, (_, i) => i),
    );
  if (name.startsWith('extractLane')) return make(operand['v128'], 1);
  if (name === 'replaceLane') return make(operand['v128'], 1, scalar);
  if (name.endsWith('Lane')) return make(0, operand['v128'], 1);
  if (name.startsWith('load')) return make(0);
  if (name === 'store') return make(0, operand['v128']);
  if (name.startsWith('sh')) return make(operand['v128'], 3);
  // Code of three operands is right only with three: fewer leave the stack short, and the others do not look.
  return make(operand['v128'], operand['v128'], operand['v128']);
}
