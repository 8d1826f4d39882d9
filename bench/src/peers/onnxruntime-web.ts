import { env, InferenceSession, Tensor } from 'onnxruntime-web';
import type { LimitCase } from '../limits/limit-case.ts';
import { materialize } from '../limits/noise-array.ts';
import { packageVersion } from '../machine.ts';
import { graphOf } from '../onnx/graphs.ts';
import { encodeModel } from '../onnx/model.ts';
import { type Peer, pick } from '../peer.ts';

/** ONNX Runtime compiled to WebAssembly, with SIMD and threads. */
export function onnxruntimeWeb(threads: number): Peer {
  env.wasm.numThreads = threads;
  return {
    name: 'onnxruntime web',
    role: 'peer',
    version: packageVersion('onnxruntime-web'),
    remark: `WebAssembly, ${threads} threads`,
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const session = await InferenceSession.create(encodeModel(graph), {
        executionProviders: ['wasm'],
        logSeverityLevel: 3,
      });
      const feeds = feedsOf(graph.inputs, limitCase);
      let last: Tensor | undefined;
      // One run at a time: a session takes no other while it runs.
      let runs = Promise.resolve();
      return {
        run: () => {
          runs = runs.then(async () => {
            last = (await session.run(feeds))['y'] as Tensor;
          });
        },
        wait: () => runs,
        entries: async (indices) => pick(last?.data as Float32Array, limitCase, indices),
        close: () => session.release(),
      };
    },
  };
}

function feedsOf(inputs: Readonly<Record<string, readonly number[]>>, limitCase: LimitCase): Record<string, Tensor> {
  const operands = limitCase.operands();
  return Object.fromEntries(
    Object.entries(inputs).map(([name, shape], i) => [
      name,
      new Tensor('float32', materialize(operands[i] as (typeof operands)[0]), shape),
    ]),
  );
}
