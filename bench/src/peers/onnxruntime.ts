import { graphOf } from '../onnx/model.ts';
import { hostPeer, operandsOf } from '../onnx/host.ts';
import { nodeRuntime, resident, Uploads, VERSION } from '../onnx/sessions.ts';
import { type Peer, pick } from '../peer.ts';

/** ONNX Runtime on the CPU: native code. */
export function onnxruntimeCpu(threads?: number): Peer {
  return hostPeer(nodeRuntime(threads));
}

/** ONNX Runtime on WebGPU, on its own Dawn. Operands and results stay on the device. */
export const onnxruntimeWebgpu: Peer = {
  name: 'onnxruntime webgpu',
  role: 'peer',
  version: VERSION,
  async prepare(limitCase) {
    const graph = graphOf(limitCase.work);
    const uploads = new Uploads();
    for (const [name, values] of operandsOf(graph, limitCase))
      await uploads.add(name, values, graph.inputs[name] as readonly number[]);
    const { run, finish, result, close } = await resident(graph, uploads.tensors);
    return {
      ...{ run, wait: finish },
      entries: async (indices) => pick(await result(), limitCase, indices),
      close: async () => {
        await close();
        await uploads.close();
      },
    };
  },
};
