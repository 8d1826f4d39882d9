import type { OpenDevice } from '../../src/device/open-device.ts';
import { RESULTS, resultError } from '../../src/ffi/result.ts';

type Waiting = (error: Error | null, result: number) => void;

/**
 * A driver in this process that does nothing by itself: memory is host memory, and the work of a submit is done, in order,
 * when a test says so. What is staged for work in flight and then changed comes out changed.
 */
export class FakeDevice {
  /** The names of all calls so far. */
  readonly calls: string[] = [];
  /** Results that the next calls of a name give instead of success. */
  readonly refusals: Record<string, number[]> = {};
  /** Threads that wait at a fence, the oldest first. */
  readonly waits: { readonly fence: bigint; readonly back: Waiting }[] = [];
  /** Results that fences have instead of success or `NOT_READY`. */
  readonly broken = new Map<bigint, number>();
  readonly device: OpenDevice;
  readonly #memory = new Map<bigint, ArrayBuffer>();
  readonly #commands = new Map<bigint, (() => void)[]>();
  readonly #queue: { readonly commands: (() => void)[]; readonly fence: bigint }[] = [];
  readonly #signaled = new Set<bigint>();
  #lastHandle = 0n;

  constructor() {
    const functions = this.#functions();
    const api = Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, this.#counted(name, call)]));
    Object.assign(api['zeFenceHostSynchronize'] as object, {
      async: (fence: bigint, _: number, back: Waiting) => void this.waits.push({ fence, back }),
    });
    const error: OpenDevice['error'] = (result, call, fields) => resultError(result, call, fields ?? {});
    this.device = {
      ...{ api, error, context: 1n, device: 2n, queue: 3n, queueOrdinal: 0 },
      koffi: { view: (address: bigint) => this.#memory.get(address) },
      check: (result: number, call: string, fields: Parameters<typeof error>[2]) => {
        if (result !== RESULTS.SUCCESS) throw error(result, call, fields);
      },
      free: (address: bigint) => (api['zeMemFree'] as (...args: unknown[]) => number)(1n, address),
    } as unknown as OpenDevice;
  }

  /** The number of allocations. */
  get allocations(): number {
    return this.#memory.size;
  }

  /** The number of calls of a function. */
  count(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  /** The bytes at an address. */
  at(address: bigint, length: number): Uint8Array {
    for (const [start, memory] of this.#memory) {
      if (address >= start && address < start + BigInt(memory.byteLength)) {
        return new Uint8Array(memory, Number(address - start), length);
      }
    }
    throw new Error(`there is no memory at ${address}`);
  }

  /** Does the work of the oldest submits. */
  finish(count = Infinity): void {
    for (const { commands, fence } of this.#queue.splice(0, count)) {
      for (const command of commands) command();
      this.#signaled.add(fence);
    }
  }

  /** The thread that waits longest comes back, with what its fence is by now. */
  wake(): void {
    const wait = this.waits.shift();
    wait?.back(null, this.#status(wait.fence));
  }

  #status(fence: bigint): number {
    return this.broken.get(fence) ?? (this.#signaled.has(fence) ? RESULTS.SUCCESS : RESULTS.NOT_READY);
  }

  #counted(name: string, call: (...args: never[]) => number | void) {
    return (...args: unknown[]): number => {
      this.calls.push(name);
      return this.refusals[name]?.shift() ?? call(...(args as never[])) ?? RESULTS.SUCCESS;
    };
  }

  #functions(): Record<string, (...args: never[]) => number | void> {
    const create = (slot: BigUint64Array): bigint => (slot[0] = this.#lastHandle += 2n ** 32n);
    const allocate = (size: number, slot: BigUint64Array): void =>
      void this.#memory.set(create(slot), new ArrayBuffer(size));
    const append = (list: bigint, command: () => void): void => void this.#commands.get(list)?.push(command);
    return {
      zeMemAllocHost: (_c: bigint, _d: unknown, size: number, _a: number, slot: BigUint64Array) => allocate(size, slot),
      zeMemAllocDevice: (_c: bigint, _d: unknown, size: number, _a: number, _e: bigint, slot: BigUint64Array) =>
        allocate(size, slot),
      zeMemFree: (_: bigint, address: bigint) => void this.#memory.delete(address),
      zeCommandListCreate: (_c: bigint, _d: bigint, _: unknown, slot: BigUint64Array) =>
        void this.#commands.set(create(slot), []),
      zeCommandListClose: () => undefined,
      zeCommandListReset: (list: bigint) => void this.#commands.set(list, []),
      zeCommandListDestroy: () => undefined,
      zeCommandListAppendBarrier: () => undefined,
      zeCommandListAppendLaunchKernel: () => undefined,
      zeCommandListAppendMemoryCopy: (list: bigint, dst: bigint, src: bigint, bytes: number) =>
        append(list, () => this.at(dst, bytes).set(this.at(src, bytes))),
      zeCommandListAppendMemoryFill: (list: bigint, dst: bigint, pattern: bigint, _: number, bytes: number) =>
        append(list, () => this.at(dst, bytes).fill(this.at(pattern, 1)[0] as number)),
      zeFenceCreate: (_q: bigint, _d: unknown, slot: BigUint64Array) => void create(slot),
      zeFenceReset: (fence: bigint) => void this.#signaled.delete(fence),
      zeFenceDestroy: () => undefined,
      zeFenceQueryStatus: (fence: bigint) => this.#status(fence),
      zeFenceHostSynchronize: (fence: bigint) => this.#status(fence),
      zeCommandQueueExecuteCommandLists: (_q: bigint, _n: number, [list = 0n]: BigUint64Array, fence: bigint) =>
        void this.#queue.push({ commands: this.#commands.get(list) ?? [], fence }),
    };
  }
}
