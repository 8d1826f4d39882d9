import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceEvent } from '@concord/backend-core/profile';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { missing, run, working } from '../../test/fakes.ts';
import type { ProfileJson } from './profile.ts';

const PROGRAM = join(import.meta.dirname, '../../test/fixtures/program.fixture.ts');
const folder = mkdtempSync(join(tmpdir(), 'concord-profile-'));
afterAll(() => rmSync(folder, { recursive: true }));

let said: string[];
beforeEach(() => {
  said = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void said.push(text));
});
afterEach(() => vi.restoreAllMocks());

const all = [missing('webgpu'), working('cpu')];
const profile = (...args: readonly string[]) => run(['profile', PROGRAM, '--backend', 'cpu', ...args], all);
/** The words of each row, times and speeds left out. */
const rowsOf = (stdout: string): string[] =>
  stdout
    .split('\n\n')[0]
    ?.split('\n')
    .map((line) => line.replace(/ +[\d.]+ m?s.*/, '').replace(/ +/g, ' ')) ?? [];

describe('the table', () => {
  test('is by op, with times of the host on a backend that computes in the call', async () => {
    const { code, stdout, stderr } = await profile();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(said).toEqual(['said by the program']);
    const [head, ...rows] = rowsOf(stdout);
    expect(head).toBe('op launches replayed host time clock % GB/s GFLOP/s');
    expect(rows.sort()).toEqual(['binary add 1 0', 'gemm 2 1']);
    expect(stdout).toMatch(/\n3 launches on cpu \(cpu device\): [\d.]+ ms of [\d.]+ ms\n$/);
  });

  test.each([
    ['shape', ['binary add 100 f32 1 0', 'gemm m16 n32 k8 f32 2 1']],
    ['variant', ['add 1 0', 'gemm 2 1']],
    ['launch', ['0 gemm m16 n32 k8 f32 1 0', '1 gemm m16 n32 k8 f32 1 1', '2 binary add 100 f32 1 0']],
  ])('by %s', async (by, want) => {
    expect(
      rowsOf((await profile('--by', by)).stdout)
        .slice(1)
        .sort(),
    ).toEqual(want);
  });

  test('has shares of what the device was measured to reach', async () => {
    const { stdout } = await profile('--roofline', '--warm-up', '1');
    expect(said).toHaveLength(2);
    expect(rowsOf(stdout)[0]).toMatch(/ roof$/);
    expect(stdout).toMatch(/\nthe roof, as measured: [\d.]+ GB\/s and [\d.]+ GFLOP\/s\n$/);
  });
});

test('a program that fails: what ran until then, then its error', async () => {
  const failed = await profile('--export', 'failing');
  expect(rowsOf(failed.stdout)).toHaveLength(3);
  expect(failed.stderr).toContain('error: the program failed: a mistake of its own (PROGRAM_FAILED)\n');
  expect(failed.code).toBe(1);
  const refused = await profile('--export', 'refused', '--json', '-');
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot allocate 0 bytes (INVALID_ARGUMENT)'),
  });
  const { launches, error } = JSON.parse(refused.stdout) as ProfileJson;
  expect(launches).toHaveLength(3);
  expect(error).toEqual({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('cannot allocate 0 bytes') });
});

test('JSON and a trace, each to its own place; the program speaks to people', async () => {
  const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const trace = join(folder, 'trace.json');
  const { code, stdout, stderr } = await profile('--json', '-', '--trace', trace);
  expect(code).toBe(0);
  expect(error.mock.calls.flat().join('')).toContain('said by the program');
  expect(stderr).toContain('3 launches on cpu');
  const { launches, sums } = JSON.parse(stdout) as ProfileJson;
  expect(launches.map(({ kernel, isReplay, bytes, operations }) => [kernel, isReplay, bytes, operations])).toEqual([
    ['gemm', false, 4 * (16 * 8 + 8 * 32 + 16 * 32), 2 * 16 * 32 * 8],
    ['gemm', true, 4 * (16 * 8 + 8 * 32 + 16 * 32), 2 * 16 * 32 * 8],
    ['add', false, 1200, 100],
  ]);
  expect(sums.reduce((sum, each) => sum + each.launches, 0)).toBe(3);
  const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as { traceEvents: TraceEvent[] };
  expect(traceEvents.filter(({ ph }) => ph === 'X').map(({ name }) => name)).toEqual([
    'gemm m16 n32 k8 f32',
    'gemm m16 n32 k8 f32',
    'binary add 100 f32',
  ]);
  const both = await profile('--json', '-', '--trace', '-');
  expect(both).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--json and --trace cannot both'),
  });
});

test('Ctrl-C shows and writes what ran until then', async () => {
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(), 200);
  const file = join(folder, 'part.json');
  const args = ['profile', PROGRAM, '--backend', 'cpu', '--export', 'endless', '--json', file];
  const { code, stdout } = await run(args, all, { signal: interrupt.signal });
  expect(code).toBe(130);
  expect(stdout).toContain('Interrupted: this is what ran until then');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ interrupted: true, launches: [{}, {}, {}] });
});

test.each([
  [
    [PROGRAM, '--export', 'number'],
    'exports no function "number"; its exports: default, failing, refused, endless, number',
  ],
  [['./nothing.js'], 'cannot load ./nothing.js'],
  [[PROGRAM, '--by', 'color'], "argument 'color' is invalid"],
  [[PROGRAM, '--json', folder], 'it is a folder'],
])('%j is refused', async (args, message) => {
  const { code, stdout, stderr } = await run(
    ['profile', ...args, ...(args.includes('--backend') ? [] : ['--backend', 'cpu'])],
    all,
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('a backend that is not there', async () => {
  const { code, stderr } = await run(['profile', PROGRAM, '--backend', 'webgpu'], all);
  expect(code).toBe(3);
  expect(stderr).toContain('no adapter was found (BACKEND_UNAVAILABLE)');
});
