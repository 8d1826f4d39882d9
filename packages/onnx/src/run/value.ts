import type { ComputeBackend, DType } from '@concord/backend-core';
import { empty, slice, type Tensor } from '@concord/ops';
import { refuse, unsupported } from '../errors.ts';
import { type ElementType, type HostTensor, hostTensor, isWide } from '../graph/host-tensor.ts';

/** The device's dtype for element types. Those that are absent stay on the host. */
const ON_DEVICE: Readonly<Partial<Record<ElementType, DType>>> = {
  float32: 'f32',
  float16: 'f16',
  bfloat16: 'bf16',
  float64: 'f32',
  int8: 'i8',
  uint8: 'u8',
  bool: 'u8',
  int32: 'i32',
  int64: 'i32',
  uint32: 'u32',
  uint64: 'u32',
};

/** The first type that lies so on a device. */
const NATURAL = new Map(
  Object.entries(ON_DEVICE)
    .reverse()
    .map(([type, dtype]) => [dtype, type as ElementType]),
);

/** Returns whether there is a type for such elements on a device. */
export function isOnDevice(type: ElementType): boolean {
  return ON_DEVICE[type] !== undefined;
}

/** The treatment of float64: refused, or computed in float32. */
export type Float64 = 'refuse' | 'float32';

/**
 * The element type on a device.
 *
 * @throws {BackendError} UNSUPPORTED for one that no device computes with
 */
export function deviceType(type: ElementType, float64: Float64): DType {
  const dtype = ON_DEVICE[type];
  if (dtype === undefined) throw unsupported(`${type} is not supported on the device`);
  if (type === 'float64' && float64 === 'refuse') {
    throw unsupported('float64 is not supported', {
      hint: "load the model with float64: 'float32' to compute in float32",
    });
  }
  return dtype;
}

/** The element type of ONNX of a result: the one that is wanted where it lies so on a device. */
export function typeOf(dtype: DType, wanted: ElementType | undefined): ElementType {
  return wanted !== undefined && ON_DEVICE[wanted] === dtype ? wanted : (NATURAL.get(dtype) as ElementType);
}

/**
 * Copies a tensor to the device, to a new tensor or the one given; 64-bit integers become i32 and u32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an integer that does not fit
 */
export function upload(backend: ComputeBackend, host: HostTensor, float64: Float64, to?: Tensor): Tensor {
  const dtype = deviceType(host.type, float64);
  const data = narrow(host);
  const result = to ?? empty(backend, host.dims, { dtype });
  if (result.size > 0) backend.copyHtod(result.ptr, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return result;
}

function narrow({ type, data }: HostTensor): Exclude<HostTensor['data'], readonly string[]> {
  if (type === 'float64') return Float32Array.from(data as Float64Array);
  if (!isWide(type)) return data as Exclude<HostTensor['data'], readonly string[]>;
  const wide = data as BigInt64Array | BigUint64Array;
  const narrowed = type === 'int64' ? new Int32Array(wide.length) : new Uint32Array(wide.length);
  for (let i = 0; i < wide.length; i++) {
    narrowed[i] = Number(wide[i]);
    if (BigInt(narrowed[i] as number) !== wide[i]) {
      throw refuse(`the ${type} ${wide[i]} does not fit into 32 bits`, {
        hint: 'integers are 32-bit numbers on the device',
      });
    }
  }
  return narrowed;
}

/** Tensors with more elements are not told apart by their numbers. */
const MAX_TOLD = 1024;

/** A tensor's sizes and numbers; undefined if these are too many. */
export function textOf({ type, dims, data }: HostTensor): string | undefined {
  if (data.length > MAX_TOLD) return undefined;
  return `[${dims.join()}]=${type === 'string' ? JSON.stringify(data) : data.join()}`;
}

/** A value of a graph: on the host, on the device, or both. */
export class Value {
  readonly type: ElementType;
  readonly dims: readonly number[];
  /** The same at every run. */
  readonly isConstant: boolean;
  /** The host's copy; undefined if the value is only on the device. */
  host: HostTensor | undefined;
  tensor: Tensor | undefined;
  /** True of a constant that one node reads, which may let go of its elements. */
  hasOneReader = false;
  /** What nodes computed from it that others need too, by name. */
  #derived: Map<string, Tensor> | undefined;

  constructor(value: Pick<Value, 'type' | 'dims'> & Partial<Pick<Value, 'host' | 'tensor'>>, isConstant = false) {
    this.type = value.type;
    this.dims = value.dims;
    this.host = value.host;
    this.tensor = value.tensor;
    this.isConstant = isConstant;
  }

  /** Equal for values that recorded work can take for each other; undefined if there are too many numbers to tell. */
  get signature(): string | undefined {
    if (this.isConstant) return '';
    return this.host ? textOf(this.host) : `${this.type} ${this.tensor?.layout.id}`;
  }

  static ofHost(host: HostTensor, isConstant = false): Value {
    return new Value({ type: host.type, dims: host.dims, host }, isConstant);
  }

  static ofTensor(tensor: Tensor, type: ElementType, isConstant = false): Value {
    return new Value({ type, dims: tensor.shape, tensor }, isConstant);
  }

  /** The same value, to be disposed by itself. */
  share(): Value {
    const { type, dims, host, tensor } = this;
    return new Value({ type, dims, host, tensor: tensor && slice(tensor, []) });
  }

  /** Reads the elements back where they are only on the device. */
  async read(): Promise<HostTensor> {
    if (this.host !== undefined) return this.host;
    const elements = await (this.tensor as Tensor).toArray();
    return (this.host = hostTensor(this.type, this.dims, elements));
  }

  /** Returns what is computed from the value once, though several nodes need it. It is disposed with the value. */
  derived(name: string, make: () => Tensor): Tensor {
    this.#derived ??= new Map();
    const known = this.#derived.get(name) ?? make();
    this.#derived.set(name, known);
    return known;
  }

  dispose(): void {
    this.tensor?.dispose();
    this.tensor = undefined;
    this.disposeDerived();
  }

  disposeDerived(): void {
    for (const each of this.#derived?.values() ?? []) each.dispose();
    this.#derived = undefined;
  }
}

/** Thrown where an operator needs numbers on the host that are on the device; it runs again when they are there. */
export class HostNeeded extends Error {
  readonly value: Value;

  constructor(value: Value) {
    super('numbers are needed on the host');
    this.value = value;
  }
}
