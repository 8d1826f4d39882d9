import type { Capabilities } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import type { InitResult, Operand, ResolvedRun } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { type ConformanceReport, runConformance } from '../src/index.ts';

/** The CPU backend with other capabilities. */
class Declaring extends CpuBackend {
  readonly #changes: Partial<Capabilities>;

  constructor(changes: Partial<Capabilities>) {
    super();
    this.#changes = changes;
  }

  protected override capabilitiesOf(result: InitResult): Capabilities {
    return { ...super.capabilitiesOf(result), ...this.#changes };
  }
}

/** A device that takes subnormals for zeros of the same sign, in and out, as GPUs do. */
class Flushing extends Declaring {
  constructor() {
    super({ numerics: { f32Subnormals: 'may-flush' } });
    const kernel = this.kernels.run;
    if (kernel === undefined) throw new Error('the CPU backend has no run');
    const run = kernel.run.bind(kernel);
    kernel.run = (call: ResolvedRun<ArrayBuffer>) => {
      run({ ...call, inputs: call.inputs.map((input) => input && flushedCopy(input)) });
      for (const output of call.outputs) if (output !== undefined) flush(output);
    };
  }
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

const failures = (report: ConformanceReport): unknown[] => report.cases.filter(({ status }) => status === 'failed');

describe('devices that differ from the CPU and are right', () => {
  it('one op is enough to pass', async () => {
    const report = await runConformance(() => new Declaring({ ops: ['unary'], dtypes: { unary: ['f32'] } }));
    expect(failures(report)).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.unsupported).toBeGreaterThan(500);
  });

  it('an op that nothing of is supported does not count as passed', async () => {
    const report = await runConformance(() => new Declaring({ ops: ['unary'], dtypes: { unary: ['f32'] } }), {
      filter: 'gemm/**',
    });
    expect(report).toMatchObject({ passed: 0, failed: 0, ok: false });
  });

  it('a small largest allocation makes the long cases unsupported', async () => {
    const limits = { maxAllocationBytes: 2 ** 20, maxHeadDim: 256, maxTopK: 256 };
    const report = await runConformance(() => new Declaring({ limits }), { filter: 'unary' });
    expect(failures(report)).toEqual([]);
    expect(report.cases.filter(({ status }) => status === 'unsupported').map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^the case needs \d+ bytes in one allocation, the device has 1048576$/),
    ]);
  });

  it.each(['unary', 'binary'])('flushing subnormals to zeros of their sign is allowed: %s', async (filter) => {
    expect(failures(await runConformance(() => new Flushing(), { filter }))).toEqual([]);
  });
});
