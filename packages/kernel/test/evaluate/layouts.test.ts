import { f32ToF16Bits } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { numbers, run } from '../support/run.ts';

const copy = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));
const difference = defineKernel('difference', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
  y: k.sub(a, b),
}));

describe('views', () => {
  it('are turned, repeated and padded', () => {
    const [rows, columns] = [67, 2100];
    const a = numbers(rows * columns);
    const b = numbers(columns, 5);
    const y = new Float32Array(rows * (columns + 3)).fill(9);
    run(difference, {
      shape: [rows, columns],
      inputs: { a: { memory: a, view: { strides: [1, rows] } }, b: { memory: b, view: { strides: [0, 1] } } },
      outputs: { y: { memory: y, view: { strides: [columns + 3, 1] } } },
    });
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns + 3; column++) {
        const want = column < columns ? (a[row + column * rows] as number) - (b[column] as number) : 9;
        if (y[row * (columns + 3) + column] !== want) expect([row, column]).toBe(want);
      }
    }
  });

  it('have up to eight axes', () => {
    const shape = [2, 3, 2, 1, 2, 3, 2, 2];
    const strides = [1, 2, 6, 0, 12, 24, 72, 144];
    const x = numbers(288);
    const y = new Float32Array(288);
    run(copy, { shape, inputs: { x: { memory: x, view: { strides } } }, outputs: { y } });
    const want = Array.from({ length: 288 }, (_, i) => {
      let [rest, at] = [i, 0];
      for (let axis = 7; axis >= 0; axis--) {
        const size = shape[axis] as number;
        at += (rest % size) * (strides[axis] as number);
        rest = Math.floor(rest / size);
      }
      return x[at];
    });
    expect([...y]).toEqual(want);
  });

  it('can be exchanged in place', () => {
    const exchange = defineKernel('exchange', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }) => ({ p: b, q: a }));
    const [a, b] = [numbers(3000), numbers(3000, 77)];
    const [p, q] = [a.slice(), b.slice()];
    run(exchange, { shape: [3000], inputs: { a: p, b: q }, outputs: { p, q } });
    expect([p, q]).toEqual([b, a]);
  });

  it('may have one point, or none', () => {
    const y = Float32Array.of(5);
    run(copy, { shape: [], inputs: { x: Float32Array.of(3) }, outputs: { y } });
    expect(y[0]).toBe(3);
    run(copy, { shape: [0, 4], inputs: { x: new Float32Array() }, outputs: { y: new Float32Array() } });
  });
});

describe('element types', () => {
  it('copies keep every bit', () => {
    const x = Uint32Array.of(0x7f800001, 0xffc12345, 0x80000000, 1, 0x7fffffff);
    const y = new Uint32Array(5);
    run(copy, { shape: [5], inputs: { x }, outputs: { y } });
    expect(y).toEqual(x);
    const half = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
    for (const dtype of ['f16', 'bf16'] as const) {
      const to = new Uint16Array(65_536);
      run(copy, {
        shape: [65_536],
        inputs: { x: { memory: half, view: { dtype } } },
        outputs: { y: { memory: to, view: { dtype } } },
      });
      expect(to).toEqual(half);
    }
  });

  it('bfloat16 is rounded to nearest even', () => {
    const x = Uint32Array.of(0x3f808000, 0x3f818000, 0x3f808001, 0x7f7fffff, 0x00018000, 0x7f800001, 0xffffffff);
    const y = new Uint16Array(x.length);
    run(copy, { shape: [x.length], inputs: { x }, outputs: { y: { memory: y, view: { dtype: 'bf16' } } } });
    expect([...y]).toEqual([0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x0002, 0x7fc0, 0xffff]);
  });

  it('NaN stays NaN in half precision, with the bits of it for which there is room', () => {
    const x = Uint32Array.of(0x7f800001, 0x7f801fff, 0x7f802000, 0x7fc00000, 0xff800001, 0xffffffff, 0x7f800000);
    const y = new Uint16Array(x.length);
    run(copy, { shape: [x.length], inputs: { x }, outputs: { y: { memory: y, view: { dtype: 'f16' } } } });
    expect([...y]).toEqual([0x7e00, 0x7e00, 0x7c01, 0x7e00, 0xfe00, 0xffff, 0x7c00]);
  });

  it('bytes saturate', () => {
    const narrow = defineKernel('narrow', { inputs: { a: 'i32', b: 'u32' } }, ({ a, b }, k) => ({
      signed: k.add(a, a),
      unsigned: k.add(b, b),
    }));
    const [signed, unsigned] = [new Int8Array(4), new Uint8Array(4)];
    run(narrow, {
      shape: [4],
      inputs: {
        a: { memory: Int8Array.of(-128, -3, 63, 64), view: { dtype: 'i8' } },
        b: { memory: Uint8Array.of(0, 127, 128, 255), view: { dtype: 'u8' } },
      },
      outputs: {
        signed: { memory: signed, view: { dtype: 'i8' } },
        unsigned: { memory: unsigned, view: { dtype: 'u8' } },
      },
    });
    expect([[...signed], [...unsigned]]).toEqual([
      [-128, -6, 126, 127],
      [0, 254, 255, 255],
    ]);
  });
});

describe('indices', () => {
  it('are those of the point, its row and the axes', () => {
    const kernel = defineKernel('indices', { params: { scale: 'u32' } }, ({ scale }, k) => ({
      y: k.add(k.mul(k.index(0), scale), k.add(k.mul(k.index(-1), 100), k.add(k.mul(k.rowIndex(-1), 10), k.extent(1)))),
    }));
    const y = new Uint32Array(12);
    run(kernel, { shape: [2, 2, 3], folded: 1, outputs: { y }, params: [1000] });
    const want = Array.from({ length: 12 }, (_, i) => {
      const [a, b, c] = [Math.floor(i / 6), Math.floor(i / 3) % 2, i % 3];
      return a * 1000 + c * 100 + b * 10 + 2;
    });
    expect([...y]).toEqual(want);
  });

  it('outside of a gathered tensor give the other value', () => {
    const kernel = defineKernel(
      'gather',
      { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, i: 'i32' } },
      ({ table, i }, k) => ({ y: k.gather(table, [i, k.index(0)], -1) }),
    );
    const table = halvesTable();
    const i = Int32Array.of(0, 2, -1, 1, 3, -(2 ** 31));
    const y = new Float32Array(6);
    run(kernel, {
      shape: [6],
      inputs: { table: { memory: table, view: { shape: [3, 4], strides: [1, 3], dtype: 'f16' } }, i },
      outputs: { y },
    });
    expect([...y]).toEqual([0, 5, -1, 10, -1, -1]);
  });
});

/** 0 to 11. */
function halvesTable(): Uint16Array {
  return Uint16Array.from({ length: 12 }, (_, value) => f32ToF16Bits(value));
}
