import { type ComputeBackend, type DevicePtr, download, type OpName, toF16Array } from '@concord/backend-core';
import type { RunShape } from '@concord/backend-core/kernel';
import { noise } from '@concord/cli/bench';
import { random, randomOp, type SoakOp } from './random-op.ts';

/** Outputs that are kept a while, so that memory is not freed in the order it was allocated in. */
const KEPT = 32;
/** Ops between two reads, which are what a program waits for. */
const READ_EVERY = 50;

const VALUES = noise(100_000, 11);
const HALVES = toF16Array(VALUES);

/** Random ops on a backend, each with allocations of its own. */
export class Churn {
  readonly #backend: ComputeBackend;
  readonly #next: () => number;
  readonly #kept: DevicePtr[] = [];
  #done = 0;

  constructor(backend: ComputeBackend, seed: number) {
    this.#backend = backend;
    this.#next = random(seed);
  }

  /** Runs `count` ops, or fewer when `stop` says so, and waits for them. How many there were. */
  async run(count: number, stop: () => boolean): Promise<number> {
    for (let i = 0; i < count; i++) {
      const { output } = this.#start(this.#draw([this.#backend]));
      this.#keep(output);
      this.#done++;
      if (this.#done % READ_EVERY === 0) {
        await this.#backend.copyDtoh(new Uint8Array(1), output);
        // A signal is seen between tasks, and a read of a backend without a device ends within one.
        await new Promise((resolve) => setImmediate(resolve));
        if (stop()) return i + 1;
      }
    }
    await this.#backend.synchronize();
    return count;
  }

  /**
   * Runs an op here and on `oracle`, another backend, and compares the results.
   *
   * @throws {Error} when they differ
   */
  async check(oracle: ComputeBackend): Promise<void> {
    const op = this.#draw([this.#backend, oracle]);
    const at = this.#place();
    const { length } = op.output;
    const [got, want] = await Promise.all(
      [this.#backend, oracle].map(async (backend) => {
        const { output } = this.#start(op, backend, at);
        const result = await download(backend, output, length, { dtype: op.dtype });
        backend.free(output);
        return result;
      }),
    );
    const wrong = got?.findIndex((value, index) => !isNear(value, want?.[index] as number)) ?? 0;
    if (wrong < 0) return;
    const call = JSON.stringify(op.shape);
    throw new Error(`${op.op} ${call}: entry ${wrong} is ${got?.[wrong]} instead of ${want?.[wrong]}`);
  }

  /** Frees what is kept. */
  end(): void {
    for (const ptr of this.#kept.splice(0)) this.#backend.free(ptr);
  }

  /** Allocates, copies, queues the op and frees its inputs; the output is the caller's. */
  #start(
    { op, dtype, shape, inputs, output: { name, length } }: SoakOp,
    backend = this.#backend,
    at = this.#place(),
  ): { output: DevicePtr } {
    const data = dtype === 'f16' ? HALVES : VALUES;
    const pointers: Record<string, DevicePtr> = {};
    for (const [input, size] of Object.entries(inputs)) {
      pointers[input] = backend.alloc(size * data.BYTES_PER_ELEMENT);
      backend.copyHtod(pointers[input], data.subarray(at, at + size));
    }
    const output = backend.alloc(length * data.BYTES_PER_ELEMENT);
    callOp(backend, op, shape, pointers, { [name]: output });
    for (const ptr of Object.values(pointers)) backend.free(ptr);
    return { output };
  }

  /** A random op that all of some backends have. */
  #draw(backends: readonly ComputeBackend[]): SoakOp {
    for (;;) {
      const op = randomOp(this.#next);
      if (backends.every((backend) => backend.supports(op.op, op.shape).ok)) return op;
    }
  }

  #place(): number {
    return Math.floor(this.#next() * 1000);
  }

  #keep(output: DevicePtr): void {
    this.#kept.push(output);
    if (this.#kept.length <= KEPT) return;
    const [oldest] = this.#kept.splice(Math.floor(this.#next() * KEPT), 1) as [DevicePtr];
    this.#backend.free(oldest);
  }
}

type Pointers = Readonly<Record<string, DevicePtr>>;

function callOp(backend: ComputeBackend, op: OpName, shape: object, inputs: Pointers, outputs: Pointers): void {
  if (op === 'run') {
    const { kernel, ...domain } = shape as RunShape;
    backend.run(kernel, { ...domain, inputs, outputs });
  } else (backend[op] as (call: object) => void).call(backend, { ...shape, ...inputs, ...outputs });
}

/** The same but for the rounding of either side, half precision included. Conformance is what judges precision. */
function isNear(got: number, want: number): boolean {
  if (Number.isNaN(want)) return Number.isNaN(got);
  return Object.is(got, want) || Math.abs(got - want) <= 2e-3 * (1 + Math.abs(want));
}
