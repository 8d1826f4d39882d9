import { availableParallelism } from 'node:os';
import { setImmediate as nodeSetImmediate } from 'node:timers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { fromF16Array } from '@concord/backend-core';
import { packageVersion } from '../results.ts';
import type { OnnxContestant } from '../onnx.ts';
import { type HostRuntime, preparedSession, queue } from './host.ts';
import { type ElementType, encodeModel, firstEntry, type Graph, identity } from './model.ts';
import type { Feed, ZooModel } from './zoo.ts';

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

/** `onnxruntime-node@version`. */
export const VERSION: string = packageVersion('onnxruntime-node');

/** Native code on the processor. */
export function nodeRuntime(threads: number = THREADS): HostRuntime {
  return {
    name: 'onnxruntime cpu',
    version: VERSION,
    remark: `native code, threads: ${threads}`,
    open: (model) => InferenceSession.create(model, { ...ON_CPU, intraOpNumThreads: threads, logSeverityLevel: 3 }),
    tensor: hostTensor,
    queue,
  };
}

type Values = Float32Array | Uint16Array | Int32Array;

/** A tensor on the host. */
export function hostTensor(values: Values, shape: readonly number[]): Tensor {
  if (values instanceof Int32Array) return new Tensor('int32', values, shape);
  if (values instanceof Uint16Array) return new Tensor('float16', values, shape);
  return new Tensor('float32', values, shape);
}

function typeOf(values: Values): ElementType {
  if (values instanceof Int32Array) return 'i32';
  return values instanceof Uint16Array ? 'f16' : 'f32';
}

/** Tensors on the device, which an Identity puts there: one session for each shape. */
export class Uploads {
  readonly tensors: Record<string, Tensor> = {};
  readonly #sessions = new Map<string, InferenceSession>();

  async add(name: string, values: Values, shape: readonly number[]): Promise<void> {
    const tensor = hostTensor(values, shape);
    const key = `${tensor.type} ${shape.join('x')}`;
    const session = this.#sessions.get(key) ?? (await openSession(identity(shape, typeOf(values)), RESIDENT));
    this.#sessions.set(key, session);
    this.tensors[name] = (await withOwnSetImmediate(() => session.run({ x0: tensor })))['y'] as Tensor;
  }

  /** If a session is collected before its results are, the process ends. */
  async close(): Promise<void> {
    for (const tensor of Object.values(this.tensors)) tensor.dispose();
    for (const session of this.#sessions.values()) await session.release();
  }
}

/** A tensor on the host. */
export function feedOf({ dims, data }: Feed): Tensor {
  return data instanceof BigInt64Array ? new Tensor('int64', data, dims) : hostTensor(data, dims);
}

/** The output of a model, by ONNX Runtime on the CPU. */
export async function runOnCpu(model: ZooModel): Promise<{ data: Float32Array; dims: readonly number[] }> {
  const session = await InferenceSession.create(model.bytes, { ...ON_CPU, logSeverityLevel: 3 });
  const { [model.output]: y } = await session.run(feedsOf(model), [model.output]);
  await session.release();
  return { data: y?.data as Float32Array, dims: y?.dims as readonly number[] };
}

const feedsOf = ({ feeds }: ZooModel): Record<string, Tensor> =>
  Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, feedOf(feed)]));

/** Models on the processor. */
export function onCpu(threads: number): OnnxContestant {
  const { name, version, remark } = nodeRuntime(threads);
  return {
    ...{ name, role: 'limit', version, remark },
    prepare: async (model) => {
      const options = { ...ON_CPU, intraOpNumThreads: threads, logSeverityLevel: 3 } as const;
      const session = await InferenceSession.create(model.bytes, options);
      return preparedSession(session, feedsOf(model), model.output);
    },
  };
}

/** Models on the GPU: floats that they are fed with lie there, as does the result. What the provider lacks is done on the CPU. */
export const onWebGpu: OnnxContestant = {
  ...{ name: 'onnxruntime webgpu', role: 'peer', version: VERSION },
  async prepare({ bytes, feeds, output }, shape) {
    const given = new Uploads();
    for (const [name, feed] of Object.entries(feeds)) {
      if (feed.data instanceof Float32Array) await given.add(name, feed.data, feed.dims);
      else given.tensors[name] = feedOf(feed);
    }
    const session = await InferenceSession.create(bytes, { ...RESIDENT, extra: {}, logSeverityLevel: 3 });
    const held = await residentOf(session, { name: output, shape }, given.tensors);
    return {
      async calls(count) {
        for (let call = 0; call < count; call++) held.run();
        await held.finish();
        return undefined;
      },
      async outputs() {
        held.run();
        return held.result();
      },
      async close() {
        await held.close();
        await given.close();
      },
    };
  },
};

/** A graph on the device. */
export interface Resident {
  readonly run: () => void;
  /** Resolves when the device has done all runs. */
  readonly finish: () => Promise<void>;
  /** The last result on the host. */
  readonly result: () => Promise<Float32Array>;
  readonly close: () => Promise<void>;
}

/** A graph whose operands and result stay on the device: another session reads it, as the package cannot download it. */
export async function resident(graph: Graph, feeds: Readonly<Record<string, Tensor>>): Promise<Resident> {
  const [name, shape] = graph.output;
  return residentOf(await openSession(graph, RESIDENT), { name, shape, dtype: graph.types?.[name] }, feeds);
}

async function residentOf(
  session: InferenceSession,
  { name, shape, dtype }: { name: string; shape: readonly number[]; dtype?: ElementType | undefined },
  feeds: Readonly<Record<string, Tensor>>,
): Promise<Resident> {
  const sync = await openSession(firstEntry(shape, dtype), ON_DEVICE);
  const download = await openSession(identity(shape, dtype), ON_DEVICE);
  const { run, wait, last } = queue(session, feeds, name);
  return {
    run: () => withOwnSetImmediate(run),
    finish: async () => {
      await wait();
      await withOwnSetImmediate(() => sync.run({ x0: last() }));
    },
    result: async () => {
      await wait();
      const { y } = await withOwnSetImmediate(() => download.run({ x0: last() }));
      const data = y?.data as Float32Array | Uint16Array;
      // Engines that have a Float16Array get one.
      return data instanceof Float32Array
        ? data
        : fromF16Array(new Uint16Array(data.buffer, data.byteOffset, data.length));
    },
    close: async () => {
      last()?.dispose();
      for (const each of [session, sync, download]) await each.release();
    },
  };
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
