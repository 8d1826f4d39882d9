import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdleBackend, missing, run, working } from '../../test/fakes.ts';

const folder = mkdtempSync(join(tmpdir(), 'concord-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (name: string): string => join(folder, name);
const all = [missing('level-zero'), working('idle', { name: 'Acme 1' }, IdleBackend), working('cpu')];
const conformance = async (name: string, ...args: readonly string[]): Promise<number> =>
  (await run(['conformance', '--json', fileOf(name), ...args], all)).code;
const bench = async (name: string, ...args: readonly string[]): Promise<number> =>
  (await run(['bench', '--size', 'small', '--seconds', '0.001', '--json', fileOf(name), ...args], all)).code;
const report = (...args: readonly string[]) => run(['report', ...args], []);

beforeAll(async () => {
  expect(await conformance('good.json', '--backend', 'cpu', '--filter', 'reduce/exact/**')).toBe(0);
  expect(await conformance('bad.json', '--backend', 'idle', '--filter', 'reduce/exact/**')).toBe(1);
  expect(await conformance('absent.json', '--backend', 'level-zero')).toBe(3);
  expect(await conformance('two.json', '--backend', 'level-zero,cpu', '--filter', 'unary', '--sample', '0.1')).toBe(3);
  expect(await bench('bench.json', '--backend', 'cpu', '--op', 'unary,memory')).toBe(0);
});

test('shows what a run of conformance found, with its exit code', async () => {
  const { code, stdout, stderr } = await report(fileOf('good.json'));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Conformance, \d+ cases, matching reduce\/exact\/\*\*\ncpu: cpu device, Acme 1\.2\n/);
  expect(stdout).toMatch(/reduce +\d+ passed/);
  const bad = await report(fileOf('bad.json'));
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(
    /FAILED reduce\/exact\/.*\n(.*\n)*? +again: concord conformance --backend idle --filter '/,
  );
  expect(bad.stdout).toMatch(/and [\d,]+ more failures: --html shows them all/);
  expect((await report(fileOf('absent.json'))).code).toBe(3);
  expect((await report(fileOf('two.json'))).code).toBe(3);
});

test('sets reports of the same cases side by side, each under its own name', async () => {
  const { stdout } = await report(fileOf('good.json'), fileOf('bad.json'), fileOf('two.json'));
  expect(stdout).toMatch(/Op +cpu \(good\.json\) +idle\n/);
  expect(stdout).toMatch(/unary matching|matching unary, a sample of 10 %/);
  expect(stdout).toMatch(/Op +level-zero +cpu \(two\.json\)\n/);
  writeFileSync(fileOf('other.json'), readFileSync(fileOf('good.json'), 'utf8').replace('cpu device', 'Acme 2'));
  expect((await report(fileOf('good.json'), fileOf('other.json'))).stdout).toMatch(
    /cpu \(cpu device\) +cpu \(Acme 2\)/,
  );
});

test('what a file says cannot move the cursor, and a measurement without numbers is no report', async () => {
  const text = readFileSync(fileOf('bench.json'), 'utf8');
  const json = JSON.parse(text) as { cases: { title: string; results: Record<string, unknown>[] }[] };
  for (const each of json.cases) each.title = 'a\u001b[2Jb';
  writeFileSync(fileOf('hostile.json'), JSON.stringify(json));
  const { stdout } = await report(fileOf('hostile.json'));
  expect(stdout).toContain('a\\u001b[2Jb');
  expect(stdout).not.toContain('\u001b[2J');
  delete json.cases[0]?.results[0]?.['roundSeconds'];
  writeFileSync(fileOf('hostile.json'), JSON.stringify(json));
  expect(await report(fileOf('hostile.json'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('roundSeconds'),
  });
});

test('shows speeds as bench does', async () => {
  const { code, stdout } = await report(fileOf('bench.json'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Bench, \d+ cases of size small\ncpu: cpu device, Acme 1\.2\n/);
  expect(stdout).toMatch(/unary +GB\/s +10-90 % +first call\n/);
  const twice = await report(fileOf('bench.json'), fileOf('bench.json'));
  expect(twice.stdout).toMatch(/cpu \(.*bench\.json, 2\) +[\d.]+ .* 1\.00?x/);
});

test('writes one page of all', async () => {
  const { code, stdout } = await report(fileOf('good.json'), fileOf('bad.json'), fileOf('bench.json'), '--html', '-');
  expect(code).toBe(1);
  expect(stdout).toContain('<h1>Concord report</h1>');
  expect(stdout).toMatch(/<li>\s*.*bench\.json: bench, \d{4}-\d\d-\d\d \d\d:\d\d UTC, concord .* on Node\.js/);
  expect(stdout).toMatch(/<h2>Does it compute right\?<\/h2>[^]*<h2>Failing cases<\/h2>[^]*<h2>How fast is it\?<\/h2>/);
  // The values that JSON has no number for are numbers again.
  expect(stdout).toMatch(/<dt>Got<\/dt>\s*<dd class="number">NaN<\/dd>/);
});

test.each([
  ['a file that is not there', 'nothing.json', undefined, 'CANNOT_READ'],
  ['no JSON', 'text.json', 'gemm: passed', 'CANNOT_READ'],
  ['JSON of something else', 'package.json', '{ "name": "x" }', 'NO_REPORT'],
  ['a list of nothing', 'list.json', '[]', 'NO_REPORT'],
])('%s is a wrong argument', async (_, name, text, code) => {
  if (text !== undefined) writeFileSync(fileOf(name), text);
  const ended = await report(fileOf(name));
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain(`(${code})`);
  expect(ended.stderr).toContain('hint: give files that concord conformance --json');
});

test('names the field that is not as the schema says', async () => {
  const text = readFileSync(fileOf('good.json'), 'utf8').replace('"status": "passed"', '"status": "perfect"');
  writeFileSync(fileOf('edited.json'), text);
  const { code, stderr } = await report(fileOf('edited.json'));
  expect(code).toBe(2);
  expect(stderr).toMatch(/edited\.json is not a report: .*\/cases\/0\/status/);
});

test('what was measured of other ops, sizes or for longer stands apart', async () => {
  const text = readFileSync(fileOf('bench.json'), 'utf8');
  const changed = (change: object): string => JSON.stringify({ ...(JSON.parse(text) as object), ...change });
  const { method } = JSON.parse(text) as { method: object };
  const runs = async (other: string): Promise<number> => {
    writeFileSync(fileOf('changed.json'), other);
    const { stdout } = await report(fileOf('bench.json'), fileOf('changed.json'));
    return stdout.match(/^Bench/gm)?.length ?? 0;
  };
  expect(await runs(text)).toBe(1);
  for (const change of [{ op: 'unary' }, { size: 'real' }, { method: { ...method, seconds: 0.002 } }]) {
    expect(await runs(changed(change)), JSON.stringify(change)).toBe(2);
  }
});
