import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What `spirv-dis` prints for a module. */
export function spirvDis(words: Uint32Array, ...options: string[]): string {
  return run('spirv-dis', [...options, '-'], Buffer.from(words.buffer, words.byteOffset, words.byteLength)).toString();
}

/** The module that `spirv-as` makes of a text, ids kept. */
export function spirvAs(text: string, version = '1.6'): Uint32Array {
  const folder = mkdtempSync(join(tmpdir(), 'concord-spirv-as-'));
  try {
    const file = join(folder, 'module.spvasm');
    writeFileSync(file, text);
    const module = run('spirv-as', ['--preserve-numeric-ids', '--target-env', `spv${version}`, file, '-o', '-'], '');
    return new Uint32Array(Uint8Array.from(module).buffer);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command: string, args: string[], input: Buffer | string): Buffer {
  const { status, stdout, stderr } = spawnSync(command, args, { input, maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${command}: ${stderr.toString().trim()}`);
  return stdout;
}
