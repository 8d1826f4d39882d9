import type { DevicePtr } from '@concord/backend-core';
import type { WebGpuBackend } from '@concord/backend-webgpu';

/** For each row of a matrix, the index of its largest element; one invocation per row. */
const WGSL = `
struct Shape { rows: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> scores: array<f32>;
@group(0) @binding(1) var<storage, read_write> best: array<u32>;
@group(0) @binding(2) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  if (row >= shape.rows) { return; }
  var index = 0u;
  for (var i = 1u; i < shape.columns; i++) {
    if (scores[row * shape.columns + i] > scores[row * shape.columns + index]) { index = i; }
  }
  best[row] = index;
}`;

/** Compiles the shader for matrices of one shape; the function that comes back queues it like an op of the contract. */
export async function argmaxRows(
  backend: WebGpuBackend,
  rows: number,
  columns: number,
): Promise<(scores: DevicePtr, best: DevicePtr) => void> {
  const { device } = backend.native;
  const module = device.createShaderModule({ code: WGSL });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  const shape = device.createBuffer({ size: 8, usage: 64 /* UNIFORM */, mappedAtCreation: true });
  new Uint32Array(shape.getMappedRange()).set([rows, columns]);
  shape.unmap();

  return (scores, best) => {
    const bindGroup = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      // What a pointer of the contract stands for: a buffer, an offset and a size.
      entries: [
        { binding: 0, resource: backend.native.bufferOf(scores) },
        { binding: 1, resource: backend.native.bufferOf(best) },
        { binding: 2, resource: { buffer: shape } },
      ],
    });
    // After every op queued so far, before every op queued from here on.
    backend.native.encode((encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(Math.ceil(rows / 64));
      pass.end();
    });
  };
}
