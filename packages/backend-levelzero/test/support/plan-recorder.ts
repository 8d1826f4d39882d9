import { checkGroups } from '../../src/kernels/work.ts';
import type { DeviceMemory, DeviceTraits, Launch, Recorder, Span } from '../../src/kernels/recorder.ts';

let lastId = 0;

/** Memory that plans can name but nothing can run on. */
export function fakeMemory(size: number): DeviceMemory {
  const id = ++lastId;
  return { id, address: BigInt(id) << 40n, size };
}

/** A span of its own fake memory, `byteOffset` bytes into it. */
export function fakeSpan(byteLength: number, byteOffset = 0): Span {
  return { buffer: fakeMemory(byteOffset + byteLength), byteOffset, byteLength };
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
    const { kernel, args, groups } = launch;
    const refuse = (why: string): never => {
      throw new Error(`${kernel.name}: ${why}`);
    };
    if (!groups.every((count) => Number.isSafeInteger(count) && count > 0)) refuse(`groups ${groups.join()}`);
    checkGroups(kernel, groups, this.traits);
    const names = kernel.parameters.map(({ name }) => name);
    if (Object.keys(args).sort().join() !== [...names].sort().join()) refuse(`arguments ${Object.keys(args).join()}`);
    for (const { name, type } of kernel.parameters) {
      const value = args[name];
      if (type === 'pointer') checkSpan(value, (why) => refuse(`${name} ${why}`));
      else if (!isNumber(value, type)) refuse(`${name} is no ${type}`);
    }
    this.launches.push(launch);
  }

  scratch(bytes: number): Span {
    if (!Number.isSafeInteger(bytes) || bytes <= 0 || bytes > this.traits.maxAllocationBytes) {
      throw new Error(`scratch of ${bytes} bytes`);
    }
    const span = fakeSpan(bytes);
    this.scratches.push(span);
    return span;
  }

  copy(dst: Span, src: Span): void {
    for (const span of [dst, src]) checkSpan(span, (why) => failCopy(why));
    this.copies.push({ dst, src });
  }
}

function fits(value: number, type: 'u32' | 'u64' | 'f32'): boolean {
  if (type === 'f32') return true;
  return Number.isSafeInteger(value) && value >= 0 && (type === 'u64' || value < 2 ** 32);
}

/** A number that fits, or one that calls bring along. */
function isNumber(value: Launch['args'][string] | undefined, type: 'u32' | 'u64' | 'f32'): boolean {
  if (typeof value === 'object') return 'parameter' in value;
  return typeof value === 'number' && fits(value, type);
}

function checkSpan(span: Launch['args'][string] | undefined, refuse: (why: string) => never): void {
  if (typeof span !== 'object' || !('buffer' in span)) return refuse('is no memory');
  const { buffer, byteOffset, byteLength } = span;
  if (byteOffset < 0 || byteOffset % 2 !== 0 || byteLength <= 0) refuse(`starts at ${byteOffset}, ${byteLength} bytes`);
  if (byteOffset + byteLength > buffer.size) refuse('is beyond its memory');
}

function failCopy(why: string): never {
  throw new Error(`a copy ${why}`);
}
