import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackendError, type ComputeBackend, type OpName, type Support } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { requiredBackends, runConformance, selectCases, type ConformanceReport } from '../src/index.ts';
import { VERSION } from '../src/version.ts';
import { Absent, Broken, WithoutAttention } from './fixtures/backends.ts';

/** Has no attention, says so, and computes it all the same. */
class Liar extends WithoutAttention {
  override attention(): void {}
}

class WrongError extends WithoutAttention {
  override attention(): void {
    throw new BackendError('DEVICE_ERROR', 'crash');
  }
}

class WithoutReason extends WithoutAttention {
  override supports(op: OpName, shape?: object): Support {
    return op === 'attention' ? { ok: false, reason: '' } : super.supports(op, shape);
  }
}

/** BaseBackend makes BACKEND_UNAVAILABLE of it, with reason `failed`: a crash is no absent device. */
class Crashing extends CpuBackend {
  protected override doInit(): Promise<never> {
    return Promise.reject(new TypeError('the driver crashed'));
  }
}

const ONE = 'attention/bounded/default';
const only = async (create: () => ComputeBackend, filter = ONE): Promise<ConformanceReport> => {
  return runConformance(create, { filter });
};

afterEach(() => vi.unstubAllEnvs());

describe('what a backend lacks', () => {
  it('is unsupported with its reason when it is declared and refused', async () => {
    const report = await only(() => new WithoutAttention());
    expect(report.cases).toMatchObject([
      { id: ONE, op: 'attention', status: 'unsupported', detail: 'no softmax here' },
    ]);
    expect(report).toMatchObject({ passed: 0, failed: 0, unsupported: 1 });
  });

  it('does not make a report that passes when nothing passed', async () => {
    expect((await only(() => new WithoutAttention())).ok).toBe(false);
    const mixed = await only(() => new WithoutAttention(), '[au]*/refuses/bad [hn]*');
    expect(mixed).toMatchObject({ ok: true, passed: 1, failed: 0, unsupported: 2 });
  });

  it.each([
    ['is computed all the same', Liar, /but the call was accepted$/],
    ['gives another error', WrongError, /but the call threw .*crash/],
    ['has no reason', WithoutReason, /^attention is unsupported without a reason$/],
  ])('fails when it %s', async (_, Backend, detail) => {
    const report = await only(() => new Backend());
    expect(report).toMatchObject({ ok: false, failed: 1, unsupported: 0 });
    expect(report.cases[0]?.detail).toMatch(detail);
  });
});

describe('a report', () => {
  it('is ok when something passed and nothing failed', async () => {
    const report = await only(() => new CpuBackend());
    expect(report).toMatchObject({ backend: 'cpu', ok: true, passed: 1, failed: 0, unsupported: 0 });
    expect(report.device?.type).toBe('cpu');
    expect(report.versions['conformance']).toBe(VERSION);
    expect(report.notRun).toBeUndefined();
    expect(report.cases[0]?.ms).toBeGreaterThanOrEqual(0);
  });

  it('has the version of the package', () => {
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as object;
    expect(manifest).toHaveProperty('version', VERSION);
  });

  it('is refused for a filter that matches nothing', async () => {
    await expect(only(() => new CpuBackend(), 'no such case')).rejects.toThrow(RangeError);
  });

  it('counts every case and tells the progress', async () => {
    const seen: string[] = [];
    const report = await runConformance(() => new CpuBackend(), {
      filter: 'binary/accuracy',
      onCase: ({ id }, done, total) => seen.push(`${id} ${done}/${total}`),
    });
    expect(report.passed).toBeGreaterThan(10);
    expect(seen).toEqual(report.cases.map(({ id }, i) => `${id} ${i + 1}/${report.passed}`));
  });

  it('is of a sample where one is asked for', async () => {
    const selection = { filter: 'unary', sample: 0.1 };
    const report = await runConformance(() => new CpuBackend(), selection);
    expect(report).toMatchObject({ ok: true, failed: 0 });
    expect(report.cases.map(({ id }) => id)).toEqual(selectCases(selection).map(({ id }) => id));
  });

  it('holds what was done before an abort, and is not ok', async () => {
    const controller = new AbortController();
    const report = await runConformance(() => new CpuBackend(), {
      filter: 'unary',
      signal: controller.signal,
      onCase: (_, done) => done === 3 && controller.abort(),
    });
    expect(report).toMatchObject({ passed: 3, failed: 0, ok: false });
    expect(report.cases).toHaveLength(3);
  });
});

describe('no device', () => {
  it('is not run, with the reason, and no failure', async () => {
    const report = await only(() => new Absent());
    expect(report).toMatchObject({ device: null, cases: [], passed: 0, failed: 0, unsupported: 0, ok: false });
    expect(report.notRun).toBe('backend unavailable: no adapter');
  });

  it('is a failure where CONCORD_REQUIRE names the backend', async () => {
    vi.stubEnv('CONCORD_REQUIRE', ' other , cpu ');
    expect(requiredBackends()).toEqual(['other', 'cpu']);
    const report = await only(() => new Absent());
    expect(report).toMatchObject({ failed: 1, ok: false });
    expect(report.notRun).toBe('backend unavailable: no adapter (CONCORD_REQUIRE names cpu)');
    vi.stubEnv('CONCORD_REQUIRE', 'other');
    expect((await only(() => new Absent())).failed).toBe(0);
  });

  it('is a failure when init fails for another reason', async () => {
    const report = await only(() => new Broken());
    expect(report).toMatchObject({ device: null, failed: 1, ok: false });
    expect(report.notRun).toMatch(/the driver crashed/);
    const plain = await only(() => new Crashing());
    expect(plain).toMatchObject({ device: null, failed: 1, ok: false });
  });
});
