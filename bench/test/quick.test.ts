import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readyDriver } from '../../software-devices/level-zero-cpu/lib/cache.mjs';
import { type Device, readyDevice } from '../../software-devices/vulkan/lib/cache.mjs';

const MAIN = join(import.meta.dirname, '../dist/main.js');
const DEVICE = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';

async function bench(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 100_000 });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

it('cpu: every peer runs and is right', async () => {
  const { code, stdout } = await bench('--quick');
  expect(stdout).not.toContain('not run');
  expect(stdout).toContain('### attention');
  expect(code).toBe(0);
}, 60_000);

it('explains itself, and refuses what it does not know', async () => {
  expect(await bench('--help')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: pnpm bench/) as string,
  });
  expect(await bench('gpu')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^there is no target gpu/) as string,
  });
  expect(await bench('soak', '--op', '3')).toMatchObject({ code: 2 });
  expect(await bench('soak', '--backend', 'cpu', '--ops', '0')).toMatchObject({ code: 1 });
});

it('soak: on the CPU backend', async () => {
  const { code, stdout } = await bench('soak', '--backend', 'cpu', '--ops', '100');
  expect(stdout).toMatch(/\n100 ops in \d+ s; too few to judge memory by\n/);
  expect(code).toBe(0);
}, 60_000);

// On a machine that has neither a software device nor a GPU there is nothing to run on.
const hasDevice = DEVICE === 'none' || readyDevice(DEVICE as Device) !== undefined;
const device = ['--device', DEVICE === 'none' ? 'system' : DEVICE];

it.skipIf(!hasDevice)(
  'webgpu: every peer runs and is right',
  async () => {
    const { code, stdout } = await bench('webgpu', '--quick', ...device);
    expect(stdout).not.toContain('not run');
    expect(stdout).toContain('### Cost of a tiny op');
    expect(stdout.match(/^\| (concord|jax-js|tfjs webgpu) /gm)).toHaveLength(15);
    expect(code).toBe(0);
  },
  120_000,
);

// Built by `npm test`. Peers that a machine lacks are named and left out.
it.skipIf(readyDriver() === undefined)(
  'level-zero: every case is right',
  async () => {
    const { code, stdout } = await bench('level-zero', '--quick');
    expect(stdout).toContain('### Cost of a tiny op');
    expect(stdout.match(/^\| concord /gm)).toHaveLength(7);
    expect(code).toBe(0);
  },
  120_000,
);

it.skipIf(!hasDevice)(
  'limits: every case is right',
  async () => {
    const { code, stdout, stderr } = await bench('limits', '--quick', ...device);
    expect(stderr).not.toContain('FAILED');
    const ops = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { op: string }).op);
    expect([...new Set(ops)]).toEqual([
      ...['gemm', 'gemm_f16', 'batched_gemm', 'conv2d', 'attention'],
      ...['reduce_sum', 'reduce_max', 'binary_add', 'unary_exp', 'unary_tanh'],
    ]);
    expect(code).toBe(0);
  },
  120_000,
);

it.skipIf(!hasDevice)(
  'soak: a few ops, right and freed',
  async () => {
    const { code, stdout } = await bench('soak', '--ops', '100', ...device);
    expect(stdout).toMatch(/\n100 ops in \d+ s; /);
    expect(code).toBe(0);
  },
  120_000,
);
