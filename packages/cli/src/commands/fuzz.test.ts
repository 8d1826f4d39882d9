import { expect, test } from 'vitest';
import { IdleBackend, missing, run, working } from '../../test/fakes.ts';
import type { FuzzJson } from './fuzz.ts';

const cpu = working('cpu');
const idle = working('idle', {}, IdleBackend);

test('prints the seed first and the verdict last', async () => {
  const { code, stdout } = await run(['fuzz', '--count', '5', '--op', 'unary,bin*'], [cpu]);
  expect(stdout).toMatch(/^cpu, seed \d+\n5 calls tried: no wrong answer; stopped as its count is reached\n$/);
  expect(code).toBe(0);
});

test('draws the same calls from the same seed', async () => {
  const args = ['fuzz', '--seed', '42', '--count', '3', '--op', 'reduce', '--json', '-'];
  const first = await run(args, [idle]);
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(/^idle, seed 42\n/);
  expect((await run(args, [idle])).stdout).toBe(first.stdout);
  const { seed, tried, failures } = JSON.parse(first.stdout) as FuzzJson;
  expect({ seed, tried }).toEqual({ seed: 42, tried: 3 });
  const [failure] = failures;
  expect(first.stderr).toContain(`again: npx concord conformance --backend idle --filter '${failure?.id}'`);
  const replay = await run(['conformance', '--backend', 'idle', '--filter', failure?.id ?? ''], [idle]);
  expect(replay.code).toBe(1);
});

test.each([0, 2 ** 32 - 1])('takes the seed %i', async (seed) => {
  const { stdout } = await run(['fuzz', '--seed', String(seed), '--count', '1', '--op', 'unary'], [cpu]);
  expect(stdout).toMatch(new RegExp(`^cpu, seed ${seed}\\n`));
});

test.each([
  [['unary', '--seconds', '0.05'], cpu, /no wrong answer; stopped as its time is over\n$/],
  [['reduce', '--count', '1000'], idle, /20 failures; stopped as these failures are enough\n$/],
])('says why it stops: %j', async (args, provider, why) => {
  const { stdout } = await run(['fuzz', '--op', ...args], [provider]);
  expect(stdout).toMatch(why);
});

test('draws programs, and prints one that fails as JavaScript', async () => {
  const good = await run(['fuzz', '--programs', '--count', '2', '--seed', '9', '--json', '-'], [cpu]);
  expect(good.code).toBe(0);
  expect(good.stderr).toMatch(/\n2 programs tried \(\d+ calls, \d+ reads compared\): no wrong answer; /);
  expect((JSON.parse(good.stdout) as FuzzJson).programs?.calls).toBeGreaterThan(0);
  const bad = await run(['fuzz', '--programs', '--count', '1', '--seed', '2'], [idle]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/FAILED program\/seed=\d+\n/);
  expect(bad.stdout).toContain('backend.alloc(');
  expect(bad.stdout).toMatch(/again: npx concord conformance --backend idle --filter 'program\/seed=\d+'/);
});

test('programs and --op exclude each other', async () => {
  const { code, stderr } = await run(['fuzz', '--programs', '--op', 'gemm'], [cpu]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('Leave --op out') as string });
});

test('a missing device is not run', async () => {
  expect((await run(['fuzz', '--backend', 'webgpu'], [missing('webgpu')])).code).toBe(3);
});

test.each([
  ['--seconds', '0'],
  ['--count', '1.5'],
  ['--seed', '-1'],
  ['--op', 'sort'],
  ['--backend', 'gpu'],
])('%s %s is a wrong argument', async (option, value) => {
  const { code, stderr } = await run(['fuzz', option, value], [cpu]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: [^\n]+\nhint: [^\n]+\n$/);
});

test.each([
  ['gemn', 'gemm'],
  ['unary,atention', 'attention'],
])('--op %s may have meant %s', async (op, meant) => {
  const { code, stderr } = await run(['fuzz', '--op', op], [cpu]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/There are: gemm, .* \(USAGE\)\n/);
  expect(stderr).toContain(`hint: Did you mean ${meant}? concord fuzz --help`);
});

test('stops when it is interrupted', async () => {
  const { code, stdout } = await run(['fuzz', '--seconds', '60'], [cpu], { signal: AbortSignal.abort() });
  expect(code).toBe(130);
  expect(stdout).toContain('Interrupted by Ctrl-C after 0 calls');
});
