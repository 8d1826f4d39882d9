import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

interface Outcome {
  readonly status: string;
  readonly failureMessages: readonly string[];
}

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const REPOSITORY = join(import.meta.dirname, '..', '..', '..');

/** Runs the fixture file as a separate project and gives the outcome of each test by its full name. */
async function runFixture(required: string): Promise<ReadonlyMap<string, Outcome>> {
  const config = join(import.meta.dirname, 'fixtures', 'vitest.config.ts');
  const child = spawn(process.execPath, [VITEST, 'run', '--config', config, '--reporter=json'], {
    cwd: REPOSITORY,
    env: { ...process.env, CONCORD_REQUIRE: required, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  await once(child, 'close');
  const start = stdout.indexOf('{');
  if (start < 0) throw new Error(`vitest printed no report: ${stdout}${stderr}`);
  const report = JSON.parse(stdout.slice(start)) as {
    testResults: { assertionResults: (Outcome & { fullName: string })[] }[];
  };
  return new Map(report.testResults.flatMap((file) => file.assertionResults.map((test) => [test.fullName, test])));
}

describe('describeConformance', () => {
  let outcomes: ReadonlyMap<string, Outcome>;
  const statusOf = (name: string): string | undefined => outcomes.get(name)?.status;
  const messageOf = (name: string): string => outcomes.get(name)?.failureMessages.join('\n') ?? '';

  beforeAll(async () => {
    outcomes = await runFixture('');
  });

  it('has one passing test per case, by its id', () => {
    expect(statusOf('conformance of cpu attention/refuses/bad heads')).toBe('passed');
    expect(statusOf('conformance of cpu unary/refuses/bad n')).toBe('passed');
    expect(statusOf('conformance of cpu something passed')).toBe('passed');
  });

  it('shows what is unsupported as skipped', () => {
    expect(statusOf('partial attention/refuses/bad heads')).toMatch(/^(skipped|pending)$/);
    expect(statusOf('partial unary/refuses/bad n')).toBe('passed');
    expect(statusOf('partial something passed')).toBe('passed');
  });

  it('fails when nothing passed', () => {
    expect(statusOf('nothing something passed')).toBe('failed');
  });

  it('fails with the detail of the case', () => {
    expect(statusOf('wrong unary/accuracy/fn=neg')).toBe('failed');
    expect(messageOf('wrong unary/accuracy/fn=neg')).toMatch(/neg of 1 values: 1 of 1 wrong; first at \[0\]: got NaN/);
  });

  it('shows an absent device as one skipped test with the reason', () => {
    const absent = [...outcomes].filter(([name]) => name.startsWith('absent '));
    expect(absent.map(([name]) => name)).toEqual(['absent not run: backend unavailable: no adapter']);
    expect(absent[0]?.[1].status).toMatch(/^(skipped|pending)$/);
  });

  it('fails when init fails for another reason', () => {
    const broken = [...outcomes].filter(([name]) => name.startsWith('broken '));
    expect(broken).toHaveLength(1);
    expect(broken[0]?.[0]).toMatch(/the driver crashed/);
    expect(broken[0]?.[1].status).toBe('failed');
  });

  it('fails for an absent device that CONCORD_REQUIRE names', async () => {
    outcomes = await runFixture('webgpu, cpu');
    const name = 'absent not run: backend unavailable: no adapter';
    expect(statusOf(name)).toBe('failed');
    expect(messageOf(name)).toMatch(/no adapter \(CONCORD_REQUIRE names cpu\)/);
  });
});
