import { BackendError, type ComputeBackend, f16BitsToF32, f32ToF16Bits, type GemmCall } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WasmBackend } from '@concord/backend-wasm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectInvalid } from '../../../backend-core/test/expect-error.ts';
import * as ops from '../../src/index.ts';
import { numbers } from '../support/numbers.ts';
import { type Decoded, decodeGguf, decodeRows, ggufBlocks, integerAt, randomBytes } from './decode.ts';

const toF16 = (x: number): number => f16BitsToF32(f32ToF16Bits(x));
const MIN_NORMAL = 2 ** -126;
const gamma = (steps: number): number => (steps * 2 ** -24) / (1 - steps * 2 ** -24);

/** Compares with products in float64, within the bound of docs/numerics.md. */
async function expectProduct(
  y: ops.Tensor,
  x: readonly number[],
  [n, k]: readonly [number, number],
  { value, magnitude }: Decoded,
): Promise<void> {
  const got = await y.toArray();
  expect(got.length).toBe((x.length / k) * n);
  const isF16 = y.dtype === 'f16';
  for (const [index, own] of got.entries()) {
    const [row, column] = [Math.floor(index / n), index % n];
    let [sum, terms, narrowed] = [0, 0, 0];
    for (let p = 0; p < k; p++) {
      const [a, w] = [x[row * k + p] as number, value[column * k + p] as number];
      sum += a * w;
      terms += Math.abs(a) * (magnitude[column * k + p] as number);
      narrowed += Math.abs(a) * Math.max(Math.abs(w), 2 ** -14);
    }
    let bound = gamma(k + 4) * terms + (k + 2) * MIN_NORMAL;
    if (isF16) bound += narrowed * 2 ** -11 + 2 ** -10 * Math.max(Math.abs(sum) + bound, 2 ** -14);
    expect(Math.abs(own - sum), `element ${index}: ${own}, wanted ${sum}`).toBeLessThanOrEqual(bound);
  }
}

/** Every element of a weight, as products with the rows of an identity, and products with numbers. */
async function expectWeight(
  weight: ops.QuantizedTensor,
  shape: readonly [number, number],
  want: Decoded,
): Promise<void> {
  const { backend } = weight;
  const [, k] = shape;
  expect(weight.shape).toEqual(shape);
  const identity = Array.from({ length: k * k }, (_, at) => (at % (k + 1) === 0 ? 1 : 0));
  using one = ops.tensor(backend, identity, [k, k]);
  using elements = ops.linear(one, weight);
  await expectProduct(elements, identity, shape, want);
  const numbersOfX = numbers(3 * k, 9);
  using x = ops.tensor(backend, numbersOfX, [3, k]);
  using y = ops.linear(x, weight);
  await expectProduct(y, numbersOfX, shape, want);
  using again = ops.linear(x, weight);
  expect(await again.toArray()).toEqual(await y.toArray());
}

describe.each<readonly [string, () => ComputeBackend]>([
  ['cpu', () => new CpuBackend()],
  ['wasm', () => new WasmBackend()],
])('quantized weights on %s', (_, make) => {
  const backend = make();
  beforeAll(() => backend.init());
  afterAll(async () => {
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
  });

  test.each<readonly [ops.GgufType, number]>([
    ['q8_0', 96],
    ['q4_0', 96],
    ['q4_1', 96],
    ['q4_K', 512],
    ['q6_K', 512],
  ])('fromGguf of %s are the numbers of the file', async (type, k) => {
    const bytes = ggufBlocks(type, 5 * k);
    using weight = ops.fromGguf(backend, { type, shape: [5, k], bytes });
    await expectWeight(weight, [5, k], decodeGguf(type, bytes));
  });

  test.each(
    ([4, 8] as const).flatMap((bits) =>
      (['none', 'packed', 'floats'] as const).flatMap((zeros) => [32, 40].map((k) => [bits, zeros, k] as const)),
    ),
  )('fromMatMulNBits with %i bits, zero points: %s, k %i', async (bits, zeros, k) => {
    const [n, blockSize] = [3, 16];
    const blocks = Math.ceil(k / blockSize);
    const dtype = bits === 4 ? 'u4' : 'u8';
    const [rowBytes, zeroBytes] = [(blocks * blockSize * bits) / 8, Math.ceil((blocks * bits) / 8)];
    const [b, scales] = [randomBytes(n * rowBytes, 11), numbers(n * blocks, 12)];
    const packed = randomBytes(n * zeroBytes, 13);
    const floats = Float32Array.from(numbers(n * blocks, 14));
    const zeroPoints = { none: undefined, packed, floats }[zeros];
    using weight = ops.fromMatMulNBits(backend, { n, k, bits, blockSize, b, scales, zeroPoints });
    const zeroAt = (row: number, block: number): number => {
      if (zeros === 'none') return 2 ** (bits - 1);
      return zeros === 'floats'
        ? (floats[row * blocks + block] as number)
        : integerAt(dtype, packed, zeroBytes, row, block);
    };
    const want = decodeRows([n, k], blockSize, {
      q: (row, p) => integerAt(dtype, b, rowBytes, row, p),
      zero: zeroAt,
      scale: (row, block) => scales[row * blocks + block] as number,
      offset: () => 0,
    });
    await expectWeight(weight, [n, k], want);
  });

  test.each([
    ['i8', 127],
    ['u4', 7],
  ] as const)('quantizeWeight to %s rounds to the nearest of the numbers that a block has', async (dtype, most) => {
    const shape = [4, 12] as const;
    // A block of zeros, and one of subnormal numbers, which count as zeros.
    const stored = numbers(48, 3).map((value, at) => (at < 4 ? 0 : at < 8 ? 1e-40 : value * 10));
    using floats = ops.tensor(backend, stored, shape);
    using weight = ops.quantizeWeight(floats, { dtype, block: 4 });
    using one = ops.tensor(
      backend,
      Float32Array.from({ length: 144 }, (_, at) => Number(at % 13 === 0)),
      [12, 12],
    );
    using rows = ops.linear(one, weight);
    const got = await rows.toArray();
    for (const [at, value] of stored.entries()) {
      const first = at - (at % 4);
      const step = Math.max(...stored.slice(first, first + 4).map(Math.abs)) / most;
      const own = got[(at % 12) * 4 + Math.floor(at / 12)] as number;
      expect(Math.abs(own - value), `element ${at}`).toBeLessThanOrEqual(step * 0.501 + 1e-39);
      expect(Math.abs(own / step - Math.round(own / step)) || 0).toBeLessThan(1e-3);
    }
    expect(weight.shape).toEqual(shape);
  });

  test('quantizeWeight rounds its scales to f16 where that is asked for, and gives the same integers', async () => {
    using floats = ops.tensor(backend, numbers(48, 3), [4, 12]);
    using wide = ops.quantizeWeight(floats, { dtype: 'u4', block: 4 });
    using narrow = ops.quantizeWeight(floats, { dtype: 'u4', block: 4, dtypeScales: 'f16' });
    expect(narrow.scales.dtype).toBe('f16');
    expect(await narrow.data.toArray()).toEqual(await wide.data.toArray());
    expect([...(await narrow.scales.toArray())]).toEqual([...(await wide.scales.toArray())].map(toF16));
  });

  test('quantizeWeight refuses what has no blocks', () => {
    using matrix = ops.tensor(backend, [1, 2, 3, 4, 5, 6], [2, 3]);
    using flat = ops.tensor(backend, [1, 2]);
    expectInvalid(
      () => ops.quantizeWeight(matrix, { block: 2 }),
      'quantizeWeight: block must be even and divide k of [2, 3], got 2',
    );
    expectInvalid(() => ops.quantizeWeight(flat), 'quantizeWeight: takes a matrix [n, k], got [2]');
    expectInvalid(
      () => ops.quantizeWeight(matrix, { dtype: 'u8' as 'u4' }),
      'quantizeWeight: dtype must be i8 or u4, got "u8"',
    );
    expectInvalid(
      () => ops.quantizeWeight(matrix, { dtypeScales: 'bf16' as 'f16' }),
      'quantizeWeight: dtypeScales must be f32 or f16, got "bf16"',
    );
  });

  const DTYPES = ['i8', 'u8', 'i4', 'u4'] as const;
  const NUMBERS = ['none', 'integers', 'floats', 'offsets'] as const;
  const FORMS = DTYPES.flatMap((dtype) =>
    NUMBERS.flatMap((kind) => (['f32', 'f16'] as const).map((dtypeScales) => [dtype, kind, dtypeScales] as const)),
  );

  /** A weight of 3 rows of 7, in blocks of 2, the last of which is short; and its numbers. */
  function weightOf([dtype, kind, dtypeScales]: (typeof FORMS)[number]): {
    weight: ops.QuantizedTensor;
    want: Decoded;
  } {
    const [shape, block, blocks] = [[3, 7] as const, 2, 4];
    const isNibbles = dtype === 'i4' || dtype === 'u4';
    const [rowBytes, zeroBytes] = isNibbles ? [4, 2] : [7, 4];
    const [data, zeros] = [randomBytes(3 * rowBytes, 21), randomBytes(3 * zeroBytes, 22)];
    const [scales, added] = [numbers(12, 23), Float32Array.from(numbers(12, 24))];
    const more: Pick<ops.QuantizedTensorOptions, 'zeros' | 'offsets'> = {
      ...{ none: {}, integers: { zeros }, floats: { zeros: added }, offsets: { offsets: added } },
    }[kind];
    const own = (list: ArrayLike<number>, row: number, of: number): number => {
      const number = list[row * blocks + of] as number;
      return dtypeScales === 'f16' ? toF16(number) : number;
    };
    const none = { i8: 0, i4: 0, u8: 128, u4: 8 }[dtype];
    const want = decodeRows(shape, block, {
      q: (row, p) => integerAt(dtype, data, rowBytes, row, p),
      zero: (row, of) =>
        ({
          none,
          integers: integerAt(dtype, zeros, zeroBytes, row, of),
          floats: own(added, row, of),
          offsets: 0,
        })[kind],
      scale: (row, of) => own(scales, row, of),
      offset: (row, of) => (kind === 'offsets' ? own(added, row, of) : 0),
    });
    return { weight: ops.quantizedTensor(backend, { shape, dtype, block, data, scales, dtypeScales, ...more }), want };
  }

  test.each(FORMS)('quantizedTensor of %s, zeros or offsets: %s, scales of %s', async (...form) => {
    const { weight, want } = weightOf(form);
    using _own = weight;
    await expectWeight(weight, [3, 7], want);
  });

  test.each(NUMBERS)('weights with zeros of %s one below the other', async (kind) => {
    const { weight, want } = weightOf(['u4', kind, 'f16']);
    using _own = weight;
    using both = ops.concatWeights([weight, weight]);
    const twice = (list: ArrayLike<number>): number[] => [...Array.from(list), ...Array.from(list)];
    await expectWeight(both, [6, 7], { value: twice(want.value), magnitude: twice(want.magnitude) });
    using other = weightOf(['u4', kind, 'f32']).weight;
    expectInvalid(
      () => ops.concatWeights([weight, other]),
      'concatWeights: u4[3, 7] by 2 with f32 scales is of another kind than u4[3, 7] by 2 with f16 scales',
    );
    expectInvalid(() => ops.concatWeights([]), 'concatWeights: takes a list of quantized weights, at least one');
  });

  const LAYOUTS: Readonly<Record<string, (rows: ops.Tensor) => ops.Tensor>> = {
    dense: (rows) => rows,
    columns: (rows) => ops.transpose(ops.pack(ops.transpose(rows))),
    // No single distance between the four rows.
    batches: (rows) =>
      ops.slice(ops.concat([ops.reshape(rows, [2, 2, 7]), ops.reshape(rows, [2, 2, 7])], { axis: 1 }), [null, [0, 2]]),
  };

  test.each(
    Object.keys(LAYOUTS).flatMap((layout) => (['f32', 'f16'] as const).map((dtype) => [layout, dtype] as const)),
  )('bias, activation and residual, activations in %s, %s', async (layout, dtype) => {
    const { weight, want } = weightOf(['u4', 'integers', 'f32']);
    using _own = weight;
    const [list, bias, residual] = [28, 3, 12].map((count) => numbers(count, count).map(toF16)) as [
      number[],
      number[],
      number[],
    ];
    using x = ops.tensor(backend, list, [4, 7], { dtype });
    using plain = ops.linear(x, weight);
    await expectProduct(plain, list, [3, 7], want);
    using y = ops.tidy(() => {
      const laid = (LAYOUTS[layout] as (rows: ops.Tensor) => ops.Tensor)(x);
      const added = ops.tensor(backend, residual, [...laid.shape.slice(0, -1), 3], { dtype });
      return ops.linear(laid, weight, {
        bias: ops.tensor(backend, bias, [3], { dtype }),
        activation: 'relu',
        residual: added,
      });
    });
    const [sums, got] = [await plain.toArray(), await y.toArray()];
    for (const [at, own] of got.entries()) {
      const expected = Math.max(0, (sums[at] as number) + (bias[at % 3] as number)) + (residual[at] as number);
      const scale = Math.abs(sums[at] as number) + 4;
      expect(Math.abs(own - expected), String(at)).toBeLessThan(scale * (dtype === 'f16' ? 2 ** -9 : 2 ** -20));
    }
  });

  test('nothing: no rows, no columns', async () => {
    using empty = ops.quantizedTensor(backend, {
      shape: [0, 4],
      dtype: 'u4',
      block: 2,
      data: new Uint8Array(0),
      scales: [],
    });
    using x = ops.tensor(backend, [1, 2, 3, 4], [1, 4]);
    using none = ops.linear(x, empty);
    expect(none.shape).toEqual([1, 0]);
    using thin = ops.quantizedTensor(backend, {
      shape: [2, 0],
      dtype: 'i8',
      block: 2,
      data: new Int8Array(0),
      scales: [],
    });
    using bias = ops.tensor(backend, [5, 6]);
    using nothing = ops.tensor(backend, [], [1, 0]);
    using y = ops.linear(nothing, thin, { bias });
    expect(Array.from(await y.toArray())).toEqual([5, 6]);
  });
});

describe('memory and errors', () => {
  const backend = new CpuBackend();
  beforeAll(() => backend.init());
  afterAll(() => backend.dispose());

  const right: ops.QuantizedTensorOptions = {
    ...{ shape: [2, 4], dtype: 'u4', block: 2 },
    ...{ data: new Uint8Array(4), scales: [1, 2, 3, 4], zeros: new Uint8Array(2) },
  };

  test('tidy disposes what it made and keeps what it returns, as of tensors', () => {
    const before = ops.memory();
    ops.tidy(() => void ops.quantizedTensor(backend, right));
    expect(ops.memory()).toEqual(before);
    const kept = ops.tidy(() => [{ weight: ops.quantizedTensor(backend, right) }]);
    expect(kept[0]?.weight.isDisposed).toBe(false);
    expect(ops.memory().tensors).toBe(before.tensors + 3);
    kept[0]?.weight.dispose();
    kept[0]?.weight[Symbol.dispose]();
    expect(ops.memory()).toEqual(before);
    expect(backend.memory().liveAllocations).toBe(0);
  });

  test('a weight that was disposed, of other sizes or of another backend is refused', async () => {
    using x = ops.tensor(backend, [1, 2, 3, 4], [1, 4]);
    const weight = ops.quantizedTensor(backend, right);
    expect(weight.toString()).toBe('QuantizedTensor u4[2, 4] on cpu');
    expect(JSON.stringify(weight)).toContain('{"type":"QuantizedTensor","dtype":"u4","shape":[2,4],');
    using wide = ops.tensor(backend, [1, 2, 3, 4, 5], [1, 5]);
    expectInvalid(() => ops.linear(wide, weight), /x \[1, 5\] does not fit weight \[2, 4\]/);
    using integers = ops.cast(x, 'i32');
    expectInvalid(() => ops.linear(integers, weight), /takes f32 or f16 or bf16/);
    const other = await CpuBackend.create();
    using far = ops.tensor(other, [1, 2, 3, 4], [1, 4]);
    expectInvalid(() => ops.linear(far, weight), /not on the backend/);
    ops.linear(x, weight).dispose();
    weight.dispose();
    expectInvalid(() => ops.linear(x, weight), /was disposed/);
  });

  test('a backend that does not take such weights says so, and fuses the products that it takes as before', async () => {
    const fused: boolean[] = [];
    class Floats extends CpuBackend {
      override plan(): never {
        throw new BackendError('UNSUPPORTED', 'dtypeB u4');
      }
      override gemm(call: GemmCall): void {
        if (call.dtypeB === 'u4') throw new BackendError('UNSUPPORTED', 'dtypeB u4');
        fused.push(call.epilogue !== undefined);
        super.gemm(call);
      }
    }
    const floats = new Floats();
    await floats.init();
    ops.tidy(() => {
      const of = (shape: readonly number[]): ops.Tensor => ops.ones(floats, shape, { dtype: 'f16' });
      const weight = ops.quantizedTensor(floats, right);
      expectError(() => ops.linear(of([1, 4]), weight, { bias: of([2]) }), 'UNSUPPORTED');
      ops.linear(of([1, 4]), of([2, 4]), { bias: of([2]) });
    });
    expect(fused).toEqual([true]);
    await floats.dispose();
  });

  test.each<readonly [string, object, RegExp]>([
    ['a shape of one axis', { shape: [4] }, /shape must be \[n, k\], got \[4\]/],
    ['a type that is none', { dtype: 'f32' }, /dtype must be one of i8, u8, i4, u4, got "f32"/],
    ['an empty block', { block: 0 }, /a block is 1 element or more, got 0/],
    ['fewer bytes', { data: new Uint8Array(3) }, /data must be \[2, 2\] for u4\[2, 4\] in blocks of 2, got 3/],
    ['other numbers', { data: new Float32Array(4) }, /data must be bytes in a Uint8Array or Int8Array/],
    ['more scales', { scales: [1, 2, 3, 4, 5] }, /scales must be \[2, 2\] for u4\[2, 4\] in blocks of 2, got 5/],
    ['scales that are bytes', { scales: new Uint8Array(4) }, /scales must be numbers or a Float32Array/],
    ['fewer zeros', { zeros: new Uint8Array(1) }, /zeros must be \[2, 1\]/],
    ['zeros and offsets', { offsets: [1, 2, 3, 4] }, /takes zeros or offsets, not both/],
    ['other scales', { dtypeScales: 'bf16' }, /dtypeScales must be f32 or f16, got "bf16"/],
  ])('quantizedTensor refuses %s', (_, wrong, message) => {
    const before = ops.memory();
    expectInvalid(() => ops.quantizedTensor(backend, { ...right, ...wrong }), message);
    expect(ops.memory()).toEqual(before);
  });

  test.each<readonly [string, object, RegExp]>([
    ['other bits', { bits: 2 }, /bits must be 4 or 8, got 2/],
    ['blocks of no bytes', { blockSize: 3 }, /blockSize must fill bytes, got 3/],
    ['rows that are not whole blocks', { b: new Uint8Array(20) }, /data must be \[1, 24\]/],
    ['zero points of each block a byte', { zeroPoints: new Uint8Array(3) }, /zeros must be \[1, 2\]/],
  ])('fromMatMulNBits refuses %s', (_, wrong, message) => {
    const node = { n: 1, k: 40, blockSize: 16, b: new Uint8Array(24), scales: [1, 2, 3] };
    expectInvalid(() => ops.fromMatMulNBits(backend, { ...node, ...wrong }), message);
  });

  test.each<readonly [string, object, RegExp]>([
    ['another type', { type: 'q2_K' }, /type must be one of q8_0, q4_0, q4_1, q4_K, q6_K, got "q2_K"/],
    ['rows that are not whole blocks', { shape: [2, 128] }, /shape of q4_K must be \[n, k\], k whole blocks of 256/],
    ['fewer bytes', { bytes: new Uint8Array(287) }, /q4_K\[2, 256\] has 288 bytes/],
    ['no bytes', { bytes: [1, 2] }, /q4_K\[2, 256\] has 288 bytes/],
  ])('fromGguf refuses %s', (_, wrong, message) => {
    const tensorOfFile = { type: 'q4_K', shape: [2, 256], bytes: new Uint8Array(288) } as const;
    expectInvalid(() => ops.fromGguf(backend, { ...tensorOfFile, ...wrong }), message);
  });
});
