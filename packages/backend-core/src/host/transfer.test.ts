import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid, expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import { download, NULL_PTR, upload } from '../index.ts';

describe('upload and download', () => {
  it('bring float32 values there and back', async () => {
    const backend = await MemoryBackend.open();
    const values = Float32Array.of(1.5, -0, Number.NaN, Infinity, 1e-40);
    const ptr = upload(backend, values, { label: 'x' });
    expect(backend.calls[0]).toEqual([20, 'x']);
    expect(await download(backend, ptr, 5)).toEqual(values);
    expect(await download(backend, upload(backend, [0.1, 2]), 2)).toEqual(Float32Array.of(0.1, 2));
    expect(backend.memory().liveAllocations).toBe(2);
  });

  it('round to f16', async () => {
    const backend = await MemoryBackend.open();
    const ptr = upload(backend, [1, 2049, 65520], { dtype: 'f16' });
    expect(backend.memory().inUseBytes).toBe(6);
    expect(await download(backend, ptr, 3, { dtype: 'f16' })).toEqual(Float32Array.of(1, 2048, Infinity));
  });

  it('round to bf16: to nearest, ties to even', async () => {
    const backend = await MemoryBackend.open();
    const ulp = 2 ** -7;
    const values = [1, 1 + ulp / 2, 1 + 1.5 * ulp, 1 + 0.75 * ulp, -Infinity, Number.NaN, 3.4e38, 2 ** -133, 2 ** -135];
    const ptr = upload(backend, values, { dtype: 'bf16' });
    expect(backend.memory().inUseBytes).toBe(2 * values.length);
    expect([...(await download(backend, ptr, values.length, { dtype: 'bf16' }))]).toEqual([
      1,
      1,
      1 + 2 * ulp,
      1 + ulp,
      -Infinity,
      Number.NaN,
      Infinity,
      2 ** -133,
      0,
    ]);
  });

  it.each([
    ['i32', Int32Array.of(-(2 ** 31), -1, 2 ** 31 - 1)],
    ['u32', Uint32Array.of(0, 1, 2 ** 32 - 1)],
    ['i8', Int8Array.of(-128, -1, 127)],
    ['u8', Uint8Array.of(0, 1, 255)],
  ] as const)('bring %s there and back, from its typed array and from numbers', async (dtype, values) => {
    const backend = await MemoryBackend.open();
    expect(await download(backend, upload(backend, values), 3, { dtype })).toEqual(values);
    expect(backend.memory().inUseBytes).toBe(values.byteLength);
    expect(await download(backend, upload(backend, [...values], { dtype }), 3, { dtype })).toEqual(values);
  });

  it('never convert integers', async () => {
    const backend = await MemoryBackend.open();
    const detail = (name: string, held: string, dtype: string) => `a ${name} is uploaded as ${held}, not as ${dtype}`;
    expectInvalid(() => upload(backend, new Int32Array(1), { dtype: 'f32' }), detail('Int32Array', 'i32', 'f32'));
    const halves = 'f32 or f16 or bf16';
    expectInvalid(() => upload(backend, new Float32Array(1), { dtype: 'u8' }), detail('Float32Array', halves, 'u8'));
    for (const [dtype, value, range] of [
      ['i8', 128, '-128 to 127'],
      ['u8', -1, '0 to 255'],
      ['u32', 0.5, '0 to 4294967295'],
      ['i32', Number.NaN, '-2147483648 to 2147483647'],
    ] as const) {
      const refused = () => upload(backend, [0, value], { dtype });
      expectInvalid(refused, `data[1] must be an integer from ${range}, got ${value}`);
    }
  });

  it('take a Float32Array of another realm', async () => {
    const backend = await MemoryBackend.open();
    const foreign = runInNewContext('Float32Array.of(1, 2)') as Float32Array;
    expect(await download(backend, upload(backend, foreign), 2)).toEqual(Float32Array.of(1, 2));
  });
});

describe('upload refuses', () => {
  const typeError = (shown: string) =>
    'upload takes an array of numbers or one of Float32Array, Int32Array, Uint32Array, Int8Array, Uint8Array, ' +
    `got ${shown}`;
  it.each([
    [new Float64Array(2), typeError('Float64Array')],
    [new Uint16Array(2), typeError('Uint16Array')],
    [new BigInt64Array(2), typeError('BigInt64Array')],
    [new ArrayBuffer(8), typeError('ArrayBuffer')],
    [new DataView(new ArrayBuffer(8)), typeError('DataView')],
    [{ length: 2 }, typeError('Object')],
    ['12', typeError('"12"')],
    [undefined, typeError('undefined')],
    [[], 'upload of an empty or detached array'],
    [new Float32Array(), 'upload of an empty or detached array'],
    [[1, '2'], 'data[1] must be a number, got "2"'],
    [[1, 2n], 'data[1] must be a number, got 2n'],
    [[1, null], 'data[1] must be a number, got null'],
    [Array.from({ length: 3 }), 'data[0] must be a number, got undefined'],
  ])('%s', async (data, detail) => {
    const backend = await MemoryBackend.open();
    const error = expectInvalid(() => upload(backend, data as never), detail);
    const convert = { Float64Array: 'data', Uint16Array: 'data', BigInt64Array: 'data, Number' };
    const given = convert[Object.prototype.toString.call(data).slice(8, -1) as keyof typeof convert];
    const hint = given && `convert with Float32Array.from(${given}), which rounds to float32`;
    if (detail.startsWith('upload takes')) expect(error.hint).toBe(hint);
    expect(backend.hooks).toEqual([]);
  });

  it('a detached array, and an unknown dtype', async () => {
    const backend = await MemoryBackend.open();
    const data = new Float32Array(4);
    structuredClone(data.buffer, { transfer: [data.buffer] });
    expectInvalid(() => upload(backend, data), 'upload of an empty or detached array');
    expectInvalid(
      () => upload(backend, [1], { dtype: 'f64' as never }),
      'dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got "f64"',
    );
  });

  it('and keeps nothing when the copy fails', async () => {
    const backend = await MemoryBackend.open();
    backend.failing.set('copyHtod', new Error('no'));
    expectError(() => upload(backend, [1, 2]), 'DEVICE_ERROR', 'no');
    expect(backend.hooks).toEqual(['alloc', 'copyHtod', 'free']);
    expect(backend.memory().inUseBytes).toBe(0);
    expectError(() => upload(backend, new Float32Array(2 ** 19)), 'OUT_OF_MEMORY');
  });
});

describe('download', () => {
  it('checks length, dtype and pointer', async () => {
    const backend = await MemoryBackend.open();
    const ptr = upload(backend, [1, 2]);
    const rejected = (length: unknown, detail: string, options?: object) =>
      expectRejection(download(backend, ptr, length as number, options), 'INVALID_ARGUMENT', detail);
    await rejected(-1, 'length must be a non-negative safe integer, got -1');
    await rejected(Number.NaN, 'length must be a non-negative safe integer, got NaN');
    await rejected(2 ** 53, 'length must be a non-negative safe integer, got 9007199254740992');
    await rejected(2 ** 53 - 1, 'the host cannot hold an array of 9007199254740991 elements');
    await rejected(2 ** 53 - 1, 'the host cannot hold an array of 9007199254740991 elements', { dtype: 'f16' });
    await rejected(2, 'dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got "f8"', { dtype: 'f8' });
    await rejected(3, 'src is out of bounds: 12 bytes at offset 0 of its allocation of 8 bytes');
    await expectRejection(download(backend, NULL_PTR, 1), 'INVALID_ARGUMENT', 'unknown handle 0');
    expect(await download(backend, NULL_PTR, 0)).toHaveLength(0);
  });

  it('hands the wait options on', async () => {
    const backend = await MemoryBackend.open();
    const ptr = upload(backend, [1]);
    backend.pending = gate();
    const late = download(backend, ptr, 1, { timeoutMs: 1 });
    await expectRejection(late, 'DEVICE_ERROR', 'copyDtoh did not finish within 1 ms');
    await expect(download(backend, ptr, 1, { signal: AbortSignal.abort('no') })).rejects.toBe('no');
  });
});
