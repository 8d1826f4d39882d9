import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';

// The variants for GPUs, which a software device does not choose by itself, are right there too. They share work through
// workgroup memory, which only some of the cases' sizes need.

const open = WebGpuClient.open.bind(WebGpuClient);
WebGpuClient.open = async (options) => {
  const client = await open(options);
  Object.assign(client.traits, { isSoftware: false });
  return client;
};

await describeConformance(() => new WebGpuBackend(), {
  filter: 'reduce',
  title: 'conformance of webgpu as on a GPU',
});
