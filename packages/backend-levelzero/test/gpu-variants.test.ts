import { describeConformance } from '@concord/conformance/vitest';
import { expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import type { DeviceTraits } from '../src/kernels/recorder.ts';
import { LevelZeroBackend, type LevelZeroBackendOptions } from '../src/index.ts';

// The variants for GPUs, which are not chosen on a CPU, give the right results there too. They are slow there: a part of
// the cases has to do; `pnpm check:spirv` runs them all.

const open = LevelZeroClient.open.bind(LevelZeroClient);
let traits: Partial<DeviceTraits> = {};
LevelZeroClient.open = async (options) => {
  const client = await open(options);
  Object.assign(client.traits, traits);
  return client;
};

/** A backend that takes the device for a GPU. */
const as =
  (gpu: Partial<DeviceTraits>, options: LevelZeroBackendOptions = {}) =>
  (): LevelZeroBackend => {
    traits = { isCpuLike: false, ...gpu };
    return new LevelZeroBackend(options);
  };

await describeConformance(as({}), { sample: 0.15, title: 'conformance of level-zero as on a GPU' });

// Products that are not large enough for matrix engines run on them when they are told to.
for (const [matrixEngine, subgroupSizes] of [
  [8, [8, 16, 32]],
  [16, [16, 32]],
] as const) {
  const gpu = { matrixEngine, subgroupSizes, hasLargeRegisterFile: true };
  await describeConformance(as(gpu, { variants: [`gemm/matrix-${matrixEngine}`] }), {
    filter: 'gemmF16',
    title: `conformance of level-zero on matrix engines for ${matrixEngine} lanes`,
  });

  it(`matrix engines for ${matrixEngine} lanes are tried at init, and taken`, async () => {
    const backend = as(gpu)();
    await backend.init();
    expect(backend.variants().excluded).toEqual([]);
    await backend.dispose();
  });
}
