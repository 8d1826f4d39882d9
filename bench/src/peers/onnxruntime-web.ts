import type { InferenceSession, Tensor } from 'onnxruntime-web';
import { encodeModel, type Graph, graphOf, headOf, type Weights } from '../onnx/model.ts';
import { hostPeer, inOrder, operandsOf } from '../onnx/host.ts';
import { openOnWasm, webRuntime } from '../onnx/web-runtime.ts';
import { type Peer, pick } from '../peer.ts';

/**
 * ONNX Runtime compiled to WebAssembly. Operands are initializers and the output is one entry of the result, so that no copy
 * into its memory or out of it is timed.
 */
export function onnxruntimeWeb(threads: number): Peer {
  const { name, version, remark } = webRuntime(threads);
  // An op on initializers is computed in each run, not once before.
  const extra = { optimization: { disable_specified_optimizers: 'ConstantFolding' } };
  const open = (graph: Graph, weights: Weights): Promise<InferenceSession> =>
    openOnWasm(encodeModel(graph, weights), threads, extra);
  return {
    ...{ name, role: 'peer', version, remark: `${remark}; operands are initializers` },
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const weights = Object.fromEntries(operandsOf(graph, limitCase));
      const session = await open(headOf(graph), weights);
      const { run, wait } = inOrder(session, {});
      return {
        ...{ run, wait, close: () => session.release() },
        entries: async (indices) => {
          const whole = await open(graph, weights);
          const { y } = await whole.run({});
          await whole.release();
          return pick((y as Tensor).data as Float32Array, limitCase, indices);
        },
      };
    },
  };
}

/** The same as a user calls it. */
export function onnxruntimeWebFed(threads: number): Peer {
  const runtime = webRuntime(threads);
  const remark = `${runtime.remark}; with copies of operands and result`;
  return hostPeer({ ...runtime, name: 'onnxruntime web, fed', remark });
}
