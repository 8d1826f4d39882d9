import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether `spirv-val` and its like are installed (Debian's package spirv-tools). */
export const hasSpirvTools: boolean = spawnSync('spirv-val', ['--version']).status === 0;

/**
 * What `spirv-val` says against modules, each with its number in front; nothing if all are valid.
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
