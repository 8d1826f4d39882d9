import { type BackendProvider, type ComputeBackend, selectBackend } from '@concord/backend-core';
import { Tensor as DeviceTensor } from '@concord/ops';
import {
  type Backend,
  type InferenceSession,
  type InferenceSessionHandler,
  registerBackend,
  Tensor,
} from 'onnxruntime-common';
import { refuse, unsupported } from './errors.ts';
import type { Model, ValueInfo } from './graph/graph.ts';
import type { HostData, HostTensor } from './graph/host-tensor.ts';
import { type LoadOnnxOptions, openSession } from './load-onnx.ts';
import { bytesOf, type OnnxSource } from './read/source.ts';
import type { Location, Session, TraceEvent } from './run/session.ts';
import { Value } from './run/value.ts';

/** Options of {@link register}. */
export interface RegisterOptions extends Pick<LoadOnnxOptions, 'float64' | 'maxPrograms'> {
  /** `registerBackend` of the copy of onnxruntime-common that the program uses, where that is another. */
  readonly registerBackend?: (name: string, backend: never, priority: number) => void;
  /** The priority: above 0 sessions without `executionProviders` use it too. Default 20. */
  readonly priority?: number;
}

/** The execution provider as onnxruntime-common knows it. Its own types need those of a page. */
export interface RuntimeBackend {
  init(name: string): Promise<void>;
  createInferenceSessionHandler(source: string | Uint8Array, options?: object): Promise<object>;
}

/** Packages that {@link register} looks for where it is given nothing. */
const PROVIDERS = ['webgpu', 'wasm', 'cpu'] as const;

/**
 * Registers the execution provider `concord` with onnxruntime-common, so that its `InferenceSession.create(model, {
 * executionProviders: ['concord'] })` runs models on a backend. `freeDimensionOverrides`, `preferredOutputLocation`,
 * `externalData` and `enableProfiling` work as documented there. A tensor at `gpu-buffer` or `ml-tensor` holds
 * one of ops, which a later run takes as it is.
 *
 * @param backend - that models run on, or providers of which the best is taken. Default, in Node: of the backend packages
 *   that are installed
 * @returns what was registered
 * @example
 * ```ts
 * register(backend);
 * const session = await InferenceSession.create('model.onnx', { executionProviders: ['concord'] });
 * ```
 */
export function register(
  backend?: ComputeBackend | readonly BackendProvider[],
  { registerBackend: add = registerBackend, priority = 20, ...options }: RegisterOptions = {},
): RuntimeBackend {
  let chosen: ComputeBackend | undefined;
  const registered: Backend = {
    async init() {
      if (backend !== undefined && !Array.isArray(backend)) chosen = backend as ComputeBackend;
      else
        chosen = (await selectBackend((backend as readonly BackendProvider[] | undefined) ?? (await installed())))
          .backend;
    },
    createInferenceSessionHandler: (source, settings = {}) =>
      handlerOf(chosen as ComputeBackend, source, settings, options),
  };
  (add as typeof registerBackend)('concord', registered, priority);
  return registered;
}

async function installed(): Promise<BackendProvider[]> {
  const found: BackendProvider[] = [];
  for (const name of PROVIDERS) {
    // A name in a variable, so that bundlers do not follow it.
    const from = `@concord/backend-${name}`;
    const exports = (await import(/* @vite-ignore */ from).catch(() => ({}))) as Record<
      string,
      (() => BackendProvider) | undefined
    >;
    const provider = exports[name]?.();
    if (provider !== undefined) found.push(provider);
  }
  if (found.length === 0)
    throw refuse('no package of a backend is installed', { hint: 'give register a backend, or providers' });
  return found;
}

/** An entry of ONNX Runtime's `externalData`. */
type External = string | { readonly path: string; readonly data: string | Uint8Array | ArrayBuffer | Blob };

async function handlerOf(
  backend: ComputeBackend,
  source: OnnxSource,
  settings: InferenceSession.SessionOptions,
  options: LoadOnnxOptions,
): Promise<InferenceSessionHandler> {
  const externalData: Record<string, Uint8Array> = {};
  for (const each of (settings.externalData ?? []) as readonly External[]) {
    const { path, data } = typeof each === 'string' ? { path: each, data: each } : each;
    externalData[path.replace(/^\.\//, '')] = await bytesOf(data);
  }
  const free = settings.freeDimensionOverrides ?? {};
  const session = await openSession(backend, source, { ...options, externalData }, (model) => withSizes(model, free));
  if (settings.enableProfiling === true) session.trace = [];
  const { inputs, outputs } = session.model.graph;
  // Not the settings, which hold the bytes of files.
  const { preferredOutputLocation = 'cpu' } = settings;
  return {
    inputNames: inputs.map(({ name }) => name),
    outputNames: outputs.map(({ name }) => name),
    inputMetadata: inputs.map(metadataOf),
    outputMetadata: outputs.map(metadataOf),
    dispose: () => Promise.resolve(session.dispose()),
    startProfiling: () => void (session.trace = []),
    endProfiling() {
      // As a trace that browsers' tools open.
      const events = (session.trace ?? []).map((each: TraceEvent) => ({ ...each, ph: 'X', pid: 0, tid: 0 }));
      session.trace = undefined;
      (globalThis as { console?: { log(text: string): void } }).console?.log(JSON.stringify(events));
    },
    run: (feeds, fetches) => run(session, feeds, fetches, preferredOutputLocation),
  };
}

function withSizes(model: Model, free: Readonly<Record<string, number>>): Model {
  const sized = (info: ValueInfo): ValueInfo => ({
    ...info,
    dims: info.dims?.map((dim) => (typeof dim === 'string' ? (free[dim] ?? dim) : dim)),
  });
  return { ...model, graph: { ...model.graph, inputs: model.graph.inputs.map(sized) } };
}

function metadataOf({ name, type, dims = [] }: ValueInfo): InferenceSession.ValueMetadata {
  return { name, isTensor: true, type: type as Tensor.Type, shape: dims.map((dim) => dim ?? '') };
}

async function run(
  session: Session,
  feeds: Readonly<Record<string, Tensor>>,
  fetches: Readonly<Record<string, Tensor | null>>,
  preferred: Exclude<InferenceSession.SessionOptions['preferredOutputLocation'], undefined>,
): Promise<Record<string, Tensor>> {
  const locationOf = (name: string): string => {
    const location = typeof preferred === 'string' ? preferred : (preferred[name] ?? 'cpu');
    if (!['cpu', 'cpu-pinned', 'gpu-buffer', 'ml-tensor'].includes(location))
      throw unsupported(`outputs at ${location} are not supported`);
    return location;
  };
  const where = (name: string): Location => (locationOf(name).startsWith('cpu') ? 'host' : 'device');
  const results = await session.run(
    Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, feedOf(tensor)])),
    Object.keys(fetches),
    where,
  );
  const tensors: Record<string, Tensor> = {};
  for (const [name, result] of results) {
    const filled = fetches[name];
    if (result instanceof Value) tensors[name] = deviceTensor(result, locationOf(name));
    else if (filled?.location === 'cpu' && filled.type === result.type && filled.dims.join() === result.dims.join()) {
      if (result.type === 'string') Object.assign(filled.data, result.data);
      else bitsOf(filled.data as Float32Array).set(bitsOf(result.data as Float32Array));
      tensors[name] = filled;
    } else tensors[name] = new Tensor(result.type as 'float32', halves(result) as Float32Array, result.dims);
  }
  return tensors;
}

function feedOf(tensor: Tensor): HostTensor | DeviceTensor {
  const { location, type, dims } = tensor;
  if (location === 'cpu' || location === 'cpu-pinned') {
    const { data } = tensor as { data: unknown };
    const isHalf = type === 'float16' && !(data instanceof Uint16Array);
    const view = data as Float32Array;
    return {
      type: type as HostTensor['type'],
      dims,
      data: isHalf ? new Uint16Array(view.buffer, view.byteOffset, view.length) : (data as HostData),
    };
  }
  const held: unknown =
    location === 'gpu-buffer' ? tensor.gpuBuffer : location === 'ml-tensor' ? tensor.mlTensor : undefined;
  if (held instanceof DeviceTensor) return held;
  throw unsupported(`a tensor at ${location} that is not one of a run is not supported`);
}

function deviceTensor({ type, dims, tensor }: Value, location: string): Tensor {
  const options = {
    ...{ dataType: type as 'float32', dims, dispose: () => tensor?.dispose() },
    download: async () => halves(await new Value({ type, dims, tensor }).read()) as Float32Array,
  };
  if (location === 'gpu-buffer') return Tensor.fromGpuBuffer(tensor as unknown as Tensor.GpuBufferType, options);
  return Tensor.fromMLTensor(tensor as unknown as Tensor.MLTensorType, options);
}

/** The bytes of an array: 16-bit floats are of one class here and of another there. */
function bitsOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The class of 16-bit floats, where a runtime has it. */
const { Float16Array: halfArray } = globalThis as {
  Float16Array?: new (buffer: ArrayBufferLike, offset: number, length: number) => unknown;
};

function halves({ type, data }: HostTensor): unknown {
  if (type !== 'float16' || halfArray === undefined) return data;
  const { buffer, byteOffset, length } = data as Uint16Array;
  return new halfArray(buffer, byteOffset, length);
}
