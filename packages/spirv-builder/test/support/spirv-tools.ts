import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

const MISSING = ['spirv-val', 'spirv-dis'].filter((command) => spawnSync(command, ['--version']).status !== 0);
const REASON = `not installed: ${MISSING.join(', ')} (Debian: spirv-tools)`;

/**
 * Skips a test, with the reason, where SPIRV-Tools are not installed.
 *
 * @throws {Error} where `CONCORD_REQUIRE` names level-zero: then they have to be there
 */
export function needSpirvTools(context: Pick<TestContext, 'skip'>): void {
  if (MISSING.length === 0) return;
  if (process.env['CONCORD_REQUIRE']?.includes('level-zero') === true) throw new Error(REASON);
  context.skip(REASON);
}

/**
 * The errors of `spirv-val` for modules, each with its number in front; nothing if all are valid.
 *
 * @param environment - such as `opencl2.2`
 */
export function validationErrors(modules: readonly Uint32Array[], environment: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'concord-spirv-'));
  try {
    return modules.flatMap((words, index) => {
      const file = join(folder, `${index}.spv`);
      writeFileSync(file, new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
      const { status, stderr, stdout } = spawnSync('spirv-val', ['--target-env', environment, file], {
        encoding: 'utf8',
      });
      return status === 0 ? [] : [`${index}: ${stderr || stdout}`];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The output of `spirv-dis` for a module, without header and indentation. */
export function spirvDis(words: Uint32Array): string {
  const input = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  const { status, stdout, stderr } = spawnSync('spirv-dis', ['--no-header', '--no-indent', '-'], { input });
  if (status !== 0) throw new Error(`spirv-dis: ${stderr.toString().trim()}`);
  return stdout.toString();
}
