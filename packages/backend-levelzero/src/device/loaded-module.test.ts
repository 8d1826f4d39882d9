import { expect, it } from 'vitest';
import { defineKernel, type Kernel } from '../kernels/kernel.ts';
import type { Span } from '../kernels/recorder.ts';
import { LoadedKernel } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';

const kernel: Kernel = defineKernel({
  name: 'test',
  parameters: { x: 'f32*', count: 'u64', n: 'u32', scale: 'f32' },
  groupSize: [4, 2, 1],
  write: () => undefined,
});

/** A kernel on a device that only notes what it is told; `results` are what it answers to arguments. */
function load(results: number[] = []): { loaded: LoadedKernel; told: string[] } {
  const told: string[] = [];
  const api = {
    zeKernelSetGroupSize: (_: bigint, ...size: number[]) => {
      told.push(`groups of ${size.join('x')}`);
      return 0;
    },
    zeKernelSetArgumentValue: (_: bigint, index: number, size: number, bytes: Uint8Array) => {
      expect(size).toBe(bytes.byteLength);
      told.push(`${index}: ${Buffer.from(bytes).reverse().toString('hex')}`);
      return results.shift() ?? 0;
    },
  };
  const device = {
    api,
    check: (result: number) => expect(result).toBe(0),
    error: (result: number, call: string) => new Error(`${call}: ${result}`),
  };
  const object = { handle: 7n, argumentCount: 4, requiredGroupSize: [4, 2, 1] };
  return { loaded: new LoadedKernel(device as unknown as OpenDevice, kernel, object as never), told };
}

/** A span at an address, as the pool gives it. */
function span(address: bigint, byteOffset = 0): Span {
  const addressLow = Number(address & 0xffffffffn);
  const buffer = { id: 1, address, size: 2 ** 50, addressLow, addressHigh: Number(address >> 32n) };
  return { buffer, byteOffset, byteLength: 4 };
}

const rest = { count: 0, n: 0, scale: 0 };

it.each<[bigint, number]>([
  [0x1000n, 0],
  [0xffff_8000_0000_1000n, 12],
  [0xff00_0000_ffff_ff00n, 0x100],
  [0xff00_0000_ffff_ff00n, 0xff],
  [0xff00_0000_0000_0000n, 2 ** 32 + 8],
  [0xff00_0001_ffff_fff0n, 2 ** 33 + 0x18],
  [0xffff_0000_0000_0000n, 2 ** 45 - 4],
])('pointers are exact at any address: %s + %i', (address, offset) => {
  const { loaded, told } = load();
  loaded.setArguments({ x: span(address, offset), ...rest });
  expect(told[1]).toBe(`0: ${(address + BigInt(offset)).toString(16).padStart(16, '0')}`);
});

it('values have their types', () => {
  const { loaded, told } = load();
  loaded.setArguments({ x: span(0n), count: 2 ** 40 + 3, n: 4_294_967_295, scale: -1.5 });
  expect(told).toEqual([
    'groups of 4x2x1',
    `0: ${'0'.repeat(16)}`,
    '1: 0000010000000003',
    '2: ffffffff',
    '3: bfc00000',
  ]);
});

it('only arguments that changed are set again', () => {
  const { loaded, told } = load();
  const args = { x: span(0x1000n), count: 5, n: 6, scale: 7 };
  loaded.setArguments(args);
  told.length = 0;
  loaded.setArguments(args);
  expect(told).toEqual([]);
  loaded.setArguments({ ...args, n: 8, x: span(0x1000n, 4) });
  expect(told).toEqual(['0: 0000000000001004', '2: 00000008']);
});

it('an argument that was refused is set again', () => {
  const { loaded, told } = load([0, 0x70000003]);
  const args = { x: span(0x1000n), count: 5, n: 6, scale: 7 };
  expect(() => loaded.setArguments(args)).toThrow('zeKernelSetArgumentValue(1) of test: 1879048195');
  told.length = 0;
  loaded.setArguments(args);
  expect(told.map((line) => line[0])).toEqual(['1', '2', '3']);
});

it('a kernel with another number of arguments is not ours', () => {
  const object = { handle: 7n, argumentCount: 3, requiredGroupSize: [4, 2, 1] };
  expect(() => new LoadedKernel({} as OpenDevice, kernel, object as never)).toThrow('3 in the module, 4 declared');
});
