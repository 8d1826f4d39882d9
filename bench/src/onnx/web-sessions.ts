import { env, InferenceSession } from 'onnxruntime-web';
import { packageVersion } from '../results.ts';

/** `onnxruntime-web@version`. */
export const WEB_VERSION: string = packageVersion('onnxruntime-web');

/** A session on WebAssembly. All sessions of a process have as many threads as the first one. */
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
