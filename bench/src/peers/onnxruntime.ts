import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { LimitCase } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { packageVersion } from '../results.ts';
import { graphOf } from '../onnx/graphs.ts';
import type { Graph } from '../onnx/model.ts';
import {
  firstEntry,
  identity,
  ON_CPU,
  ON_DEVICE,
  openSession,
  queue,
  RESIDENT,
  THREADS,
  withOwnSetImmediate,
} from '../onnx/sessions.ts';
import { type Peer, pick } from '../peer.ts';

const VERSION = packageVersion('onnxruntime-node');

/** ONNX Runtime on the CPU: native code. */
export function onnxruntimeCpu(threads: number = THREADS): Peer {
  return {
    name: 'onnxruntime cpu',
    role: 'peer',
    version: VERSION,
    remark: `native code, threads: ${threads}`,
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const session = await openSession(graph, { ...ON_CPU, intraOpNumThreads: threads });
      const feeds = feedsOf(graph, limitCase);
      const { wait, run, last } = queue(session, feeds);
      return {
        run,
        wait,
        entries: async (indices) => pick(last().data as Float32Array, limitCase, indices),
        close: () => session.release(),
      };
    },
  };
}

/**
 * ONNX Runtime on WebGPU, on its own Dawn. Operands and results stay on the device: an Identity puts the operands
 * there, and another session reads a result, as the package cannot download results that stay there.
 */
export const onnxruntimeWebgpu: Peer = {
  name: 'onnxruntime webgpu',
  role: 'peer',
  version: VERSION,
  async prepare(limitCase) {
    const graph = graphOf(limitCase.work);
    const sessions: InferenceSession[] = [];
    const start = async (which: Graph, how: InferenceSession.SessionOptions): Promise<InferenceSession> => {
      const session = await openSession(which, how);
      sessions.push(session);
      return session;
    };
    const feeds: Record<string, Tensor> = {};
    for (const [name, tensor] of Object.entries(feedsOf(graph, limitCase))) {
      const upload = await start(identity(tensor.dims), RESIDENT);
      feeds[name] = (await upload.run({ x0: tensor }))['y'] as Tensor;
    }
    const { run, wait, last } = queue(await start(graph, RESIDENT), feeds);
    const shape = graph.output[1];
    const download = await start(identity(shape), ON_DEVICE);
    const sync = await start(firstEntry(shape), ON_DEVICE);
    return {
      run: () => withOwnSetImmediate(run),
      wait: async () => {
        await wait();
        await withOwnSetImmediate(() => sync.run({ x0: last() }));
      },
      entries: async (indices) => {
        const { y } = await download.run({ x0: last() });
        return pick((y as Tensor).data as Float32Array, limitCase, indices);
      },
      close: async () => {
        for (const tensor of [...Object.values(feeds), last()]) tensor.dispose();
        for (const session of sessions) await session.release();
      },
    };
  },
};

function feedsOf(graph: Graph, limitCase: LimitCase): Record<string, Tensor> {
  const operands = limitCase.inputs;
  return Object.fromEntries(
    Object.entries(graph.inputs).map(([name, shape], i) => [
      name,
      new Tensor('float32', materialize(operands[i] as (typeof operands)[0]), shape),
    ]),
  );
}
