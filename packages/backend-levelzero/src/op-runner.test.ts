import { BYTES_OF, type CheckedGemm, type Launch, OPS } from '@concord/backend-core/implement';
import { defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { fakeSpan } from '../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../test/support/traits.ts';
import type { LevelZeroClient } from './device/level-zero-client.ts';
import type { PlannedCall } from './device/command-stream.ts';
import type { DeviceMemory, Span } from './kernels/recorder.ts';
import type { OpPlan } from './kernels/op-plan.ts';
import { OpRunner } from './op-runner.ts';

const GIB = 2 ** 30;

/** A client that builds and runs nothing, and notes for which memory it was to. */
class NotingClient {
  readonly traits = TEST_DEVICES.gpu;
  readonly builds = new Set<boolean>();
  readonly runs: { readonly scratch: readonly number[]; readonly hasLargeBuffers: boolean }[] = [];

  compileNow(_: unknown, hasLargeBuffers = false): void {
    this.builds.add(hasLargeBuffers);
  }

  async compile(_: unknown, hasLargeBuffers = false): Promise<void> {
    this.builds.add(hasLargeBuffers);
  }

  run(_: string, { scratch }: OpPlan, { hasLargeBuffers }: PlannedCall): void {
    this.runs.push({ scratch, hasLargeBuffers });
  }
}

const double = defineKernel('double', { inputs: { acc: 'f32' } }, ({ acc }, k) => ({ y: k.add(acc, acc) }));

/** A product in f16, whose epilogue gets its float32 results from scratch memory. */
function product(side: number): CheckedGemm {
  const call = OPS.gemmF16.check({ m: side, n: side, k: 16, epilogue: { kernel: double } }, false);
  return call as CheckedGemm;
}

/** A call with each operand in its own allocation. */
function withMemory(call: CheckedGemm): Launch<DeviceMemory> {
  const operands = call.operands.map(({ elements, dtype }) => fakeSpan(elements * BYTES_OF[dtype]));
  return { kernel: 'gemm', call, opName: 'gemmF16', operands, params: [] };
}

function runnerOn(client: NotingClient): OpRunner {
  return new OpRunner(client as unknown as LevelZeroClient);
}

describe('kernels are built for memory beyond 4 GiB', () => {
  it('where scratch memory is beyond it, and no operand', () => {
    const client = new NotingClient();
    runnerOn(client).run(withMemory(product(36_000)));
    expect(Math.max(...(client.runs[0]?.scratch ?? []))).toBeGreaterThan(4 * GIB);
    expect(client.runs).toMatchObject([{ hasLargeBuffers: true }]);
    expect([...client.builds]).toEqual([true]);
  });

  it('not where all is smaller', () => {
    const client = new NotingClient();
    runnerOn(client).run(withMemory(product(32_000)));
    expect(client.runs).toMatchObject([{ hasLargeBuffers: false }]);
    expect([...client.builds]).toEqual([false]);
  });

  it('where an operand is in such an allocation', () => {
    const client = new NotingClient();
    const call = withMemory(product(64));
    const [a, ...others] = call.operands as readonly [Span, ...Span[]];
    const operands = [{ ...fakeSpan(5 * GIB), byteLength: a.byteLength }, ...others];
    runnerOn(client).run({ ...call, operands });
    expect(client.runs).toMatchObject([{ hasLargeBuffers: true }]);
  });

  it('ahead of the call too, which then builds nothing', async () => {
    const client = new NotingClient();
    const runner = runnerOn(client);
    const call = product(36_000);
    await runner.prepare({ kernel: 'gemm', call });
    expect([...client.builds]).toEqual([true]);
    client.builds.clear();
    runner.run(withMemory(call));
    expect(client.builds.size).toBe(0);
  });
});
