import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { IdleBackend, missing, run, working } from '../../test/fakes.ts';
import type { ConformanceJson } from '../conformance/backend-run.ts';

afterEach(() => vi.unstubAllEnvs());

const cpu = working('cpu');
const idle = working('idle', {}, IdleBackend);

test('prints a line for an op, the table and the verdict', async () => {
  const { code, stdout, stderr } = await run(['conformance', '--filter', 'reduce'], [cpu]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^reduce: \d+ passed, 0 failed, 0 unsupported/m);
  expect(stdout).toMatch(/^Op +Passed +Failed +Unsupported +Time$/m);
  expect(stdout).toMatch(/^Everything passed, none unsupported: cpu on cpu device \(\d+ cases, .+\)$/m);
});

test('shows each failure with the command that repeats it', async () => {
  const { code, stdout } = await run(['conformance', '--backend', 'idle', '--filter', 'reduce/exact'], [cpu, idle]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^FAILED reduce\/\S+\n {4}\S.*\n {4}again: npx concord conformance --backend idle --filter 'reduce\//m,
  );
  expect(stdout).toMatch(/^\d+ failed, \d+ passed/m);
  // More than 20 of one op are counted by their check.
  expect(stdout.match(/^FAILED reduce\//gm)).toHaveLength(20);
  expect(stdout).toMatch(/^FAILED \d+ more cases of reduce, \d+ of exact$/m);
});

test('writes JSON to a file, or to stdout with all else on stderr', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concord-cli-'));
  const file = join(folder, 'report.json');
  expect((await run(['conformance', '--filter', 'reduce', '--json', file], [cpu])).code).toBe(0);
  const written = JSON.parse(await readFile(file, 'utf8')) as ConformanceJson;
  await rm(folder, { recursive: true });
  expect(Object.keys(written)).toEqual(['backend', 'device', 'versions', 'filter', 'cases']);
  expect(Object.keys(written.cases[0] ?? {})).toEqual(['id', 'op', 'status', 'ms']);

  const { stdout, stderr } = await run(['conformance', '--filter', 'reduce', '--json', '-'], [cpu]);
  expect((JSON.parse(stdout) as ConformanceJson).cases).toHaveLength(written.cases.length);
  expect(stderr).toContain('Everything passed');
});

test('a device that is missing is not run, and a failure where it is required', async () => {
  const args = ['conformance', '--backend', 'webgpu'];
  const optional = await run(args, [missing('webgpu'), cpu]);
  const stderr = 'not run: webgpu: no adapter was found (BACKEND_UNAVAILABLE)\nhint: install a driver\n';
  expect(optional).toEqual({ code: 3, stdout: '', stderr });
  vi.stubEnv('CONCORD_REQUIRE', 'level-zero,webgpu');
  const required = await run(args, [missing('webgpu'), working('level-zero'), cpu]);
  expect(required.code).toBe(1);
  expect(required.stderr).toContain('CONCORD_REQUIRE asks for it');
});

test('runs what CONCORD_REQUIRE names, and refuses names that it does not know', async () => {
  vi.stubEnv('CONCORD_REQUIRE', 'webgpu');
  expect((await run(['conformance', '--filter', 'reduce'], [cpu, missing('webgpu')])).code).toBe(1);
  vi.stubEnv('CONCORD_REQUIRE', 'webgqu');
  const { code, stderr } = await run(['conformance'], [cpu]);
  expect(code).toBe(1);
  expect(stderr).toContain('no backend "webgqu"; there are: cpu (INVALID_ARGUMENT)\nhint: check CONCORD_REQUIRE');
});

test.each([
  ['a filter that matches nothing', ['--filter', 'nothing/here'], 'NO_SUCH_CASE'],
  ['an unknown backend', ['--backend', 'gpu'], 'INVALID_ARGUMENT'],
  ['a file that cannot be written', ['--json', '/no/such/folder/x.json'], 'CANNOT_WRITE'],
])('%s is an error in one line with a hint', async (_, args, code) => {
  const ended = await run(['conformance', ...args], [cpu]);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(new RegExp(`^error: [^\\n]+ \\(${code}\\)\\nhint: [^\\n]+\\n$`));
});

test.each([
  ['redcue', "'reduce'"],
  ['gem/exact/**', "'gemm/exact/**'"],
  ['gemm/exact/m=17,n=33,k=65,TNN', "'gemm/exact/m=17,n=33,k=65,TN'"],
])('--filter %s may have meant %s', async (filter, meant) => {
  const { code, stderr } = await run(['conformance', '--filter', filter], [cpu]);
  expect(code).toBe(2);
  expect(stderr).toContain(`hint: did you mean ${meant}`);
});

test('--backend may have meant one that there is', async () => {
  const { stderr } = await run(['conformance', '--backend', 'webgqu'], [working('webgpu'), cpu]);
  expect(stderr).toContain('hint: did you mean webgpu? check the option --backend');
});

describe('--list', () => {
  test('prints the ids of the cases and opens no backend', async () => {
    const { code, stdout } = await run(['conformance', '--list', '--filter', 'reduce', '--sample', '0.1'], []);
    const { stdout: json } = await run(['conformance', '--filter', 'reduce', '--sample', '0.1', '--json', '-'], [cpu]);
    const { cases } = JSON.parse(json) as ConformanceJson;
    expect({ code, stdout }).toEqual({ code: 0, stdout: cases.map(({ id }) => `${id}\n`).join('') });
  });

  test('goes with no report', async () => {
    expect((await run(['conformance', '--list', '--json', '-'], [cpu])).code).toBe(2);
  });
});

describe('--bail', () => {
  const args = ['conformance', '--filter', 'reduce', '--bail'];

  test('ends at the first case that fails, with several backends too', async () => {
    const { code, stdout } = await run([...args, '--backend', 'idle,cpu', '--json', '-'], [cpu, idle]);
    expect(code).toBe(1);
    const [first, ...others] = [JSON.parse(stdout) as ConformanceJson].flat();
    expect(others).toEqual([]);
    expect(first?.cases.filter(({ status }) => status === 'failed')).toHaveLength(1);
    expect(first?.cases.at(-1)?.status).toBe('failed');
  });

  test('says so', async () => {
    const { stdout } = await run([...args, '--backend', 'idle'], [cpu, idle]);
    expect(stdout).toMatch(/^Ended at the first case that failed \(\d+ cases?, /m);
  });

  test('changes nothing where all pass', async () => {
    const { code, stdout } = await run(args, [cpu]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Everything passed/m);
  });
});

test('says how far it came when it is interrupted', async () => {
  const { code, stdout } = await run(['conformance', '--filter', 'reduce'], [cpu], { signal: AbortSignal.abort() });
  expect(code).toBe(130);
  expect(stdout).toMatch(/^Interrupted: only a part was run \(0 cases/);
});

describe('several backends', () => {
  const three = [missing('level-zero'), idle, cpu];
  const list = ['conformance', '--backend', 'level-zero,idle,cpu', '--filter', 'reduce'];

  test('are run one after the other and set side by side; the worst decides', async () => {
    const { code, stdout, stderr } = await run(list, three);
    expect(code).toBe(1);
    expect(stderr).toContain('not run: level-zero: no adapter was found');
    expect(stdout).toMatch(/^--- idle\n(.*\n)*.*failed.*\n\n--- cpu\n(.*\n)*Everything passed/m);
    expect(stdout).toMatch(/^Op +level-zero +idle +cpu\nreduce +not run +\d+ failed +\d+ passed\n/m);
    expect((await run([...list, '--backend', 'level-zero,cpu'], three)).code).toBe(3);
    expect((await run([...list, '--backend', 'cpu, cpu'], three)).stdout).not.toContain('---');
  });

  test('make a list of JSON, of one backend the object alone', async () => {
    const { stdout } = await run([...list, '--json', '-', '--sample', '0.5'], three);
    const written = JSON.parse(stdout) as ConformanceJson[];
    expect(written.map(({ backend, sample }) => [backend, sample])).toEqual([
      ['level-zero', 0.5],
      ['idle', 0.5],
      ['cpu', 0.5],
    ]);
    const notRun = { message: 'no adapter was found', hint: 'install a driver', isFailure: false };
    expect(written[0]).toMatchObject({ device: null, cases: [], notRun });
    const failure = written[1]?.cases.find(({ mismatch }) => mismatch?.unit === 'element');
    expect(failure?.mismatch).toMatchObject({ what: 'output', index: 0, got: 'NaN', bound: expect.any(Number) });
    const single = await run([...list, '--json', '-', '--backend', 'level-zero'], three);
    expect(JSON.parse(single.stdout)).toMatchObject({ backend: 'level-zero', notRun });
  });

  test('end at the one that was interrupted, and nothing is written', async () => {
    const signal = AbortSignal.abort();
    const { code, stdout } = await run([...list, '--backend', 'idle,cpu', '--json', '-'], three, { signal });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  });

  test('end where they are interrupted between two, and nothing is written', async () => {
    const controller = new AbortController();
    class Last extends CpuBackend {
      override async dispose(): Promise<void> {
        await super.dispose();
        controller.abort();
      }
    }
    const { code, stdout } = await run(
      ['conformance', '--backend', 'last,cpu', '--filter', 'fixed/number/reduce sum', '--json', '-'],
      [working('last', {}, Last), cpu],
      { signal: controller.signal },
    );
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  });

  test.each(['cpu,gpu', 'cpu,', ','])('%j names one that is not there', async (names) => {
    const { code, stderr } = await run(['conformance', '--backend', names], three);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: no backend "(gpu)?"; there are: level-zero, idle, cpu \(INVALID_ARGUMENT\)\n/);
  });
});

test('a sample is a part of the cases, and the same ones again', async () => {
  const idsOf = async (sample: string): Promise<string[]> => {
    const { stdout } = await run(['conformance', '--filter', 'reduce', '--sample', sample, '--json', '-'], [cpu]);
    return (JSON.parse(stdout) as ConformanceJson).cases.map(({ id }) => id);
  };
  const [tenth, half] = [await idsOf('0.1'), await idsOf('0.5')];
  expect(half.length).toBeGreaterThan(tenth.length);
  expect(half).toEqual(expect.arrayContaining(tenth));
  expect(await idsOf('0.1')).toEqual(tenth);
  expect(tenth).toContain('fixed/number/reduce sum');
});

test.each(['0', '1.5', 'x', '-0.1'])('--sample %s is a wrong argument', async (sample) => {
  const { code, stderr } = await run(['conformance', '--sample', sample], [cpu]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/above 0 and up to 1/);
});
