import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';

// The variants for GPUs, which are not chosen on a software device, give the right results there too. They are slow
// there: a part of the cases has to do.

const open = WebGpuClient.open.bind(WebGpuClient);
WebGpuClient.open = async (options) => {
  const client = await open(options);
  Object.assign(client.traits, { isSoftware: false });
  return client;
};

await describeConformance(() => new WebGpuBackend(), {
  sample: 0.15,
  title: 'conformance of webgpu as on a GPU',
});
