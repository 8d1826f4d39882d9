import { availableParallelism } from 'node:os';
import { setImmediate as nodeSetImmediate } from 'node:timers';
import { InferenceSession, type Tensor } from 'onnxruntime-node';
import { type ElementType, encodeModel, type Graph } from './model.ts';

/** Threads of ONNX Runtime on the CPU. */
export const THREADS: number = availableParallelism();

/** On the CPU. Threads that wait for more work by spinning would take the cores from whose turn is next. */
export const ON_CPU: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  intraOpNumThreads: THREADS,
  extra: { session: { force_spinning_stop: '1' } },
};

/** On the GPU, with results on the host. What the device cannot do fails, instead of being done on the CPU. */
export const ON_DEVICE: InferenceSession.SessionOptions = {
  executionProviders: ['webgpu'],
  extra: { session: { disable_cpu_ep_fallback: '1' } },
};

/** On the GPU, with results that stay there. */
export const RESIDENT: InferenceSession.SessionOptions = { ...ON_DEVICE, preferredOutputLocation: 'gpu-buffer' };

/** A session of a graph. */
export function openSession(graph: Graph, options: InferenceSession.SessionOptions): Promise<InferenceSession> {
  return InferenceSession.create(encodeModel(graph), { ...options, logSeverityLevel: 3 });
}

/** Runs of a session that follow each other. */
export interface Queue {
  readonly run: () => void;
  /** Resolves when all have their results, which the device may still be at. */
  readonly wait: () => Promise<void>;
  readonly last: () => Tensor;
}

/** Runs that follow each other, of whose results the last one is kept. */
export function queue(session: InferenceSession, feeds: Readonly<Record<string, Tensor>>): Queue {
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

/** A copy of its input, which uploads or downloads it. */
export function identity(shape: readonly number[], type: ElementType = 'f32'): Graph {
  return {
    types: { x0: type, y: type },
    nodes: [{ operator: 'Identity', inputs: ['x0'], output: 'y' }],
    inputs: { x0: shape },
    output: ['y', shape],
  };
}

/** A result that is small, and there when everything before it is done. */
export function firstEntry(shape: readonly number[], type: ElementType = 'f32'): Graph {
  if (shape.length === 0) return identity(shape, type);
  const begin = BigInt64Array.from(shape, () => 0n);
  const end = BigInt64Array.from(shape, () => 1n);
  return {
    nodes: [{ operator: 'Slice', inputs: ['x0', 'begin', 'end'], output: 'y' }],
    inputs: { x0: shape },
    types: { x0: type, y: type },
    output: ['y', shape.map(() => 1)],
    constants: { begin, end },
  };
}

/** A graph with the first entry of its result instead of the whole: the result is computed and not copied out. */
export function headOf(graph: Graph): Graph {
  const [name, shape] = graph.output;
  const { nodes, constants = {}, output } = firstEntry(shape);
  const whole = `${name}.whole`;
  const renamed = graph.nodes.map((node) => (node.output === name ? { ...node, output: whole } : node));
  const slice = nodes.map((node) => ({ ...node, inputs: [whole, ...node.inputs.slice(1)] }));
  return { ...graph, nodes: [...renamed, ...slice], output, constants: { ...graph.constants, ...constants } };
}

/**
 * The package starts each run by `setImmediate`, which pauses where other peers wait (see dawn.ts). Calls `start` with
 * the one that Node has.
 */
export function withOwnSetImmediate<T>(start: () => T): T {
  const paused = globalThis.setImmediate;
  globalThis.setImmediate = nodeSetImmediate;
  try {
    return start();
  } finally {
    globalThis.setImmediate = paused;
  }
}
