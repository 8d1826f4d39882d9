import { CpuBackend } from '@concord/backend-cpu';
import type { ComputeBackend, Support } from '@concord/backend-core';
import type { BackendKernels, InitResult, Operand, ResolvedRun } from '@concord/backend-core/implement';
import { binaryKernel, type Kernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { type ConformanceCase, type ConformanceReport, findCase, runCase, runConformance } from '../src/index.ts';

type Kernels = BackendKernels<ArrayBuffer>;

/** The CPU backend with other kernels. */
function withKernels<B extends CpuBackend>(backend: B, change: (kernels: Kernels) => Kernels): B {
  const { kernels } = backend as unknown as { kernels: Kernels };
  return Object.assign(backend, { kernels: change(kernels) });
}

const onlyRun = (): CpuBackend => withKernels(new CpuBackend(), ({ run }) => (run === undefined ? {} : { run }));

/** The CPU backend with other limits, or other numerics. */
class Declaring extends CpuBackend {
  readonly #changes: Partial<InitResult>;

  constructor(changes: Partial<InitResult>) {
    super();
    this.#changes = changes;
  }

  protected override async doInit(): Promise<InitResult> {
    return { ...(await super.doInit()), ...this.#changes };
  }
}

type RunKernel = NonNullable<Kernels['run']>;

/** The backend with another `run`, which is given the right one. */
function withRun<B extends CpuBackend>(backend: B, change: (run: RunKernel) => Partial<RunKernel>): B {
  return withKernels(backend, ({ run, ...rest }) =>
    run === undefined ? rest : { ...rest, run: { ...run, ...change(run) } },
  );
}

/** A device that takes subnormals for zeros of the same sign, in and out, as GPUs do. */
function flushing(): CpuBackend {
  const device = new Declaring({ numerics: { f32Subnormals: 'may-flush' } });
  return withRun(device, (run) => ({
    run: (call: ResolvedRun<ArrayBuffer>) => {
      run.run({ ...call, inputs: call.inputs.map((input) => (input === undefined ? input : flushedCopy(input))) });
      for (const output of call.outputs) if (output !== undefined) flush(output);
    },
  }));
}

function flush({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): void {
  const values = new Float32Array(buffer, byteOffset, byteLength / 4);
  for (const [i, x] of values.entries()) if (x !== 0 && Math.abs(x) < 2 ** -126) values[i] = x < 0 ? -0 : 0;
}

function flushedCopy({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Operand<ArrayBuffer> {
  const copy = { buffer: buffer.slice(byteOffset, byteOffset + byteLength), byteOffset: 0, byteLength };
  flush(copy);
  return copy;
}

/** The functions of a library of fixed functions. */
const KNOWN: readonly Kernel[] = [unaryKernel('neg'), binaryKernel('add'), reduceKernel('sum')];

/** A wrapper of such a library, or a backend that has all but some kernels. */
function someKernels(has: (kernel: Kernel) => boolean): CpuBackend {
  return withRun(new CpuBackend(), () => ({
    covers: 'some',
    refuse: ({ kernel }) => (has(kernel) ? undefined : `the library has no ${kernel.name}`),
  }));
}

const fixedFunctions = (): CpuBackend => someKernels((kernel) => KNOWN.includes(kernel));

const MOST = 1024;

/** A device that has no room for long rows, nor for large maps. */
function refusingBySize(): CpuBackend {
  return withRun(new CpuBackend(), () => ({
    refuse: ({ rowCount, rowLength }) =>
      rowLength > MOST ? 'row too long' : rowCount > MOST ? 'too many rows' : undefined,
  }));
}

const failures = (report: ConformanceReport): unknown[] => report.cases.filter(({ status }) => status === 'failed');

describe('devices that differ from the CPU and are right', () => {
  it('one op is enough to pass', async () => {
    // It has the whole of run, whose 1,500 cases are the CPU backend's own: they say nothing of what is left out.
    const report = await runConformance(onlyRun, { filter: '!run/**' });
    expect(failures(report)).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.unsupported).toBeGreaterThan(500);
  }, 600_000);

  it('an op that nothing of is supported does not count as passed', async () => {
    const report = await runConformance(onlyRun, { filter: 'gemm/**' });
    expect(report).toMatchObject({ passed: 0, failed: 0, ok: false });
  });

  // Most cases ask for the op first, whose refusal names the operand; those that only allocate learn it from alloc.
  it.each([
    ['unary', 2 ** 20, /^input of unary spans \d+ bytes, this device's largest allocation is 1048576$/],
    ['memory', 2 ** 10, /^the case needs \d+ bytes in one allocation, the device has 1024$/],
  ])('a small largest allocation makes the long cases unsupported: %s', async (filter, maxAllocationBytes, reason) => {
    const limits = { maxAllocationBytes, maxHeadDim: 256, maxTopK: 256 };
    const report = await runConformance(() => new Declaring({ limits }), { filter });
    expect(failures(report)).toEqual([]);
    const unsupported = report.cases.filter(({ status }) => status === 'unsupported');
    expect(unsupported.length).toBeGreaterThan(0);
    for (const { detail } of unsupported) expect(detail).toMatch(reason);
  });

  it.each(['unary', 'binary'])('flushing subnormals to zeros of their sign is allowed: %s', async (filter) => {
    expect(failures(await runConformance(flushing, { filter }))).toEqual([]);
  });

  it('the products of a backend without run pass, and none of its other cases fail', async () => {
    const withoutRun = (): CpuBackend => withKernels(new CpuBackend(), ({ run: _, ...rest }) => rest);
    for (const filter of ['run/refuses/*', 'run/sequence/*', 'run/gather/*', 'unary', 'reduce/exact/*']) {
      const report = await runConformance(withoutRun, { filter });
      const others = report.cases.filter(({ id, status }) => status !== 'unsupported' && !id.startsWith('fixed/'));
      expect(others, filter).toEqual([]);
      expect(failures(report), filter).toEqual([]);
    }
    const products = await runConformance(withoutRun, { filter: 'gemm/exact-wide/*' });
    expect(failures(products)).toEqual([]);
    expect(products.passed).toBeGreaterThan(5);
  });
});

describe('a backend that refuses by size', () => {
  it.each(['unary', 'binary', 'reduce'])('is held to it by the whole call of %s', async (filter) => {
    const report = await runConformance(refusingBySize, { filter });
    expect(failures(report)).toEqual([]);
    expect(report.passed).toBeGreaterThan(20);
    expect(report.cases.filter(({ detail }) => detail === 'row too long' || detail === 'too many rows').length).toBe(
      report.unsupported,
    );
    expect(report.unsupported).toBeGreaterThan(2);
  });

  it('a call that does nothing is not held to a refusal', async () => {
    const create = (): CpuBackend => withKernels(new CpuBackend(), ({ gemm }) => (gemm === undefined ? {} : { gemm }));
    await using backend = create();
    await backend.init();
    const empty = findCase('reduce/exact/fn=max,shape=0x3,axis=1') as ConformanceCase;
    expect(await runCase(empty, backend, create)).toMatchObject({ status: 'unsupported' });
  });
});

describe('a backend whose run covers some kernels', () => {
  it.each(['unary', 'binary', 'reduce'])('is asked with the whole call of %s', async (filter) => {
    const report = await runConformance(fixedFunctions, { filter });
    expect(failures(report)).toEqual([]);
    const passed = report.cases.filter(({ id, status }) => status === 'passed' && /\/(accuracy|exact)\//.test(id));
    expect(passed.length).toBeGreaterThan(5);
    for (const { id } of passed) expect(id).toMatch(/fn=(neg|add)|reduce\/exact\/(shape|default)/);
    const refused = report.cases.filter(({ detail }) => detail?.startsWith('the library has no ') === true);
    expect(refused.length).toBeGreaterThan(20);
    expect(refused.every(({ status }) => status === 'unsupported')).toBe(true);
  });

  it('has all of a family but one function: its cases are unsupported, the others pass', async () => {
    const withoutPow = (): CpuBackend => someKernels((kernel) => kernel !== binaryKernel('pow'));
    for (const filter of ['binary', 'memory']) {
      const report = await runConformance(withoutPow, { filter });
      expect(failures(report), filter).toEqual([]);
      expect(report.ok).toBe(true);
      const isOfPow = (id: string): boolean => id.includes('fn=pow');
      const unsupported = report.cases.filter(({ status }) => status === 'unsupported');
      expect(
        unsupported.map(({ id }) => id).filter((id) => !isOfPow(id)),
        filter,
      ).toEqual([]);
      expect(unsupported.length).toBe(report.cases.filter(({ id }) => isOfPow(id)).length);
    }
  });

  it('is asked with the whole call of run, for each call of a case', async () => {
    const report = await runConformance(fixedFunctions, { filter: 'run/kernel/*softmax*' });
    expect(failures(report)).toEqual([]);
    expect(report.unsupported).toBeGreaterThan(10);
  });

  it.each([
    ['computes what it denies', (backend: ComputeBackend): void => void backend, /but the call was accepted$/],
    [
      'throws another error',
      (): void => {
        throw new TypeError('crash');
      },
      /but the call threw .*crash/,
    ],
  ])('fails where it %s', async (_, run, detail) => {
    class Liar extends CpuBackend {
      override supports(): Support {
        return { ok: false, reason: 'not today' };
      }
      override run(): void {
        run(this);
      }
    }
    const report = await runConformance(() => new Liar(), { filter: 'run/kernel/kernel=copy,*' });
    expect(report.cases[0]).toMatchObject({ status: 'failed', detail: expect.stringMatching(detail) as unknown });
  });
});
