import * as ort from 'onnxruntime-node';
import type { HostTensor } from '../../src/graph/host-tensor.ts';

/** What ONNX Runtime's CPU provider computes, without its own rewrites. */
export async function reference(
  model: Uint8Array,
  feeds: Readonly<Record<string, HostTensor>>,
): Promise<Record<string, HostTensor>> {
  const session = await ort.InferenceSession.create(model, { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
  const given = Object.entries(feeds).map(
    ([name, { type, dims, data }]) => [name, new ort.Tensor(type as 'float32', data as Float32Array, dims)] as const,
  );
  const results = await session.run(Object.fromEntries(given));
  await session.release();
  return Object.fromEntries(
    Object.entries(results).map(([name, { type, dims, data }]) => [name, { type: type, dims, data: data }]),
  );
}
