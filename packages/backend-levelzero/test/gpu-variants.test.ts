import { describeConformance } from '@concord/conformance/vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { LevelZeroBackend } from '../src/index.ts';

// The variants for GPUs, which are not chosen on a CPU, give the right results there too. They are slow there: a part of
// the cases has to do; `pnpm check:spirv` runs them all.

const open = LevelZeroClient.open.bind(LevelZeroClient);
LevelZeroClient.open = async (options) => {
  const client = await open(options);
  Object.assign(client.traits, { isCpuLike: false });
  return client;
};

await describeConformance(() => new LevelZeroBackend(), {
  sample: 0.15,
  title: 'conformance of level-zero as on a GPU',
});
