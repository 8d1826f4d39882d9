import type { InferenceSession, Tensor } from 'onnxruntime-web';
import type { LimitCase } from '../limits/limit-case.ts';
import { materialize } from '../limits/noise-array.ts';
import { graphOf } from '../onnx/graphs.ts';
import { encodeModel, type Graph, type Weights } from '../onnx/model.ts';
import { headOf } from '../onnx/sessions.ts';
import { openOnWasm, WEB_VERSION } from '../onnx/web-sessions.ts';
import { type Peer, pick } from '../peer.ts';

/**
 * ONNX Runtime compiled to WebAssembly, with SIMD and threads, which are the same for all of a process. Operands are
 * initializers and what comes out is one entry of the result, so that no copy into its memory or out of it is timed.
 */
export function onnxruntimeWeb(threads: number): Peer {
  // An op on initializers is computed in each run, not once before.
  const open = (graph: Graph, weights: Weights): Promise<InferenceSession> =>
    openOnWasm(encodeModel(graph, weights), threads, {
      optimization: { disable_specified_optimizers: 'ConstantFolding' },
    });
  return {
    name: 'onnxruntime web',
    role: 'peer',
    version: WEB_VERSION,
    remark: `WebAssembly, threads: ${threads}; operands are initializers`,
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const weights = weightsOf(graph, limitCase);
      const session = await open(headOf(graph), weights);
      // One run at a time: a session takes no other while it runs.
      let runs: Promise<unknown> = Promise.resolve();
      return {
        run: () => {
          runs = runs.then(() => session.run({}));
        },
        wait: async () => {
          await runs;
        },
        entries: async (indices) => {
          const whole = await open(graph, weights);
          const { y } = await whole.run({});
          await whole.release();
          return pick((y as Tensor).data as Float32Array, limitCase, indices);
        },
        close: () => session.release(),
      };
    },
  };
}

function weightsOf({ inputs }: Graph, limitCase: LimitCase): Weights {
  const operands = limitCase.operands();
  const entries = Object.keys(inputs).map((name, i) => [name, materialize(operands[i] as (typeof operands)[0])]);
  return Object.fromEntries(entries) as Weights;
}
