import type { ComputeBackend } from '@concord/backend-core';
import { copy, Tensor } from '@concord/ops';
import { errorOf, refuse } from '../errors.ts';
import { type Graph, graphsOf, type Model, type Node, readsOf, type ValueInfo } from '../graph/graph.ts';
import { arrayOf, type HostTensor, lengthOf, sizeOf } from '../graph/host-tensor.ts';
import { Uses } from '../graph/match.ts';
import { neededOnHost } from '../graph/placement.ts';
import type { Context } from './call.ts';
import { operatorOf, runGraph, SMALL } from './execute.ts';
import { owned, Part, Program, withParts } from './part.ts';
import { deviceType, type Float64, isOnDevice, textOf, typeOf, upload, Value } from './value.ts';

/** Inputs of a model: tensors of the host, or of the session's backend. */
export type Feeds = Readonly<Record<string, HostTensor | Tensor>>;

/** The memory that results are left in. */
export type Location = 'host' | 'device';

/** Options of a session. */
export interface SessionSettings {
  readonly backend: ComputeBackend;
  readonly float64: Float64;
  /** The number of signatures of input shapes that are kept. */
  readonly maxPrograms: number;
}

/** Microseconds of host time of a node, or of a whole run. */
export interface TraceEvent {
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
}

/** A model on a backend. */
export class Session {
  readonly model: Model;
  /** A list that runs add to, node by node, instead of being recorded. */
  trace: TraceEvent[] | undefined;
  readonly #settings: SessionSettings;
  readonly #needed: ReadonlySet<string>;
  /** Names of what the work reads the elements of. */
  readonly #reads: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  readonly #outputs: ReadonlySet<string>;
  readonly #constants = new Map<Graph['constants'], ReadonlyMap<string, Value>>();
  readonly #folded = new Map<Node, readonly Value[]>();
  readonly #kept = new Map<Node, unknown>();
  readonly #programs = new Map<string, Program>();
  /** What nodes got in the last run for a signature that was new. */
  #signatures: ReadonlyMap<Node, string> = new Map();
  /** The graph in parts, once two such runs had much in common: for further signatures, such as those of caches that grow. */
  #parted: Graph | undefined;
  /** Numbers have to be read back in the middle of a run, or are drawn anew, so that it cannot be recorded. */
  #waits: boolean;
  #isDisposed = false;
  #isRunning = false;
  /** Ends with the last run that was asked for: a replay fills the tensors that the one before may still be read from. */
  #turn: Promise<void> = Promise.resolve();

  constructor(model: Model, settings: SessionSettings) {
    this.model = model;
    this.#settings = settings;
    this.#needed = neededOnHost(model.graph);
    const { nodes, inputs, outputs } = model.graph;
    const reading = nodes.filter(({ op }) => op !== 'Shape' && op !== 'Size');
    this.#names = new Set(inputs.map(({ name }) => name));
    this.#outputs = new Set(outputs.map(({ name }) => name));
    this.#reads = new Set([...reading.flatMap(readsOf), ...this.#outputs]);
    this.#waits = hasRandom(model.graph);
  }

  /**
   * Runs the model, after the runs that were asked for before.
   *
   * @returns for each output that is asked for a tensor of the host, or one of the device that the caller disposes
   * @throws {BackendError} INVALID_ARGUMENT for inputs that do not fit
   */
  run(
    feeds: Feeds,
    outputs: readonly string[],
    locationOf: (name: string) => Location,
  ): Promise<Map<string, HostTensor | Value>> {
    // Later, too, since tensors are not to belong to a `tidy` of the caller.
    const results = this.#turn.then(() => this.#run(feeds, outputs, locationOf));
    const end = (): void => {
      this.#isRunning = false;
      if (this.#isDisposed) this.#free();
    };
    this.#turn = results.then(end, end);
    return results;
  }

  async #run(
    feeds: Feeds,
    outputs: readonly string[],
    locationOf: (name: string) => Location,
  ): Promise<Map<string, HostTensor | Value>> {
    if (this.#isDisposed) throw refuse('the session was released');
    this.#isRunning = true;
    this.#check(feeds);
    const unknown = outputs.find((name) => !this.#outputs.has(name));
    if (unknown !== undefined) throw refuse(`there is no output "${unknown}"`);
    const places = new Map(outputs.map((name) => [name, locationOf(name)]));
    const key = this.#keyOf(feeds);
    const isKept = key !== undefined && !this.#waits && this.#settings.maxPrograms >= 1;
    const program = isKept ? this.#programOf(key) : undefined;
    const { values, isOwn } = await this.#compute(feeds, program);
    const wanted = new Map<string, HostTensor | Value>();
    const reads: Promise<void>[] = [];
    const leftOver: Value[] = [];
    this.model.graph.outputs.forEach(({ name }, i) => {
      const value = values[i] as Value;
      if (!places.has(name)) return void (isOwn && leftOver.push(value));
      if (places.get(name) === 'device') {
        const tensor = value.tensor ?? upload(this.#settings.backend, value.host as HostTensor, this.#settings.float64);
        wanted.set(name, Value.ofTensor(isOwn || value.tensor === undefined ? tensor : copy(tensor), value.type));
        return;
      }
      wanted.set(name, value);
      // Of a recording the next replay fills the tensor again.
      const each = isOwn ? value : new Value(value);
      // What was on the host may be an initializer's, an input's or of every replay, and the result is the caller's to change.
      const isShared = value.host !== undefined;
      const own = (host: HostTensor): HostTensor => (isShared ? { ...host, data: host.data.slice() } : host);
      reads.push(each.read().then((host) => void wanted.set(name, own(host))));
      if (isOwn) leftOver.push(value);
    });
    try {
      await Promise.all(reads);
    } finally {
      for (const each of leftOver) each.dispose();
    }
    return wanted;
  }

  /** Gives back all that the session has on the device, once a run that is under way has ended. Idempotent. */
  dispose(): void {
    this.#isDisposed = true;
    if (!this.#isRunning) this.#free();
  }

  #free(): void {
    for (const program of this.#programs.values()) program[Symbol.dispose]();
    this.#programs.clear();
    for (const values of [...this.#constants.values(), ...this.#folded.values()]) {
      for (const value of values.values()) value.dispose();
    }
    for (const each of this.#kept.values()) (each as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
    this.#kept.clear();
    this.#folded.clear();
    this.#constants.clear();
  }

  #check(feeds: Feeds): void {
    const { inputs } = this.model.graph;
    const free = new Map<string, number>();
    if (typeof feeds !== 'object' || feeds === null) throw refuse('inputs are given by name, in one object');
    for (const name of Object.keys(feeds)) {
      if (!this.#names.has(name))
        throw refuse(`there is no input "${name}", there are ${inputs.map((each) => each.name).join(', ')}`);
    }
    for (const info of inputs) this.#checkInput(info, feeds[info.name], free);
  }

  #checkInput(info: ValueInfo, given: HostTensor | Tensor | undefined, free: Map<string, number>): void {
    const { name, dims } = info;
    if (typeof given !== 'object' || given === null) throw refuse(`input "${name}" is missing`);
    const { backend, float64 } = this.#settings;
    const shape = given instanceof Tensor ? given.shape : given.dims;
    if (given instanceof Tensor) {
      if (given.backend !== backend) throw refuse(`input "${name}" is on another backend`);
      if (given.dtype !== deviceType(info.type, float64))
        throw refuse(`input "${name}" is ${info.type}, got a tensor of ${given.dtype}`);
    } else if (!Array.isArray(given.dims)) {
      throw refuse(`input "${name}" must be a tensor, or { type, dims, data }`);
    } else if (given.type !== info.type) {
      throw refuse(`input "${name}" is ${info.type}, got ${given.type}`);
    } else if (tagOf(given.data) !== (given.type === 'string' ? 'Array' : arrayOf(given.type).name)) {
      throw refuse(`input "${name}" is ${info.type}, its data is of ${tagOf(given.data)}`);
    } else if (given.data.length !== lengthOf(given.type, given.dims)) {
      throw refuse(`input "${name}" has ${given.data.length} elements, its shape ${sizeOf(given.dims)}`);
    }
    if (dims === undefined) return;
    const fits =
      dims.length === shape.length &&
      dims.every((dim, axis) => {
        const size = shape[axis] as number;
        if (typeof dim === 'number') return dim === size;
        // Transformers.js gives a cache of nothing a batch of none.
        if (dim === null || dim === '' || shape.includes(0)) return true;
        if (!free.has(dim)) free.set(dim, size);
        return free.get(dim) === size;
      });
    if (!fits)
      throw refuse(`input "${name}" is [${dims.map((dim) => dim ?? '?').join(', ')}], got [${shape.join(', ')}]`);
  }

  /** Returns the key of shapes and of the numbers that the host needs; undefined if these are too many. */
  #keyOf(feeds: Feeds): string | undefined {
    const parts: string[] = [];
    for (const { name } of this.model.graph.inputs) {
      const given = feeds[name] as HostTensor | Tensor;
      if (given instanceof Tensor) parts.push(String(given.layout.id));
      else {
        const told = this.#needed.has(name) || !isOnDevice(given.type);
        const text = told ? textOf(given) : `[${given.dims.join()}]`;
        if (text === undefined) return undefined;
        parts.push(text);
      }
    }
    return parts.join(';');
  }

  #programOf(key: string): Program {
    const program = this.#programs.get(key) ?? new Program();
    this.#programs.delete(key);
    this.#programs.set(key, program);
    const [oldest] = this.#programs;
    if (this.#programs.size > this.#settings.maxPrograms && oldest !== undefined) {
      this.#programs.delete(oldest[0]);
      oldest[1][Symbol.dispose]();
    }
    return program;
  }

  async #compute(feeds: Feeds, program: Program | undefined): Promise<{ values: readonly Value[]; isOwn: boolean }> {
    const canRecord = 'record' in this.#settings.backend && this.trace === undefined;
    if (program?.state === 'ran' && canRecord) {
      this.#copyInputs(feeds, program.inputs);
      for (const { name } of this.model.graph.inputs) {
        const given = feeds[name];
        if (given instanceof Tensor && given.size > 0 && this.#reads.has(name)) program.slots[name] = given;
      }
      const inputs = this.#inputs(feeds, program.inputs);
      const start = (): Generator<Value, Value[]> => runGraph(this.model.graph, inputs, this.#context(program.uploads));
      const own = (values: readonly Value[]): Value[] => this.#own(values, inputs, program.uploads);
      const values = program.replay(this.#settings.backend, start, own);
      if (values !== undefined) return { values, isOwn: false };
    }
    return { values: await this.#runOnce(feeds, program, canRecord), isOwn: true };
  }

  /** The first run for a signature, and every one of a model that has to wait in between. */
  async #runOnce(feeds: Feeds, program: Program | undefined, canRecord: boolean): Promise<Value[]> {
    const tensors = new Map<string, Tensor>();
    this.#copyInputs(feeds, tensors);
    const inputs = this.#inputs(feeds, tensors);
    const isNew = canRecord && program?.state === 'new';
    const parted = isNew ? this.#parted : undefined;
    const signatures = isNew && parted === undefined ? new Map<Node, string>() : undefined;
    const isKept = program !== undefined && parted === undefined;
    const uploads = isKept ? program.uploads : [];
    const work = runGraph(parted ?? this.model.graph, inputs, this.#context(uploads, signatures));
    let waited = false;
    try {
      let step = work.next();
      for (; step.done !== true; step = work.next()) {
        waited = this.#waits = true;
        await step.value.read().catch((error: unknown) => {
          work.return([]);
          throw error;
        });
      }
      if (program !== undefined && program.state !== 'eager') program.state = parted ? 'parted' : 'ran';
      if (signatures !== undefined) this.#compare(signatures);
      return this.#own(step.value, inputs, uploads);
    } finally {
      for (const [name, value] of inputs) {
        if (value.tensor === feeds[name]) value.disposeDerived();
        else value.dispose();
      }
      if (!isKept || waited) for (const tensor of uploads.splice(0)) tensor.dispose();
    }
  }

  /** Looks for what a run has in common with the last one that was not of its shapes. */
  #compare(signatures: ReadonlyMap<Node, string>): void {
    const { graph } = this.model;
    const isFixed = (node: Node): boolean => {
      const own = signatures.get(node);
      return this.#folded.has(node) || (own?.includes('NaN') === false && own === this.#signatures.get(node));
    };
    if (2 * graph.nodes.filter(isFixed).length > graph.nodes.length) this.#parted = withParts(graph, isFixed);
    this.#signatures = this.#parted ? new Map() : signatures;
  }

  /** Results that share no memory with the inputs, nor with what is kept from run to run. */
  #own(values: readonly Value[], inputs: ReadonlyMap<string, Value>, uploads: readonly Tensor[]): Value[] {
    const held = [inputs, ...this.#constants.values(), ...this.#folded.values()].flatMap((each) => [...each.values()]);
    const parts = [...this.#kept.values()].flatMap((each) => (each instanceof Part ? each.program.held : []));
    return owned(values, [...held.map(({ tensor }) => tensor), ...parts, ...uploads]);
  }

  /** Copies what is given on the host and only the device needs to the tensors given, or to new ones among them. */
  #copyInputs(feeds: Feeds, tensors: Map<string, Tensor>): void {
    const { backend, float64 } = this.#settings;
    for (const { name, type } of this.model.graph.inputs) {
      const given = feeds[name] as HostTensor | Tensor;
      if (given instanceof Tensor || this.#needed.has(name) || !isOnDevice(type)) continue;
      tensors.set(
        name,
        this.#given(name, () => upload(backend, given, float64, tensors.get(name))),
      );
    }
  }

  /** The inputs as values: tensors of the caller, copies, and what is needed on the host. */
  #inputs(feeds: Feeds, copies: ReadonlyMap<string, Tensor>): ReadonlyMap<string, Value> {
    const valueOf = ({ name, type }: ValueInfo): Value => {
      const given = feeds[name] as HostTensor | Tensor;
      if (given instanceof Tensor) return Value.ofTensor(given, typeOf(given.dtype, type));
      const copied = copies.get(name);
      return copied ? Value.ofTensor(copied, type) : Value.ofHost(given);
    };
    return new Map(this.model.graph.inputs.map((info) => [info.name, valueOf(info)]));
  }

  /** Names the input, and the node that reads it, in an error such as that of a type that the device lacks. */
  #given<T>(name: string, make: () => T): T {
    try {
      return make();
    } catch (error) {
      const reader = this.model.graph.nodes.find((node) => readsOf(node).includes(name));
      throw errorOf(reader, error, `input "${name}"`);
    }
  }

  #context(uploads: Tensor[], signatures?: Map<Node, string>): Context {
    const { backend, float64 } = this.#settings;
    let next = 0;
    return {
      backend,
      float64,
      folded: this.#folded,
      kept: this.#kept,
      trace: this.trace,
      signatures,
      withUploads: (list) => this.#context(list, signatures),
      constantsOf: (graph) => {
        let values = this.#constants.get(graph.constants);
        if (values === undefined) {
          values = new Map([...graph.constants].map(([name, host]) => [name, Value.ofHost(detached(host), true)]));
          this.#constants.set(graph.constants, values);
          const uses = new Uses(graph, readsOf);
          const given = new Set(graph.outputs.map(({ name }) => name));
          for (const [name, value] of values)
            value.hasOneReader = uses.readersOf(name).length === 1 && !given.has(name);
          // From here on the values alone hold the bytes, and let go of them when they are on the device.
          const left = graph.constants as Map<string, HostTensor>;
          for (const [name, host] of left) left.set(name, { ...host, data: [] });
        }
        return values;
      },
      upload: (host) => {
        const kept = uploads[next++];
        if (kept !== undefined && !kept.isDisposed) return kept;
        return (uploads[next - 1] = upload(backend, host, float64));
      },
    };
  }
}

/** A tensor of few elements apart from the file's bytes, which it would keep. */
function detached(host: HostTensor): HostTensor {
  return sizeOf(host.dims) <= SMALL ? { ...host, data: host.data.slice() } : host;
}

/** The class of an array, of another page's too. */
function tagOf(data: unknown): string {
  return Object.prototype.toString.call(data).slice(8, -1);
}

function hasRandom({ nodes }: Graph): boolean {
  return nodes.some((node) => operatorOf(node)?.isRandom === true || graphsOf(node).some(hasRandom));
}
