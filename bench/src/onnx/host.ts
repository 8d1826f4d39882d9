import type { InferenceSession, Tensor } from 'onnxruntime-web';
import { materialize, type Operand } from '@concord/cli/bench';
import type { GptCase, GptContestant } from '../gpt/cases.ts';
import { gptWeights } from '../gpt/cases.ts';
import type { LimitCase } from '../limits/cases.ts';
import type { PreparedModel } from '../models.ts';
import { NotOffered, type Peer, pick } from '../peer.ts';
import { gpt2Graph, gpt2Inputs } from './gpt2.ts';
import { encodeModel, type Graph, graphOf } from './model.ts';

/** A package of ONNX Runtime that computes on the processor. */
export interface HostRuntime {
  readonly name: string;
  readonly version: string;
  readonly remark: string;
  readonly open: (model: Uint8Array) => Promise<InferenceSession>;
  readonly tensor: (values: Float32Array | Int32Array, shape: readonly number[]) => Tensor;
  readonly queue: (session: InferenceSession, feeds: Feeds) => Queue;
}

/** Tensors by the names of inputs. */
export type Feeds = Readonly<Record<string, Tensor>>;

/** Runs of a session that follow each other. */
export interface Queue {
  readonly run: () => void;
  /** Resolves when all have their results, which a device may still be at. */
  readonly wait: () => Promise<void>;
  readonly last: () => Tensor;
}

/** Runs of whose results the last one is kept. */
export function queue(session: InferenceSession, feeds: Feeds, output = 'y'): Queue {
  const pending: Promise<void>[] = [];
  let latest: Tensor | undefined;
  return {
    run: () => {
      const keep = session.run(feeds, [output]).then((results) => {
        latest?.dispose();
        latest = results[output] as Tensor;
      });
      pending.push(keep);
    },
    wait: async () => void (await Promise.all(pending.splice(0))),
    last: () => latest as Tensor,
  };
}

/** The same for a session that takes no other run while it runs. */
export function inOrder(session: InferenceSession, feeds: Feeds): Queue {
  let runs: Promise<unknown> = Promise.resolve();
  let latest: Tensor | undefined;
  const one = async (): Promise<void> => {
    latest = (await session.run(feeds))['y'] as Tensor;
  };
  return { run: () => void (runs = runs.then(one)), wait: async () => void (await runs), last: () => latest as Tensor };
}

/** A session as models are timed with it. */
export function preparedSession(
  session: { run(feeds: Feeds, fetches: string[]): Promise<unknown>; release(): Promise<void> },
  feeds: Feeds,
  output: string,
): PreparedModel {
  return {
    async calls(count) {
      for (let call = 0; call < count; call++) await session.run(feeds, [output]);
      return undefined;
    },
    outputs: async () => ((await session.run(feeds, [output])) as Record<string, Tensor>)[output]?.data as Float32Array,
    close: () => session.release(),
  };
}

/** The operands of a case by the names that its graph gives them. */
export function operandsOf({ inputs }: Graph, limitCase: LimitCase): [name: string, values: Float32Array][] {
  return Object.keys(inputs).map((name, i) => [name, materialize(limitCase.inputs[i] as Operand)]);
}

/** A runtime as a user calls it, whose operands are copied in and whose result is copied out in each run. */
export function hostPeer({ name, version, remark, open, tensor, queue: queueOf }: HostRuntime): Peer {
  return {
    ...{ name, role: 'peer', version, remark },
    async prepare(limitCase) {
      const graph = graphOf(limitCase.work);
      const session = await open(encodeModel(graph));
      const feeds = operandsOf(graph, limitCase).map(([input, values]) => [
        input,
        tensor(values, graph.inputs[input] as readonly number[]),
      ]);
      const { run, wait, last } = queueOf(session, Object.fromEntries(feeds) as Feeds);
      return {
        ...{ run, wait, close: () => session.release() },
        entries: async (indices) => pick(last().data as Float32Array, limitCase, indices),
      };
    },
  };
}

/** GPT-2 in ONNX' operators on the processor. Weights, the mask and the cache are initializers, so that they are not copied. */
export function hostGpt(runtime: HostRuntime): GptContestant {
  const { name, version, remark } = runtime;
  return {
    ...{ name, role: 'peer', version, remark: `${remark}; weights and caches are initializers` },
    load: async (_, dtype) => {
      if (dtype !== 'f32') throw new NotOffered('has no f16 on the processor here');
      return { prepare: (gptCase) => prepareGpt(gptCase, runtime), close: async () => undefined };
    },
  };
}

/** Inputs that a user gives with each token; all others are part of the model. */
const GIVEN: readonly string[] = ['ids', 'positions'];

async function prepareGpt(gptCase: GptCase, { open, tensor }: HostRuntime): Promise<PreparedModel> {
  if (gptCase.mode === 'generating') throw new NotOffered('has graphs of fixed shapes only here');
  const graph = gpt2Graph(gptCase);
  const weights: Record<string, Float32Array> = {};
  const feeds: Record<string, Tensor> = {};
  for (const { name, elements } of gptWeights(gptCase.config)) weights[name] = elements('f32').numbers;
  for (const [name, values] of Object.entries(gpt2Inputs(gptCase, 'numbers'))) {
    if (GIVEN.includes(name)) feeds[name] = tensor(values as Int32Array, graph.inputs[name] as readonly number[]);
    else weights[name] = values as Float32Array;
  }
  const session = await open(encodeModel(graph, weights));
  return preparedSession(session, feeds, 'y');
}
