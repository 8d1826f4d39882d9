import type { InferenceSession, Tensor } from 'onnxruntime-web';
import type { PreparedModel } from '../models/measure.ts';
import { gpt2Graph, gpt2Inputs } from '../onnx/gpt2.ts';
import { encodeModel } from '../onnx/model.ts';
import { NotOffered } from '../peer.ts';
import { type GptCase, type GptContestant, gptWeights } from './cases.ts';

/** A package of ONNX Runtime that computes on the processor. */
export interface HostRuntime {
  readonly name: string;
  readonly version: string;
  readonly remark: string;
  readonly open: (model: Uint8Array) => Promise<InferenceSession>;
  readonly tensor: (values: Int32Array, shape: readonly number[]) => Tensor;
}

/** Inputs that a user gives with each token; all others are part of the model. */
const GIVEN: readonly string[] = ['ids', 'positions'];

/** GPT-2 in ONNX' operators on the processor. Weights, the mask and the cache are initializers, so that they are not copied. */
export function onnxruntimeHostGpt(runtime: HostRuntime): GptContestant {
  const { name, version, remark } = runtime;
  return {
    name,
    role: 'peer',
    version,
    remark: `${remark}; weights and caches are initializers`,
    load: async (_, dtype) => {
      if (dtype !== 'f32') throw new NotOffered('has no f16 on the processor here');
      return { prepare: (gptCase) => prepare(gptCase, runtime), close: async () => undefined };
    },
  };
}

async function prepare(gptCase: GptCase, { open, tensor }: HostRuntime): Promise<PreparedModel> {
  if (gptCase.mode === 'growing') throw new NotOffered('has graphs of fixed shapes only here');
  const graph = gpt2Graph(gptCase);
  const weights: Record<string, Float32Array> = {};
  const feeds: Record<string, Tensor> = {};
  for (const { name, elements } of gptWeights(gptCase.config)) weights[name] = elements('f32').numbers;
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'numbers'))) {
    if (GIVEN.includes(name)) feeds[name] = tensor(values as Int32Array, graph.inputs[name] as readonly number[]);
    else weights[name] = values as Float32Array;
  }
  const session = await open(encodeModel(graph, weights));
  return {
    async calls(count) {
      for (let call = 0; call < count; call++) await session.run(feeds);
      return undefined;
    },
    async outputs() {
      const { y } = await session.run(feeds);
      return (y as Tensor).data as Float32Array;
    },
    close: () => session.release(),
  };
}
