import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from './support/in-process.ts';

// The driver for the CPU gives the SPIR-V itself as its binary, and takes none: what is kept is refused, and built again.
// Binaries that are taken are the matter of intel-driver.test.ts.

const PROGRAM = `
  const options = process.env.OPTION ? { moduleCache: process.env.OPTION } : {};
  const backend = new LevelZeroBackend(options);
  await backend.init();
  const x = backend.alloc(4);
  backend.copyHtod(x, Float32Array.of(-3));
  backend.unary({ op: 'abs', input: x, output: x, n: 1 });
  const y = new Float32Array(1);
  await backend.copyDtoh(y, x);
  console.log(y[0]);
  await backend.dispose();
`;

it('compiled modules are kept where they are wanted, and what a driver refuses is built again', async () => {
  const home = mkdtempSync(join(tmpdir(), 'concord-module-cache-'));
  const files = (): string[] => readdirSync(join(home, 'concord/level-zero/modules'));
  const run = (env: Record<string, string>) => runProgram(PROGRAM, { XDG_CACHE_HOME: home, ...env });
  try {
    // A device that is software is asked for it.
    expect(await run({})).toMatchObject({ code: 0, stdout: '3\n', stderr: '' });
    expect(readdirSync(home)).not.toContain('concord');
    expect(await run({ OPTION: 'use' })).toMatchObject({ code: 0, stdout: '3\n', stderr: '' });
    expect(files()).toHaveLength(1);
    const again = await run({ CONCORD_MODULE_CACHE: 'use' });
    expect(again).toMatchObject({ code: 0, stdout: '3\n' });
    expect(again.stderr).toContain('is not taken by the driver');
    expect(files()).toHaveLength(1);
    expect(await run({ CONCORD_MODULE_CACHE: 'use', OPTION: 'ignore' })).toMatchObject({ stdout: '3\n', stderr: '' });
    expect((await run({ CONCORD_MODULE_CACHE: 'yes' })).stderr).toContain('CONCORD_MODULE_CACHE must be use or ignore');
  } finally {
    rmSync(home, { recursive: true });
  }
});
