import type { OpShape } from '@concord/backend-core';
import { BYTES_OF, type CheckedGemm, type InitResult, type Launch, OPS } from '@concord/backend-core/implement';
import { defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { fakeSpan } from '../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../test/support/traits.ts';
import type { LevelZeroClient } from './device/level-zero-client.ts';
import type { DeviceMemory, Span } from './kernels/recorder.ts';
import type { OpPlan } from './kernels/op-plan.ts';
import { LevelZeroBackend } from './levelzero-backend.ts';

const GIB = 2 ** 30;

/** A client that builds and runs nothing, and notes for which memory it was to. */
class NotingClient {
  readonly traits = TEST_DEVICES.gpu;
  readonly stream = this;
  readonly builds = new Set<boolean>();
  readonly runs: { readonly scratch: readonly number[] }[] = [];

  compileNow(_: unknown, hasLargeBuffers = false): void {
    this.builds.add(hasLargeBuffers);
  }

  async compile(_: unknown, hasLargeBuffers = false): Promise<void> {
    this.builds.add(hasLargeBuffers);
  }

  run(_: string, { scratch }: OpPlan): void {
    this.runs.push({ scratch });
  }

  onFailure(): void {}
}

/** The backend on such a client. */
class TestBackend extends LevelZeroBackend {
  readonly #client: NotingClient;

  constructor(client: NotingClient) {
    super();
    this.#client = client;
  }

  launch(launch: Launch<DeviceMemory>): void {
    this.doLaunch(launch);
  }

  lowered(shape: OpShape<'gemmF16'>): CheckedGemm {
    return this.loweredShape('gemmF16', shape)[0]?.call as CheckedGemm;
  }

  protected override async doInit(): Promise<InitResult> {
    this.use(this.#client as unknown as LevelZeroClient);
    return {
      device: { vendor: 'none', name: 'none', type: 'unknown', driver: 'none' },
      limits: { maxAllocationBytes: 2 ** 40, maxHeadDim: 256, maxTopK: 256 },
      numerics: { f32Subnormals: 'may-flush' },
    };
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

async function backendOn(client: NotingClient): Promise<TestBackend> {
  const backend = new TestBackend(client);
  await backend.init();
  return backend;
}

describe('kernels are built for memory beyond 4 GiB', () => {
  it('where scratch memory is beyond it, and no operand', async () => {
    const client = new NotingClient();
    (await backendOn(client)).launch(withMemory(product(36_000)));
    expect(Math.max(...(client.runs[0]?.scratch ?? []))).toBeGreaterThan(4 * GIB);
    expect([...client.builds]).toEqual([true]);
  });

  it('not where all is smaller', async () => {
    const client = new NotingClient();
    (await backendOn(client)).launch(withMemory(product(32_000)));
    expect([...client.builds]).toEqual([false]);
  });

  it('where an operand is in such an allocation', async () => {
    const client = new NotingClient();
    const call = withMemory(product(64));
    const [a, ...others] = call.operands as readonly [Span, ...Span[]];
    const operands = [{ ...fakeSpan(5 * GIB), byteLength: a.byteLength }, ...others];
    (await backendOn(client)).launch({ ...call, operands });
    expect([...client.builds]).toEqual([true]);
  });

  it('ahead of the call too, which then builds nothing', async () => {
    const client = new NotingClient();
    const backend = await backendOn(client);
    const shape = { m: 36_000, n: 36_000, k: 16, epilogue: { kernel: double } };
    await backend.prepare([{ op: 'gemmF16', call: shape }]);
    expect([...client.builds]).toEqual([true]);
    client.builds.clear();
    backend.launch(withMemory(backend.lowered(shape)));
    expect(client.builds.size).toBe(0);
  });
});
