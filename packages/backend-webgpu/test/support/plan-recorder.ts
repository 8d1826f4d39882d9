import { MAX_UNIFORM_BYTES } from '../../src/client/batch.ts';
import { type Kernel, uniformBytes } from '../../src/kernels/kernel.ts';
import type { DeviceTraits, Launch, Recorder, Span, StorageBuffer } from '../../src/kernels/recorder.ts';

/** Storage bindings that every device has. */
const MAX_BINDINGS = 8;

let lastId = 0;

/** A buffer that plans can bind but nothing can run on. */
export function fakeBuffer(size: number): StorageBuffer {
  return { id: ++lastId, size: Math.ceil(size / 4) * 4, label: 'fake', backing: undefined };
}

/** A span of its own fake buffer, `byteOffset` bytes into it. */
export function fakeSpan(byteLength: number, byteOffset = 0): Span {
  return { buffer: fakeBuffer(byteOffset + byteLength), byteOffset, byteLength };
}

/** Notes what a plan asks for, and throws where a device would refuse it. */
export class PlanRecorder implements Recorder {
  readonly traits: DeviceTraits;
  readonly launches: Launch[] = [];
  readonly copies: { readonly dst: Span; readonly src: Span }[] = [];
  readonly scratches: Span[] = [];

  constructor(traits: DeviceTraits) {
    this.traits = traits;
  }

  /** Names of the kernels in order of their launches. */
  get kernelNames(): readonly string[] {
    return this.launches.map(({ kernel }) => kernel.name);
  }

  launch(launch: Launch): void {
    const { kernel, groups } = launch;
    const refuse = (why: string): never => {
      throw new Error(`${kernel.name}: ${why}`);
    };
    if (!Number.isInteger(groups) || groups < 0 || groups >= 2 ** 32) refuse(`${groups} groups`);
    checkBindings(launch, refuse);
    checkUniforms(launch, refuse);
    const bytes = workgroupBytes(kernel);
    if (bytes > this.traits.maxWorkgroupBytes) refuse(`${bytes} bytes of workgroup memory`);
    for (const { name } of kernel.storage) {
      const span = launch.storage[name] as Span;
      this.#checkSpan(name, span, refuse);
      if (span.byteLength < elementBytes(kernel, name)) refuse(`${name} binds less than one element`);
    }
    for (const { name, access } of kernel.storage) {
      if (access === 'read') continue;
      const others = kernel.storage.filter((other) => other.name !== name);
      const written = launch.storage[name] as Span;
      for (const other of others) {
        const span = launch.storage[other.name] as Span;
        if (span.buffer !== written.buffer) continue;
        // Two that are written may lie in one buffer, if apart.
        const isApart =
          span.byteOffset + span.byteLength <= written.byteOffset ||
          written.byteOffset + written.byteLength <= span.byteOffset;
        if (other.access === 'read' || !isApart) refuse(`${other.name} is in the buffer of ${name}`);
      }
    }
    this.launches.push(launch);
  }

  scratch(bytes: number): Span {
    if (!Number.isInteger(bytes) || bytes <= 0 || bytes > this.traits.maxBufferBytes) {
      throw new Error(`scratch of ${bytes} bytes`);
    }
    const span = fakeSpan(bytes);
    this.scratches.push(span);
    return span;
  }

  copy(dst: Span, src: Span): void {
    const byteLength = Math.min(dst.byteLength, src.byteLength);
    for (const span of [dst, src]) {
      if (span.byteOffset % 4 !== 0 || byteLength % 4 !== 0) throw new Error('a copy cuts a word');
      if (span.byteOffset + byteLength > span.buffer.size) throw new Error('a copy leaves its buffer');
    }
    if (dst.buffer === src.buffer) throw new Error('a copy inside one buffer');
    this.copies.push({ dst, src });
  }

  #checkSpan(name: string, { buffer, byteOffset, byteLength }: Span, refuse: (why: string) => never): void {
    const { storageAlignment, maxBindingBytes } = this.traits;
    if (byteOffset < 0 || byteOffset % storageAlignment !== 0) refuse(`${name} is bound at ${byteOffset}`);
    if (byteLength <= 0 || byteLength % 4 !== 0) refuse(`${name} is bound with ${byteLength} bytes`);
    if (byteLength > maxBindingBytes) refuse(`${name} binds ${byteLength} of ${maxBindingBytes} bytes`);
    if (byteOffset + byteLength > buffer.size) refuse(`${name} is bound beyond its buffer`);
  }
}

/** Bytes of one element of a binding: WebGPU wants at least that much bound. */
function elementBytes({ code }: Kernel, name: string): number {
  const type = new RegExp(`var<storage, \\w+> ${name}: array<(.+)>;`).exec(code)?.[1] ?? '';
  if (!type.startsWith('vec')) return 4;
  return Number(type[3]) * (/f16|h$|<h>/.test(type) ? 2 : 4);
}

/** Bytes of workgroup memory in arrays of numbers and vectors; those of arrays are not counted. */
function workgroupBytes({ code }: Kernel): number {
  let bytes = 0;
  for (const [, count = 1, length] of code.matchAll(/var<workgroup> \w+: array<(?:vec(\d)\w?)?<?\w*>?, (\d+)>;/g)) {
    bytes += 4 * Number(count) * Number(length);
  }
  return bytes;
}

function checkBindings({ kernel, storage }: Launch, refuse: (why: string) => never): void {
  const names = Object.keys(storage);
  const isDeclared = kernel.storage.every(({ name }) => name in storage);
  if (!isDeclared || names.length !== kernel.storage.length) refuse(`bindings ${names.join()}`);
  if (names.length > MAX_BINDINGS) refuse(`${names.length} storage bindings`);
}

function checkUniforms({ kernel, uniforms }: Launch, refuse: (why: string) => never): void {
  if (uniformBytes(kernel) > MAX_UNIFORM_BYTES) refuse('too many uniforms');
  for (const { name, type } of kernel.uniforms) {
    const value = uniforms[name];
    if (value === undefined) return refuse(`${name} is not given`);
    if (type === 'f32') continue;
    const [min, max] = type === 'u32' ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
    if (!Number.isInteger(value) || value < min || value > max) refuse(`${name} = ${value} is no ${type}`);
  }
}
