import { env, InferenceSession, Tensor } from 'onnxruntime-web';
import { packageVersion } from '../results.ts';
import { type HostRuntime, inOrder } from './host.ts';

/** ONNX Runtime compiled to WebAssembly, with SIMD and threads, of which all sessions of a process have as many as the first. */
export function webRuntime(threads: number): HostRuntime {
  return {
    name: 'onnxruntime web',
    version: packageVersion('onnxruntime-web'),
    remark: `WebAssembly, threads: ${threads}`,
    open: (model) => openOnWasm(model, threads),
    tensor: (values, shape) =>
      values instanceof Int32Array ? new Tensor('int32', values, shape) : new Tensor('float32', values, shape),
    queue: inOrder,
  };
}

/** A session on WebAssembly. */
export function openOnWasm(
  model: Uint8Array,
  threads: number,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<InferenceSession> {
  env.wasm.numThreads = threads;
  return InferenceSession.create(model, {
    executionProviders: ['wasm'],
    // Threads that wait for more work by spinning would take the cores from whose turn is next.
    extra: { session: { force_spinning_stop: '1' }, ...extra },
    logSeverityLevel: 3,
  });
}
