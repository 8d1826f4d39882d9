// @ts-check
// Builds and runs the C tests of this folder against a driver, through the real loader.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../vulkan/lib/system.mjs';
import { probe } from '../lib/cache.mjs';
import { compile } from '../lib/make.mjs';

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** A folder of this run's own, which the caller removes. */
export const makeFolder = () => mkdtempSync(join(tmpdir(), 'concord-level-zero-'));

/** Assembles the kernels of the tests. @param {string} folder */
export function assembleKernels(folder) {
  const assemble = (/** @type {string} */ source, /** @type {string} */ name) => {
    run('spirv-as', ['--target-env', 'spv1.0', source, '-o', join(folder, name)]);
    run('spirv-val', ['--target-env', 'opencl2.2', join(folder, name)]);
    return join(folder, name);
  };
  return { probe: assemble(probe.kernel, 'probe.spv'), touch: assemble(here('touch.spvasm'), 'touch.spv') };
}

/**
 * Compiles one of the C tests, unless it is in the folder already.
 *
 * @param {string} folder where to
 * @param {string} name
 * @param {string[]} [options] more of the compiler's
 */
export function buildProgram(folder, name, options = []) {
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const flags = [...compile, '-g', '-D_GNU_SOURCE', '-pthread', ...options];
  run('cc', [...flags, '-o', program, here(`${name}.c`), '-lze_loader']);
  return program;
}

/**
 * Runs a program on a driver, with nothing of this shell's own settings of it.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {string} driver
 * @param {Record<string, string>} [env]
 */
export function runProgram(program, args, driver, env) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(LEVEL_ZERO_CPU_|ZE_|ZEL_)/.test(name));
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 200_000,
    env: { ...Object.fromEntries(kept), ZE_ENABLE_ALT_DRIVERS: driver, ...env },
  });
  return { status: signal ?? status, stdout, stderr };
}
