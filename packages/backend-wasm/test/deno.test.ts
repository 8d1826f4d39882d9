// The package as built, in Deno: `npm test` builds it first, `pnpm test:watch` does not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type CaseResult, requiredBackends, selectCases } from '@concord/conformance';
import { expect, it } from 'vitest';
import { DENO_ARGUMENTS, denoEnvironment } from '../../../software-devices/deno/launch.mjs';
import { setUpDeno } from '../../../software-devices/deno/setup.mjs';

const SAMPLE = 0.02;
const deno = setUpDeno();

if (deno.path === undefined) {
  it(`not run in Deno: ${deno.reason}`, (context) => {
    if (requiredBackends().includes('wasm')) expect.fail(deno.reason);
    context.skip(deno.reason);
  });
} else {
  const { path } = deno;
  it.each([
    ['threads', /^CPU, \d+ threads?, SIMD/],
    ['worker', /^CPU, one worker, SIMD/],
  ])('a share of conformance passes in Deno in mode %s, and the process ends by itself', async (mode, name) => {
    const args = [...DENO_ARGUMENTS, join(import.meta.dirname, 'deno/program.mjs'), mode, String(SAMPLE)];
    const child = spawn(path, args, {
      env: denoEnvironment('none'),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 200_000,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, stderr).toBe(0);
    const { device, cases } = JSON.parse(stdout) as { device: { name: string }; cases: readonly CaseResult[] };
    expect(device.name).toMatch(name);
    expect(cases.map(({ id }) => id)).toEqual(selectCases({ sample: SAMPLE }).map(({ id }) => id));
    expect(cases.filter(({ status }) => status !== 'passed')).toEqual([]);
  });
}
