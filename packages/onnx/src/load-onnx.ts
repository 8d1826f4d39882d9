/// <reference lib="esnext.disposable" preserve="true" />
import type { ComputeBackend } from '@concord/backend-core';
import type { Tensor } from '@concord/ops';
import { checkBackend, checkOptions } from '@concord/ops/listen';
import type { Model, ValueInfo } from './graph/graph.ts';
import type { HostTensor } from './graph/host-tensor.ts';
import { optimise, withoutDead } from './graph/passes.ts';
import { checkOperators } from './operators/check.ts';
import { decodeModel, readModel } from './read/read-model.ts';
import { bytesOf, type OnnxSource } from './read/source.ts';
import { type Feeds, Session } from './run/session.ts';
import type { Value } from './run/value.ts';

export type { OnnxSource };

/** Options of {@link loadOnnx}. */
export interface LoadOnnxOptions {
  /** The files that tensors of the model lie in, by their names in it. Default: those beside the model, where it is a path or a URL. */
  readonly externalData?: Readonly<Record<string, Uint8Array>>;
  /** `'float32'` computes the model's float64 in float32. Default `'refuse'`. */
  readonly float64?: 'refuse' | 'float32';
  /** Signatures of input shapes for which a recording is kept, the last ones used. Default 8. */
  readonly maxPrograms?: number;
}

/** Options of a run. */
export interface RunOnnxOptions {
  /** The outputs that are wanted. Default: all. */
  readonly outputs?: readonly string[];
}

/** A model that can run. */
export interface OnnxModel extends Disposable {
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly metadata: ReadonlyMap<string, string>;
  /**
   * Runs the model. The second run for a signature of input shapes is recorded, later ones are replayed.
   *
   * @returns the outputs, on the device; the caller disposes them
   * @throws {BackendError} INVALID_ARGUMENT for inputs that do not fit, with their names; for a node that fails, with its name
   */
  run(feeds: Feeds, options?: RunOnnxOptions): Promise<Record<string, Tensor>>;
  /** {@link run} with the outputs read to the host. */
  runOnHost(feeds: Feeds, options?: RunOnnxOptions): Promise<Record<string, HostTensor>>;
  /** Gives back all that the model has on the device. Idempotent. */
  dispose(): void;
}

/**
 * Loads an ONNX model: from bytes, a path (in Node), a URL, a `Response`, a `Blob` or a `ByteSource`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a file that is damaged, or data outside of its folder
 * @throws {BackendError} UNSUPPORTED for operators, their attributes, operator sets and types that are not supported, with the node
 * @example
 * ```ts
 * using model = await loadOnnx(backend, 'model.onnx');
 * const { logits } = await model.run({ input_ids: { type: 'int64', dims: [1, 2], data: new BigInt64Array([1n, 2n]) } });
 * ```
 */
export async function loadOnnx(
  backend: ComputeBackend,
  source: OnnxSource,
  options: LoadOnnxOptions = {},
): Promise<OnnxModel> {
  checkBackend('loadOnnx', backend);
  checkOptions('loadOnnx', options, { externalData: 'any', float64: 'any', maxPrograms: 'number' });
  return modelOf(await openSession(backend, source, options));
}

/** A session of a model's file. */
export async function openSession(
  backend: ComputeBackend,
  source: OnnxSource,
  { externalData = {}, float64 = 'refuse', maxPrograms = 8 }: LoadOnnxOptions,
  change: (model: Model) => Model = (model) => model,
): Promise<Session> {
  const { proto, files } = decodeModel(await bytesOf(source));
  const external = new Map(Object.entries(externalData));
  for (const file of files) if (!external.has(file)) external.set(file, await bytesOf(source, file));
  const model = change(readModel(proto, external));
  const graph = withoutDead(model.graph);
  checkOperators(graph);
  return new Session({ ...model, graph: optimise(graph) }, { backend, float64, maxPrograms });
}

function modelOf(session: Session): OnnxModel {
  const { graph, metadata } = session.model;
  const names = graph.outputs.map(({ name }) => name);
  const dispose = (): void => session.dispose();
  return {
    inputs: graph.inputs,
    outputs: graph.outputs,
    metadata,
    async run(feeds, { outputs = names } = {}) {
      const results = await session.run(feeds, outputs, () => 'device');
      return Object.fromEntries([...results].map(([name, value]) => [name, (value as Value).tensor as Tensor]));
    },
    async runOnHost(feeds, { outputs = names } = {}) {
      return Object.fromEntries(await session.run(feeds, outputs, () => 'host')) as Record<string, HostTensor>;
    },
    dispose,
    [Symbol.dispose]: dispose,
  };
}
