import { env, InferenceSession, Tensor } from 'onnxruntime-web';
import { packageVersion } from '../results.ts';
import type { OnnxContestant } from '../onnx.ts';
import { type HostRuntime, inOrder, preparedSession } from './host.ts';
import type { Feed } from './zoo.ts';

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

/** Models on WebAssembly. */
export function onWeb(threads: number): OnnxContestant {
  const { name, version, remark } = webRuntime(threads);
  const tensorOf = ({ dims, data }: Feed): Tensor => {
    if (data instanceof BigInt64Array) return new Tensor('int64', data, dims);
    return data instanceof Int32Array ? new Tensor('int32', data, dims) : new Tensor('float32', data, dims);
  };
  return {
    ...{ name, role: 'peer', version, remark },
    prepare: async ({ bytes, feeds, output }) => {
      const given = Object.fromEntries(Object.entries(feeds).map(([input, feed]) => [input, tensorOf(feed)]));
      return preparedSession(await openOnWasm(bytes, threads), given, output);
    },
  };
}
