import { gpt2Graph, gpt2Inputs } from '../onnx/gpt2.ts';
import { hostTensor, ON_CPU, openSession, resident, Uploads, VERSION } from '../onnx/sessions.ts';
import { NotOffered } from '../peer.ts';
import type { PreparedModel } from '../models.ts';
import { type GptCase, type GptContestant, gptWeights } from './cases.ts';

/** GPT-2 in ONNX' operators on ONNX Runtime's WebGPU provider. Weights, caches and logits stay on the device. */
export const onnxruntimeGpt: GptContestant = {
  name: 'onnxruntime webgpu',
  role: 'peer',
  version: VERSION,
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

/**
 * The logits of a case by ONNX Runtime on the CPU in float32, with weights that the case's type can hold. All
 * contestants' logits are compared with them.
 */
export async function referenceLogits(gptCase: GptCase): Promise<Float32Array> {
  const graph = gpt2Graph({ ...gptCase, dtype: 'f32' });
  const feeds: Uploads['tensors'] = {};
  for (const { name, shape, elements } of gptWeights(gptCase.config)) {
    feeds[name] = hostTensor(elements(gptCase.dtype).numbers, shape);
  }
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'numbers'))) {
    feeds[name] = hostTensor(values, graph.inputs[name] as readonly number[]);
  }
  const session = await openSession(graph, ON_CPU);
  const { y } = await session.run(feeds);
  await session.release();
  return y?.data as Float32Array;
}

async function prepare(gptCase: GptCase, weights: Uploads['tensors']): Promise<PreparedModel> {
  const { mode } = gptCase;
  if (mode === 'generating') throw new NotOffered('has graphs of fixed shapes only here');
  const graph = gpt2Graph(gptCase);
  const own = new Uploads();
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'stored'))) {
    await own.add(name, values, graph.inputs[name] as readonly number[]);
  }
  const { run, finish, result, close } = await resident(graph, { ...weights, ...own.tensors });
  return {
    async calls(count) {
      for (let call = 0; call < count; call++) {
        run();
        if (mode === 'read each') await finish();
      }
      if (mode !== 'read each') await finish();
      return undefined;
    },
    async outputs() {
      run();
      return result();
    },
    async close() {
      await close();
      await own.close();
    },
  };
}
