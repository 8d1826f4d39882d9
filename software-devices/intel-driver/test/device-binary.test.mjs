// @ts-check
import { expect, test } from 'vitest';
import { readKernel } from '../lib/device-binary.mjs';

const words = (/** @type {number[]} */ ...values) => Buffer.from(Uint32Array.from(values).buffer);
/** @param {number} token @param {number[]} values */
const patch = (token, ...values) => words(token, 8 + 4 * values.length, ...values);

/** A binary of one kernel. @param {{ magic?: number, kernels?: number, type?: number }} [change] */
function binaryOf({ magic = 0x494e5443, kernels = 1, type = 0xff000005 } = {}) {
  const name = Buffer.from('main\0\0\0\0');
  const code = Buffer.from('code of the kernel, padded.......');
  const dynamicState = Buffer.alloc(24, 1);
  const environment = [16, 4, 1, 16, ...Array.from({ length: 16 }, () => 1), 256];
  const patches = Buffer.concat([
    patch(15, 0, 4096),
    patch(18, 0, 1024),
    patch(99, 7),
    patch(55, 0, 2048),
    patch(23, ...environment),
  ]);
  const header = words(0, 0, 0, name.length, patches.length, code.length, 0, dynamicState.length, 0, 26);
  const ofProgram = patch(42, 5, 6);
  const program = words(magic, 1081, 12, 8, kernels, 9, ofProgram.length);
  const elf = Buffer.alloc(64 + 2 * 64);
  elf.writeBigUInt64LE(64n, 0x28);
  elf.writeUInt16LE(64, 0x3a);
  elf.writeUInt16LE(2, 0x3c);
  elf.writeUInt32LE(type, 64 + 64 + 4);
  elf.writeBigUInt64LE(BigInt(elf.length), 64 + 64 + 0x18);
  return Buffer.concat([elf, program, ofProgram, header, name, code, dynamicState, patches]);
}

test('lanes, registers, workgroup memory, both kinds of scratch, and the code without its padding', () => {
  const { code, ...kernel } = readKernel(binaryOf());
  expect(kernel).toEqual({ simd: 16, grf: 256, slm: 4096, scratch: 3072 });
  expect(Buffer.from(code).toString()).toBe('code of the kernel, padded');
});

test.each([
  [{ magic: 1 }, 'of an unknown format'],
  [{ kernels: 0 }, 'has no kernel'],
  [{ type: 3 }, 'has no program for a device'],
])('%j is refused: %s', (change, message) => {
  expect(() => readKernel(binaryOf(change))).toThrow(message);
});
