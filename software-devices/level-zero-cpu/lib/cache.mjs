// @ts-check
// Where the driver lies, and whether it is whole. Cheap, as every test run asks.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyOf, readStamp } from '../../vulkan/lib/stamp.mjs';

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The C sources and how they are linked. */
export const sources = path('../src');

/** The program that proves once that the driver works, and the kernel it runs. */
export const probe = { program: path('../probe/probe.c'), kernel: path('../probe/probe.spvasm') };

/** All that set-up makes is in this folder. */
export const cache = process.env['CONCORD_LEVEL_ZERO_CACHE'] ?? path('../../../.cache/software-devices/level-zero-cpu');

/** The driver: what `ZE_ENABLE_ALT_DRIVERS` has to name. */
export const driver = join(cache, 'libze_concord_cpu.so');

/** The driver is made anew on another system and from other sources. */
export function stampKey() {
  const made = readdirSync(sources).sort();
  return keyOf([path('make.mjs'), probe.program, probe.kernel, ...made.map((file) => join(sources, file))]);
}

/** The notes of set-up about the driver, or undefined where it is missing, damaged, or of other sources or another system. */
export const readyDriver = () => readStamp(cache, stampKey);
