// @ts-check
import { readFileSync } from 'node:fs';
import { readKernel } from './device-binary.mjs';
import { disassemble } from './disassemble.mjs';
import { findMainLoop } from './main-loop.mjs';

/**
 * The facts about a compiled kernel.
 *
 * @param {string} file a native binary
 * @param {import('./products.mjs').Product} product what it is for
 */
export async function describeKernel(file, product) {
  const { code, ...kernel } = readKernel(readFileSync(file));
  return { ...kernel, loop: findMainLoop(await disassemble(code, product)) };
}
