import { availableParallelism } from 'node:os';
import { setImmediate as nodeSetImmediate } from 'node:timers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { LimitCase } from '../limits/limit-case.ts';
import { materialize } from '../limits/noise-array.ts';
import { packageVersion } from '../machine.ts';
import { graphOf } from '../onnx/graphs.ts';
import { encodeModel, type Graph } from '../onnx/model.ts';
import { type Peer, pick, type Prepared } from '../peer.ts';

const VERSION = packageVersion('onnxruntime-node');
const THREADS = availableParallelism();

/** What the device cannot do fails, in place of being done on the CPU. */
const ON_DEVICE = { session: { disable_cpu_ep_fallback: '1' } };

/** Threads that wait for more work by spinning would take the cores from whose turn is next. */
const NO_SPINNING = { session: { force_spinning_stop: '1' } };

/** ONNX Runtime on the CPU: native code, on all cores. */
export const onnxruntimeCpu: Peer = {
  name: 'onnxruntime cpu',
  role: 'peer',
  version: VERSION,
  remark: `native code, ${THREADS} threads`,
  async prepare(limitCase) {
    const graph = graphOf(limitCase.work);
    const session = await open(graph, {
      executionProviders: ['cpu'],
      intraOpNumThreads: THREADS,
      extra: NO_SPINNING,
    });
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

/**
 * ONNX Runtime on WebGPU, with a Dawn of its own. Operands and results stay on the device: an Identity puts the operands
 * there, and what reads a result is another session, as the package cannot download what a session left there.
 */
export const onnxruntimeWebgpu: Peer = {
  name: 'onnxruntime webgpu',
  role: 'peer',
  version: VERSION,
  async prepare(limitCase) {
    const graph = graphOf(limitCase.work);
    const options: InferenceSession.SessionOptions = { executionProviders: ['webgpu'], extra: ON_DEVICE };
    const resident = { ...options, preferredOutputLocation: 'gpu-buffer' } as const;
    const sessions: InferenceSession[] = [];
    const start = async (which: Graph, how: InferenceSession.SessionOptions): Promise<InferenceSession> => {
      const session = await open(which, how);
      sessions.push(session);
      return session;
    };
    const feeds: Record<string, Tensor> = {};
    for (const [name, tensor] of Object.entries(feedsOf(graph, limitCase))) {
      const upload = await start(identity(tensor.dims), resident);
      feeds[name] = (await upload.run({ x0: tensor }))['y'] as Tensor;
    }
    const { run, wait, last } = queue(await start(graph, resident), feeds);
    const shape = graph.output[1];
    const download = await start(identity(shape), options);
    const sync = await start(firstEntry(shape), options);
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

function open(graph: Graph, options: InferenceSession.SessionOptions): Promise<InferenceSession> {
  return InferenceSession.create(encodeModel(graph), { ...options, logSeverityLevel: 3 });
}

function feedsOf(graph: Graph, limitCase: LimitCase): Record<string, Tensor> {
  const operands = limitCase.operands();
  return Object.fromEntries(
    Object.entries(graph.inputs).map(([name, shape], i) => [
      name,
      new Tensor('float32', materialize(operands[i] as (typeof operands)[0]), shape),
    ]),
  );
}

/** Runs that follow each other, of whose results the last one is kept. */
function queue(
  session: InferenceSession,
  feeds: Readonly<Record<string, Tensor>>,
): Required<Pick<Prepared, 'run' | 'wait'>> & { readonly last: () => Tensor } {
  let pending: Promise<void>[] = [];
  let latest: Tensor | undefined;
  return {
    run: () => {
      const keep = session.run(feeds).then(({ y }) => {
        latest?.dispose();
        latest = y as Tensor;
      });
      pending.push(keep);
    },
    wait: async () => {
      const all = pending;
      pending = [];
      await Promise.all(all);
    },
    last: () => latest as Tensor,
  };
}

function identity(shape: readonly number[]): Graph {
  return {
    nodes: [{ operator: 'Identity', inputs: ['x0'], output: 'y' }],
    inputs: { x0: shape },
    output: ['y', shape],
  };
}

/** A result that is small, and there when everything before it is done. */
function firstEntry(shape: readonly number[]): Graph {
  if (shape.length === 0) return identity(shape);
  const begin = BigInt64Array.from(shape, () => 0n);
  const end = BigInt64Array.from(shape, () => 1n);
  return {
    nodes: [{ operator: 'Slice', inputs: ['x0', 'begin', 'end'], output: 'y' }],
    inputs: { x0: shape },
    output: ['y', shape.map(() => 1)],
    constants: { begin, end },
  };
}

/**
 * The package starts each run by `setImmediate`, which pauses where other peers wait (see dawn.ts). Calls `start` with
 * the one that Node has.
 */
function withOwnSetImmediate<T>(start: () => T): T {
  const paused = globalThis.setImmediate;
  globalThis.setImmediate = nodeSetImmediate;
  try {
    return start();
  } finally {
    globalThis.setImmediate = paused;
  }
}
