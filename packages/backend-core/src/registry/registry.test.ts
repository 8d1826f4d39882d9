import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectRejection } from '../../test/expect-error.ts';
import { MemoryBackend, type MemoryBackendOptions } from '../../test/memory-backend.ts';
import {
  type Attempt,
  type BackendProvider,
  type DeviceInfo,
  type DeviceType,
  type DType,
  type ProbeResult,
  selectBackend,
} from '../index.ts';
import type { CheckedRun } from '../kernel/index.ts';

beforeEach(() => {
  vi.stubEnv('CONCORD_BACKEND', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const device = (type: DeviceType): DeviceInfo => ({ vendor: 'v', name: `${type} device`, type, driver: '1' });

interface Fake extends Partial<Omit<BackendProvider, 'probe'>> {
  readonly types?: DeviceType[];
  readonly probe?: () => Promise<ProbeResult>;
  readonly backend?: MemoryBackendOptions;
  /** Changes the backend before it is handed out. */
  readonly arrange?: (backend: MemoryBackend) => void;
}

/** A provider and the backends that it made. */
function fake(name: string, { types = ['cpu'], backend, arrange, ...rest }: Fake = {}) {
  const made: MemoryBackend[] = [];
  const provider: BackendProvider = {
    name,
    priority: 0,
    contractVersion: 3,
    probe: () => Promise.resolve({ available: true, devices: types.map(device) }),
    create: (options) => {
      const one = new MemoryBackend({ ...backend, ...options });
      arrange?.(one);
      made.push(one);
      return one;
    },
    ...rest,
  };
  return { ...provider, made };
}

const order = (attempts: readonly Attempt[]) => attempts.map(({ provider }) => provider).join(' ');
const outcomes = (attempts: readonly Attempt[]) => attempts.map(({ outcome }) => outcome).join(' ');

describe('ranking', () => {
  it('discrete, integrated, unknown, cpu, software', async () => {
    const types: DeviceType[] = ['software', 'cpu', 'unknown', 'integrated', 'discrete'];
    const { attempts } = await selectBackend(types.map((type) => fake(type, { types: [type] })));
    expect(order(attempts)).toBe('discrete integrated unknown cpu software');
    expect(outcomes(attempts)).toBe('selected not-tried not-tried not-tried not-tried');
    expect(attempts[1]?.message).toBe('available, ranks after memory');
    expect(attempts[0]?.message).toBe('works, and ranks first of those that do');
  });

  it('by the best device of each', async () => {
    const { attempts } = await selectBackend([
      fake('a', { types: ['integrated'] }),
      fake('b', { types: ['software', 'discrete', 'cpu'] }),
    ]);
    expect(order(attempts)).toBe('b a');
    expect(attempts[1]?.device?.type).toBe('integrated');
  });

  it('then by priority, then by array order', async () => {
    const { attempts } = await selectBackend([
      fake('first'),
      fake('second'),
      fake('high', { priority: 5 }),
      fake('software', { types: ['software'], priority: 99 }),
    ]);
    expect(order(attempts)).toBe('high first second software');
  });

  it('a device type of a later version counts as unknown', async () => {
    const { attempts } = await selectBackend([fake('cpu'), fake('npu', { types: ['npu' as DeviceType] })]);
    expect(order(attempts)).toBe('npu cpu');
  });

  it('those without a device come last', async () => {
    const none = { available: false, reason: 'package-missing', message: 'not installed', hint: 'install it' } as const;
    const { attempts } = await selectBackend([fake('none', { probe: async () => none, priority: 9 }), fake('cpu')]);
    expect(attempts).toMatchObject([
      { provider: 'cpu', outcome: 'selected' },
      {
        provider: 'none',
        outcome: 'unavailable',
        reason: 'package-missing',
        message: 'not installed',
        hint: 'install it',
      },
    ]);
  });
});

describe('CONCORD_BACKEND', () => {
  it('selects and orders', async () => {
    vi.stubEnv('CONCORD_BACKEND', ' software , cpu,,cpu');
    const providers = [fake('cpu'), fake('gpu', { types: ['discrete'] }), fake('software', { types: ['software'] })];
    const probe = vi.spyOn(providers[1] as BackendProvider, 'probe');
    const { attempts } = await selectBackend(providers);
    expect(order(attempts)).toBe('software cpu gpu');
    expect(outcomes(attempts)).toBe('selected not-tried unavailable');
    expect(attempts[2]).toMatchObject({
      reason: 'disabled',
      message: 'not among the backends asked for (software, cpu, cpu)',
    });
    expect(probe).not.toHaveBeenCalled();
  });

  it.each(['', ' ', ','])('%j counts as unset', async (value) => {
    vi.stubEnv('CONCORD_BACKEND', value);
    const { attempts } = await selectBackend([fake('cpu'), fake('gpu', { types: ['discrete'] })]);
    expect(order(attempts)).toBe('gpu cpu');
  });

  it('naming none of the providers', async () => {
    vi.stubEnv('CONCORD_BACKEND', 'cpu,gpu');
    const error = await expectRejection(
      selectBackend([fake('cpu'), fake('webgpu')]),
      'INVALID_ARGUMENT',
      'no backend "gpu"; there are: cpu, webgpu',
    );
    expect(error.hint).toContain('CONCORD_BACKEND');
  });

  it('is overruled by the option prefer', async () => {
    vi.stubEnv('CONCORD_BACKEND', 'a');
    const { attempts } = await selectBackend([fake('a'), fake('b')], { prefer: ['b'] });
    expect(attempts).toMatchObject([{ provider: 'b', outcome: 'selected' }, { reason: 'disabled' }]);
  });

  it.each([undefined, 'a', 'none'])('%j: an empty list prefers none, and none is left out', async (value) => {
    vi.stubEnv('CONCORD_BACKEND', value);
    const { attempts } = await selectBackend([fake('a'), fake('b', { types: ['discrete'] })], { prefer: [] });
    expect(order(attempts)).toBe('b a');
    expect(outcomes(attempts)).toBe('selected not-tried');
  });

  it('does not fall back to others', async () => {
    vi.stubEnv('CONCORD_BACKEND', 'bad');
    const bad = fake('bad', { arrange: (backend) => backend.failing.set('init', new Error('broken')) });
    const error = await expectRejection(selectBackend([fake('cpu'), bad]), 'BACKEND_UNAVAILABLE');
    expect(error.attempts).toMatchObject([{ provider: 'bad', message: 'broken' }, { provider: 'cpu' }]);
  });
});

describe('probes', () => {
  const rejected: Array<[string, Fake, Partial<Attempt>]> = [
    ['rejects', { probe: () => Promise.reject(new Error('boom')) }, { reason: 'failed', message: 'boom' }],
    [
      'throws',
      {
        probe: () => {
          throw new TypeError('sync');
        },
      },
      { reason: 'failed', message: 'sync' },
    ],
    ['finds no device', { types: [] }, { reason: 'no-device', message: 'no device found' }],
    ['answers nothing', { probe: async () => undefined as never }, { reason: 'failed' }],
    ...[2, 4].map((version): [string, Fake, Partial<Attempt>] => [
      `speaks contract version ${version}`,
      { contractVersion: version },
      {
        reason: 'library-incompatible',
        message: `speaks contract version ${version}, this registry speaks 3`,
        hint: 'install versions of the backend and of @concord/backend-core that belong together',
      },
    ]),
  ];

  it.each(rejected)('one that %s is an attempt', async (_what, behaviour, attempt) => {
    const bad = fake('bad', behaviour);
    const { backend, attempts } = await selectBackend([bad, fake('good')]);
    expect(attempts).toMatchObject([{ provider: 'good' }, { provider: 'bad', outcome: 'unavailable', ...attempt }]);
    expect(bad.made).toEqual([]);
    await backend.dispose();
  });

  it('one that hangs is given up after 10 s', async () => {
    vi.useFakeTimers();
    const hanging = fake('hanging', { probe: () => new Promise(() => undefined) });
    const selected = selectBackend([hanging, fake('good')]);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    const { attempts } = await selected;
    expect(attempts[1]).toMatchObject({ reason: 'failed', message: 'probe did not end within 10 s' });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a candidate that does not work is disposed, and the next one taken', () => {
  const broken: Array<[string, Fake, Partial<Attempt>, string[]]> = [
    [
      'init fails',
      { arrange: (backend) => backend.failing.set('init', new Error('no driver')) },
      { reason: 'failed', message: 'no driver' },
      ['init'],
    ],
    [
      'the self test throws',
      { arrange: (backend) => backend.failing.set('run', new Error('status 3')) },
      { reason: 'failed', message: 'device error: status 3' },
      ['init', 'dispose'],
    ],
    [
      'the self test gives wrong numbers',
      { arrange: (backend) => Object.assign(backend, { binary: () => undefined }) },
      { reason: 'failed', message: 'device error: self test gave [10,20,30] instead of [11,22,33]' },
      ['init', 'dispose'],
    ],
    [
      'a requirement is missing',
      { backend: { f16: false } },
      { reason: 'failed', message: 'unsupported operation: gemm does not take dtype f16 on memory' },
      ['init', 'dispose'],
    ],
  ];

  it.each(broken)('%s', async (_what, behaviour, attempt, hooks) => {
    const bad = fake('bad', { types: ['discrete'], ...behaviour });
    const { attempts } = await selectBackend([bad, fake('good')], { require: [{ op: 'gemm', dtype: 'f16' }] });
    expect(attempts).toMatchObject([
      { provider: 'bad', outcome: 'unavailable', device: { type: 'discrete' }, ...attempt },
      { provider: 'good', outcome: 'selected', device: { name: 'memory' } },
    ]);
    const [backend] = bad.made as [MemoryBackend];
    expect(await backend.lost).toMatchObject({ reason: 'disposed' });
    expect(backend.hooks.filter((hook) => hook === 'init' || hook === 'dispose')).toEqual(hooks);
  });

  it('create fails', async () => {
    const create = () => Promise.reject(new Error('no library'));
    const { attempts } = await selectBackend([fake('bad', { create, priority: 1 }), fake('good')]);
    expect(attempts).toMatchObject([{ message: 'no library' }, { outcome: 'selected' }]);
  });

  it('a failing dispose does not hide why', async () => {
    const arrange = (backend: MemoryBackend) => {
      backend.failing.set('run', new Error('first'));
      backend.failing.set('dispose', new Error('second'));
    };
    const { attempts } = await selectBackend([fake('bad', { arrange, priority: 1 }), fake('good')]);
    expect(attempts[0]?.message).toBe('device error: first');
  });
});

describe('the backend that is chosen', () => {
  it('is initialized, tested, and holds no memory', async () => {
    const { backend, attempts } = await selectBackend([fake('cpu')], { create: { memoryLimitBytes: 1000 } });
    expect(backend.isInitialized).toBe(true);
    expect(backend.memory()).toMatchObject({ liveAllocations: 0, limitBytes: 1000 });
    expect((backend as MemoryBackend).hooks).toContain('run');
    expect(attempts).toHaveLength(1);
  });

  it('without binary is tested with a copy', async () => {
    const { backend } = await selectBackend([fake('cpu', { backend: { has: ['gemm'] } })]);
    expect((backend as MemoryBackend).hooks).toContain('copyDtod');
  });

  it('whose run covers all but sums is tested with a copy', async () => {
    const arrange = (backend: MemoryBackend) =>
      backend.refusals.set('run', ({ kernel }: CheckedRun) => (kernel.name === 'add' ? 'no sums' : undefined));
    const { backend } = await selectBackend([fake('cpu', { backend: { covers: 'some' }, arrange })]);
    expect(backend.supports('binary').ok).toBe(true);
    expect((backend as MemoryBackend).hooks).toContain('copyDtod');
  });

  it('a dtype may be required of run, and must be one', async () => {
    const required = (dtype: string) =>
      selectBackend([fake('cpu', { backend: { f16: false } })], { require: [{ op: 'run', dtype: dtype as DType }] });
    const error = await expectRejection(required('u8'), 'BACKEND_UNAVAILABLE');
    expect(error.attempts?.[0]?.message).toBe('unsupported operation: run does not take dtype u8 on memory');
    await expectRejection(
      required('f64'),
      'INVALID_ARGUMENT',
      'require[].dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got "f64"',
    );
  });

  it('gemmF16 is required with f16', async () => {
    const none = selectBackend([fake('cpu', { backend: { has: ['gemm'] } })], {
      require: [{ op: 'gemmF16' }, { op: 'gemm' }, { op: 'unary' }],
    });
    const error = await expectRejection(none, 'BACKEND_UNAVAILABLE');
    expect(error.attempts?.[0]?.message).toBe('unsupported operation: memory does not implement unary');
  });
});

describe('none usable', () => {
  it('carries the attempts, a reason and a hint', async () => {
    const probe = async () => ({ available: false, reason: 'permission-denied', message: 'm', hint: 'join' }) as const;
    const one = await expectRejection(selectBackend([fake('gpu', { probe })]), 'BACKEND_UNAVAILABLE', 'gpu: m');
    expect(one).toMatchObject({ reason: 'permission-denied', hint: 'join', attempts: [{ provider: 'gpu' }] });
    const two = selectBackend([fake('gpu', { probe }), fake('x', { types: [] })]);
    expect(await expectRejection(two, 'BACKEND_UNAVAILABLE', 'gpu: m; x: no device found')).toMatchObject({
      attempts: [{ provider: 'gpu' }, { provider: 'x' }],
    });
    await expectRejection(selectBackend([]), 'BACKEND_UNAVAILABLE', 'no providers were passed');
  });
});
