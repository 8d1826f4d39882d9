import type { ComputeBackend } from '@concord/backend-core';
import { slice, Tensor } from '@concord/ops';
import { refuse, unsupported } from '../errors.ts';
import type { Attribute, Graph, Node } from '../graph/graph.ts';
import { type ElementType, type HostTensor, isFloat, numbersOf } from '../graph/host-tensor.ts';
import { type Float64, HostNeeded, typeOf, upload, Value } from './value.ts';

/** The parts of a run that its operators use. */
export interface Context {
  readonly backend: ComputeBackend;
  readonly float64: Float64;
  /** The results of nodes whose inputs are all constant. */
  readonly folded: Map<Node, readonly Value[]>;
  /** Values that nodes keep from run to run, such as packed weights. */
  readonly kept: Map<Node, unknown>;
  /** The times of nodes, if they are wanted. */
  readonly trace: { name: string; ts: number; dur: number }[] | undefined;
  /** What nodes got, in a run that is compared with the next. */
  readonly signatures: Map<Node, string> | undefined;
  /** The values of a graph's constants. */
  constantsOf(graph: Graph): ReadonlyMap<string, Value>;
  /** Copies to the device what was computed on the host; the same tensor at each run of a program. */
  upload(host: HostTensor): Tensor;
  /** The same with other copies. */
  withUploads(uploads: Tensor[]): Context;
}

/** The result of an operator: tensors of ops, of the host, or values. */
export type Result = Tensor | HostTensor | Value;

/** One result, or one for each output; those beyond the node's outputs are left out, and what nothing reads may be undefined. */
export type Results = Result | readonly (Result | undefined)[];

/** Runs a graph in an attribute of the node, on values of its inputs. The caller disposes what it gives, and the copies that it names. */
export type Body = (graph: Graph, inputs: readonly Value[], uploads?: Tensor[]) => Generator<Value, Value[]>;

/** A node about to run: its attributes and inputs, as an operator of the table reads them. */
export class Call {
  readonly node: Node;
  readonly context: Context;
  readonly inputs: readonly (Value | undefined)[];
  /** Tensors that outlive the call: copies of what was on the host. */
  readonly uploaded: Tensor[] = [];
  readonly body: Body;

  constructor(node: Node, inputs: readonly (Value | undefined)[], context: Context, body: Body) {
    this.node = node;
    this.inputs = inputs;
    this.context = context;
    this.body = body;
  }

  get backend(): ComputeBackend {
    return this.context.backend;
  }

  /** The version of the operator set. */
  get version(): number {
    return this.node.version;
  }

  has(index: number): boolean {
    return this.inputs[index] !== undefined;
  }

  /** @throws {BackendError} INVALID_ARGUMENT for an input that is not there */
  value(index: number): Value {
    const value = this.inputs[index];
    if (value === undefined) throw refuse(`input ${index} is missing`);
    return value;
  }

  type(index: number): ElementType {
    return this.value(index).type;
  }

  dims(index: number): readonly number[] {
    return this.value(index).dims;
  }

  /** The input on the device. */
  x(index: number): Tensor {
    const value = this.value(index);
    // One that was copied by a call that is made again is disposed.
    if (value.tensor !== undefined && !value.tensor.isDisposed) return value.tensor;
    const { backend, float64 } = this.context;
    const host = value.host as HostTensor;
    if (value.isConstant) value.tensor = upload(backend, host, float64);
    else value.tensor = slice(this.toDevice(host), []);
    this.uploaded.push(value.tensor);
    return value.tensor;
  }

  /** Copies to the device what was computed on the host. */
  toDevice(host: HostTensor): Tensor {
    // What a node of constants copies, which runs once, is not among the copies that each run makes in one order.
    const isOnce = this.inputs.every((value) => value?.isConstant !== false);
    const { backend, context } = this;
    if (isOnce) return upload(backend, host, context.float64);
    const tensor = context.upload(host);
    this.uploaded.push(tensor);
    return tensor;
  }

  /** The input on the device, undefined where it is left out. */
  maybe(index: number): Tensor | undefined {
    return this.has(index) ? this.x(index) : undefined;
  }

  /** Returns what is computed from an input once, though several nodes need it. */
  derived(index: number, name: string, make: () => Tensor): Tensor {
    const tensor = this.value(index).derived(name, make);
    this.uploaded.push(tensor);
    return tensor;
  }

  /** The inputs on the device. */
  all(): Tensor[] {
    return this.inputs.map((_, index) => this.x(index));
  }

  /** The numbers of an input. The call is made again where they have to be read back first. */
  host(index: number): HostTensor {
    const value = this.value(index);
    if (value.host === undefined) throw new HostNeeded(value);
    return value.host;
  }

  numbers(index: number): number[] {
    return numbersOf(this.host(index));
  }

  /** The only number of an input, or the default where it is left out. */
  scalar(index: number, otherwise?: number): number {
    if (!this.has(index) && otherwise !== undefined) return otherwise;
    const numbers = this.numbers(index);
    if (numbers.length !== 1) throw refuse(`input ${index} must be one number, got ${numbers.length}`);
    return numbers[0] as number;
  }

  attribute(name: string): Attribute | undefined {
    return this.node.attributes.get(name);
  }

  int(name: string, otherwise?: number): number {
    return this.number(name, 'bigint', otherwise);
  }

  float(name: string, otherwise?: number): number {
    return this.number(name, 'number', otherwise);
  }

  private number(name: string, type: 'bigint' | 'number', otherwise: number | undefined): number {
    const value = this.attribute(name) ?? otherwise;
    if (typeof value !== type && value !== otherwise) throw refuse(`attribute ${name} is no number of its kind`);
    if (value === undefined) throw refuse(`attribute ${name} is missing`);
    return Number(value);
  }

  text(name: string, otherwise?: string): string {
    const value = this.attribute(name) ?? otherwise;
    if (typeof value !== 'string') throw refuse(`attribute ${name} is no text`);
    return value;
  }

  /** One of some texts, the first of them where it is left out. */
  choice<T extends string>(name: string, ...texts: readonly [T, ...T[]]): T {
    const value = this.text(name, texts[0]);
    return texts.find((each) => each === value) ?? this.refuse(`${name} ${value}`);
  }

  /** A list of integers or floats. */
  list(name: string): number[] | undefined {
    const value = this.attribute(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw refuse(`attribute ${name} is no list`);
    return (value as readonly (number | bigint)[]).map(Number);
  }

  graph(name: string): Graph {
    const value = this.attribute(name);
    if (typeof value !== 'object' || !('nodes' in value)) throw refuse(`attribute ${name} is no graph`);
    return value;
  }

  /** A list of integers that newer operator sets have as an input, older ones as an attribute. */
  ints(index: number, name: string): number[] | undefined {
    return this.has(index) ? this.numbers(index) : this.list(name);
  }

  /** An axis of input 0 from its front. */
  axis(value: number, rank: number = this.dims(0).length): number {
    if (!Number.isInteger(value) || value < -rank || value >= rank) throw refuse(`axis ${value} is none of ${rank}`);
    return value < 0 ? value + rank : value;
  }

  /** A tensor whose element type of ONNX is not that of input 0. */
  typed(tensor: Tensor, type: ElementType): Value {
    return Value.ofTensor(tensor, type);
  }

  /** Made once for the node from constant inputs, then kept. */
  keep<T>(make: () => T): T {
    const { kept } = this.context;
    if (!kept.has(this.node)) kept.set(this.node, make());
    return kept.get(this.node) as T;
  }

  /** Lets go of the elements of constants that nothing reads again after {@link keep}. */
  release(...indices: number[]): void {
    for (const index of indices) {
      const value = this.inputs[index];
      if (value?.hasOneReader === true) value.host = undefined;
    }
  }

  /** @throws {BackendError} UNSUPPORTED always */
  refuse(detail: string): never {
    throw unsupported(`${detail} is not supported`);
  }

  /** @throws {BackendError} UNSUPPORTED for an input of another type than a float */
  floats(...indices: number[]): void {
    for (const index of indices) {
      if (this.has(index) && !isFloat(this.type(index))) this.refuse(`input ${index} of ${this.type(index)}`);
    }
  }

  /** Results as values; what is a tensor has the element type of input 0 where it can. */
  results(given: Results, type: ElementType | undefined, isConstant: boolean): (Value | undefined)[] {
    const wanted = type ?? this.inputs[0]?.type;
    const list = Array.isArray(given) ? (given as readonly (Result | undefined)[]) : [given as Result];
    const borrowed = new Set(this.inputs.flatMap((value) => value?.tensor ?? []));
    return list.slice(0, this.node.outputs.length).map((each) => {
      if (each === undefined) return undefined;
      if (!(each instanceof Tensor || each instanceof Value)) return Value.ofHost(each, isConstant);
      const value = each instanceof Value ? each : Value.ofTensor(each, typeOf(each.dtype, wanted));
      // A tensor of its own, where it has one of an input.
      const own = value.tensor !== undefined && borrowed.has(value.tensor) ? value.share() : value;
      return own.isConstant === isConstant ? own : new Value(own, isConstant);
    });
  }
}
