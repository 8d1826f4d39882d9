import { fromF16Array } from '@concord/backend-core';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { packageVersion } from '../results.ts';
import { gpt2Graph, gpt2Inputs } from '../onnx/gpt2.ts';
import type { ElementType } from '../onnx/model.ts';
import {
  firstEntry,
  identity,
  ON_CPU,
  ON_DEVICE,
  openSession,
  queue,
  RESIDENT,
  withOwnSetImmediate,
} from '../onnx/sessions.ts';
import { NotOffered } from '../peer.ts';
import { type GptCase, type GptContestant, gptWeights } from './cases.ts';
import { onnxruntimeHostGpt } from './onnxruntime-host.ts';
import type { PreparedModel } from '../models/measure.ts';

type Feeds = Record<string, Tensor>;
type Values = Float32Array | Uint16Array | Int32Array;

/** GPT-2 in ONNX' operators on ONNX Runtime's WebGPU provider. Weights, caches and logits stay on the device. */
export const onnxruntimeGpt: GptContestant = {
  name: 'onnxruntime webgpu',
  role: 'peer',
  version: packageVersion('onnxruntime-node'),
  remark: "the graph in ONNX' standard operators, weights and caches as inputs on the device",
  async load(config, dtype) {
    const weights = new Uploads();
    for (const { name, shape, elements } of gptWeights(config)) await weights.add(name, elements(dtype).stored, shape);
    return {
      prepare: (gptCase) => prepare(gptCase, weights.tensors),
      close: () => weights.close(),
    };
  },
};

/** The same graph on ONNX Runtime in native code on the processor. */
export function onnxruntimeCpuGpt(threads: number): GptContestant {
  return onnxruntimeHostGpt({
    name: 'onnxruntime cpu',
    version: packageVersion('onnxruntime-node'),
    remark: `native code, threads: ${threads}`,
    open: (model) => InferenceSession.create(model, { ...ON_CPU, intraOpNumThreads: threads, logSeverityLevel: 3 }),
    tensor: hostTensor,
  });
}

/**
 * The logits of a case by ONNX Runtime on the CPU in float32, with weights that the case's type can hold. All
 * contestants' logits are compared with them.
 */
export async function referenceLogits(gptCase: GptCase): Promise<Float32Array> {
  const graph = gpt2Graph({ ...gptCase, dtype: 'f32' });
  const feeds: Feeds = {};
  for (const { name, shape, elements } of gptWeights(gptCase.config)) {
    feeds[name] = hostTensor(elements(gptCase.dtype).numbers, shape);
  }
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'numbers'))) {
    feeds[name] = hostTensor(values, graph.inputs[name] as readonly number[]);
  }
  const session = await openSession(graph, ON_CPU);
  const { y } = await session.run(feeds);
  await session.release();
  return (y as Tensor).data as Float32Array;
}

async function prepare(gptCase: GptCase, weights: Feeds): Promise<PreparedModel> {
  const { mode, dtype } = gptCase;
  if (mode === 'growing') throw new NotOffered('has graphs of fixed shapes only here');
  const graph = gpt2Graph(gptCase);
  const own = new Uploads();
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'stored'))) {
    await own.add(name, values, graph.inputs[name] as readonly number[]);
  }
  const [, shape] = graph.output;
  const session = await openSession(graph, RESIDENT);
  const sync = await openSession(firstEntry(shape, dtype), ON_DEVICE);
  const download = await openSession(identity(shape, dtype), ON_DEVICE);
  const { run, wait, last } = queue(session, { ...weights, ...own.tensors });
  const finish = async (): Promise<void> => {
    await wait();
    await withOwnSetImmediate(() => sync.run({ x0: last() }));
  };
  return {
    async calls(count) {
      for (let call = 0; call < count; call++) {
        withOwnSetImmediate(run);
        if (mode === 'read each') await finish();
      }
      if (mode !== 'read each') await finish();
      return undefined;
    },
    async outputs() {
      withOwnSetImmediate(run);
      await wait();
      const { y } = await withOwnSetImmediate(() => download.run({ x0: last() }));
      return floatsOf(y as Tensor);
    },
    async close() {
      last()?.dispose();
      for (const each of [session, sync, download]) await each.release();
      await own.close();
    },
  };
}

/** Tensors on the device. */
class Uploads {
  readonly tensors: Feeds = {};
  readonly #sessions = new Map<string, InferenceSession>();

  /** By one session for each shape. */
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

function hostTensor(values: Values, shape: readonly number[]): Tensor {
  if (values instanceof Int32Array) return new Tensor('int32', values, shape);
  if (values instanceof Uint16Array) return new Tensor('float16', values, shape);
  return new Tensor('float32', values, shape);
}

function typeOf(values: Values): ElementType {
  if (values instanceof Int32Array) return 'i32';
  return values instanceof Uint16Array ? 'f16' : 'f32';
}

function floatsOf({ data }: Tensor): Float32Array {
  return data instanceof Float32Array ? data : fromF16Array(bitsOf(data as Uint16Array));
}

/** Engines that have a Float16Array get one. */
function bitsOf(data: ArrayBufferView & { readonly length: number }): Uint16Array {
  return new Uint16Array(data.buffer, data.byteOffset, data.length);
}
