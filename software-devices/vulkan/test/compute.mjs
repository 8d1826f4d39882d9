// @ts-check
// `compute.mjs [device] [--worker] [--large]` computes on the adapter that Dawn finds and prints the outcome as JSON. A
// device that is named is preloaded first; with --worker all of it happens in a worker thread; with --large a buffer
// of the largest size there is takes part.
import { isMainThread, Worker } from 'node:worker_threads';
import { preloadVulkan } from '../preload.mjs';

const words = 1000;

const wanted = process.argv.slice(2).find((argument) => argument === 'lavapipe' || argument === 'swiftshader');
if (isMainThread && process.argv.includes('--worker')) {
  new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
} else {
  if (wanted) preloadVulkan(wanted);
  console.log(JSON.stringify(await compute()));
}

async function compute() {
  const { gpu, GPUBufferUsage, GPUMapMode } = await import('./dawn.mjs');
  const adapter = await gpu.requestAdapter();
  if (!adapter) return { adapter: null };
  const { maxStorageBufferBindingSize, maxBufferSize } = adapter.limits;
  const device = await adapter.requestDevice({ requiredLimits: { maxStorageBufferBindingSize, maxBufferSize } });
  /** @type {string[]} */
  const errors = [];
  device.onuncapturederror = ({ error }) => errors.push(error.message);

  /** @param {GPUBuffer} buffer @param {string} body @param {number} groups */
  const dispatch = (buffer, body, groups) => {
    const code = `@group(0) @binding(0) var<storage, read_write> x: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { let i = id.x; ${body} }`;
    const pipeline = device.createComputePipeline({
      layout: 'auto',
      compute: { module: device.createShaderModule({ code }) },
    });
    const group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer } }],
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(groups);
    pass.end();
    device.queue.submit([encoder.finish()]);
  };
  /** @param {GPUBuffer} buffer @param {number} offset @param {number} size */
  const read = async (buffer, offset, size) => {
    const target = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, target, 0, size);
    device.queue.submit([encoder.finish()]);
    await target.mapAsync(GPUMapMode.READ);
    return [...new Uint32Array(target.getMappedRange())];
  };
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

  const small = device.createBuffer({ size: words * 4, usage });
  dispatch(small, `if (i < ${words}u) { x[i] = i * i + 1u; }`, Math.ceil(words / 64));
  const squares = await read(small, 0, words * 4);

  /** @type {{ size: number, tailIsRight: boolean } | undefined} */
  let large;
  if (process.argv.includes('--large')) {
    // SwiftShader needs some of its largest allocation for itself.
    const size = Math.min(maxStorageBufferBindingSize, maxBufferSize) - 256;
    const buffer = device.createBuffer({ size, usage });
    dispatch(buffer, 'if (i < 1024u) { x[arrayLength(&x) - 1024u + i] = i; }', 16);
    const tail = await read(buffer, size - 4096, 4096);
    large = { size, tailIsRight: tail.every((value, index) => value === index) };
  }

  const { vendor, architecture, description } = adapter.info;
  return {
    adapter: { vendor, architecture, description },
    squaresAreRight: squares.every((value, index) => value === index * index + 1),
    large,
    errors,
  };
}
