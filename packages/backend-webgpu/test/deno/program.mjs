// Runs in Deno, with the packages as they are built: `program.mjs <own|default> <sample>` prints a line of JSON for each case
// and one at the end. `own`: the adapter's limits and features; `default`: WebGPU's minimum limits and no features.
import { runConformance } from '@concord/conformance';
import { WebGpuBackend } from '../../dist/index.js';

const [mode, sample] = process.argv.slice(2);

async function deviceOptions() {
  if (mode === 'own') return {};
  const adapter = await navigator.gpu.requestAdapter();
  return { device: await adapter?.requestDevice() };
}

const options = await deviceOptions();
const probe = new WebGpuBackend(options);
await probe.init();
const { device, f16 } = probe.native;
const { maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup } = device.limits;
const found = {
  device: probe.device,
  f16,
  features: [...device.features],
  limits: { maxStorageBufferBindingSize, maxComputeInvocationsPerWorkgroup },
};
await probe.dispose();

const report = await runConformance(() => new WebGpuBackend(options), {
  sample: Number(sample),
  onCase: ({ id, status, detail }) => console.log(JSON.stringify({ id, status, detail })),
});
console.log(JSON.stringify({ ...found, notRun: report.notRun }));
// Deno would wait for a device of the caller's, which is not destroyed.
process.exit();
