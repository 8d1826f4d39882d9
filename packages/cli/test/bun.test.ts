// The backends as built, in Bun: WebGPU through Dawn, Level Zero through koffi. A smoke run; what they compute is tested in Node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { setUpBun } from '../../../software-devices/bun/setup.mjs';
import { driver, readyDriver } from '../../../software-devices/level-zero-cpu/lib/cache.mjs';
import { folderOf, readyDevice } from '../../../software-devices/vulkan/lib/cache.mjs';

const COMMAND = join(import.meta.dirname, '../bin/concord.js');
const TIMEOUT_MS = 120_000;

const bun = setUpBun();
/** Those whose device is here. */
const backends = [
  'wasm',
  'cpu',
  ...(readyDevice('lavapipe') === undefined ? [] : ['webgpu']),
  ...(readyDriver() === undefined ? [] : ['level-zero']),
];

if (bun.path === undefined) {
  it(`not run in Bun: ${bun.reason}`, (context) => {
    if (process.env['CI'] !== undefined) expect.fail(bun.reason);
    context.skip(bun.reason);
  });
} else {
  const { path } = bun;
  it(
    `conformance of ${backends.join(', ')} runs in Bun`,
    async () => {
      const args = [COMMAND, 'conformance', '--backend', backends.join(','), '--sample', '0.02'];
      const devices = { LD_LIBRARY_PATH: folderOf('lavapipe'), ZE_ENABLE_ALT_DRIVERS: driver };
      const env = { ...process.env, ...devices, CONCORD_REQUIRE: backends.join(',') };
      const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (output += text.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      for (const backend of backends) expect(output).toContain(`Everything passed, none unsupported: ${backend} on `);
      expect(code, output).toBe(0);
    },
    TIMEOUT_MS,
  );
}
