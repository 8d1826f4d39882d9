import { type ComputeBackend, type DevicePtr, type OpName } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';

const GUARD_BYTES = 64;
const POISON = 0xa5;

interface Room {
  readonly name: string;
  readonly ptr: DevicePtr;
  readonly bytes: number;
  readonly content: Uint8Array;
}

/** The effects of a call: its error, and the bytes of its outputs. */
export interface Outcome {
  readonly error: unknown;
  readonly outputs: string;
}

const sum = defineKernel(
  'sum',
  { inputs: { x: 'f32', table: { type: 'f32', access: 'gather', rank: 1 } }, params: { factor: 'f32' } },
  ({ x, table, factor }, k) => ({ y: k.add(k.mul(x, factor), k.gather(table, [k.u32(0)], k.f32(0))) }),
);
const biased = defineKernel('biased', { inputs: { acc: 'f32', bias: 'f32' } }, ({ acc, bias }, k) => ({
  y: k.add(acc, bias),
}));

/** Every op, with all of its fields. A pointer is asked for by name and elements; `out` for what is written. */
const CALLS: { readonly [Op in OpName]: (at: (name: string, elements: number) => DevicePtr) => object } = {
  gemm: (at) => gemmCall(at),
  batchedGemm: (at) => ({
    ...gemmCall(at, 2),
    batchCount: 2,
    strideA: 15,
    strideB: 20,
    strideC: 12,
  }),
  gemmF16: (at) => ({ m: 3, n: 4, k: 5, a: at('a', 15), b: at('b', 20), c: at('out c', 12), alpha: 2, dtype: 'f16' }),
  conv2dForward: (at) => ({
    ...{ inputShape: [1, 2, 4, 4], filterShape: [3, 2, 3, 3], outputShape: [1, 3, 4, 4] },
    ...{ stride: [1, 1], padding: [1, 1, 1, 1], dilation: [1, 1], groups: 1, dtype: 'f32' },
    ...{ input: at('input', 32), filter: at('filter', 54), output: at('out', 48) },
    epilogue: { kernel: biased, inputs: { bias: { ptr: at('bias', 3), strides: [0, 1, 0, 0], dtype: 'f32' } } },
  }),
  attention: (at) => ({
    ...{ batch: 1, heads: 2, kvHeads: 1, seqQ: 3, seqKv: 4, headDim: 5, scale: 0.5, softcap: 8, dtype: 'f32' },
    ...{ causal: true, causalOffset: 1, window: 3 },
    ...{ q: at('q', 30), k: at('k', 20), v: at('v', 20), o: at('out', 30) },
    mask: { ptr: at('mask', 12), strides: [0, 0, 4, 1] },
    strides: { q: [30, 15, 5], o: [30, 15, 5] },
  }),
  topK: (at) => ({
    ...{ rows: 3, columns: 7, k: 2, largest: true, dtype: 'f32' },
    ...{ input: at('input', 21), values: at('out values', 6), indices: at('out indices', 6) },
  }),
  reduce: (at) => ({ op: 'sum', shape: [3, 4], axis: 1, input: at('input', 12), output: at('out', 3), dtype: 'f32' }),
  unary: (at) => ({ op: 'neg', n: 7, input: at('input', 7), output: at('out', 7), dtype: 'f32' }),
  binary: (at) => ({ op: 'add', n: 7, a: at('a', 7), b: at('b', 7), output: at('out', 7), dtype: 'f32' }),
  run: (at) => ({
    ...{ shape: [2, 3], folded: 0, params: { factor: 2 } },
    inputs: {
      x: { ptr: at('x', 6), strides: [3, 1], dtype: 'f32' },
      table: { ptr: at('table', 4), shape: [2], strides: [2], dtype: 'f32' },
    },
    outputs: { y: { ptr: at('out', 6), strides: [3, 1], dtype: 'f32' } },
  }),
};

function gemmCall(at: (name: string, elements: number) => DevicePtr, batch = 1): object {
  return {
    ...{ m: 3, n: 4, k: 5, transA: 'T', transB: 'N', alpha: 2, beta: 1, lda: 3, ldb: 4, ldc: 4, dtype: 'f32' },
    ...{ a: at('a', batch * 15), b: at('b', batch * 20), c: at('out c', batch * 12) },
    epilogue: { kernel: biased, inputs: { bias: { ptr: at('bias', 4), strides: [0, 0, 1], dtype: 'f32' } } },
  };
}

/**
 * A call of an op on its own memory with guards around each operand, made as often as a test wants. What is no output
 * must never change.
 */
export class GuardedCall {
  readonly #backend: ComputeBackend;
  readonly #op: OpName;
  readonly #rooms: Room[] = [];
  readonly call: object;

  constructor(backend: ComputeBackend, op: OpName) {
    this.#backend = backend;
    this.#op = op;
    this.#add('guard', GUARD_BYTES);
    this.call = CALLS[op]((name, elements) => {
      const ptr = this.#add(name, op === 'gemmF16' ? 2 * elements : 4 * elements);
      this.#add('guard', GUARD_BYTES);
      return ptr;
    });
  }

  /** Ends with no memory left. */
  free(): void {
    for (const { ptr } of this.#rooms) this.#backend.free(ptr);
  }

  /**
   * Makes the call, as the test has changed it.
   *
   * @throws {Error} when anything but an output has changed
   */
  async make(call: unknown): Promise<Outcome> {
    for (const { ptr, content } of this.#rooms) this.#backend.copyHtod(ptr, content);
    let error: unknown;
    try {
      if (this.#op === 'run') this.#backend.run(sum, call as never);
      else (this.#backend[this.#op] as (call: unknown) => void)(call);
    } catch (thrown) {
      error = thrown;
    }
    const after = await Promise.all(
      this.#rooms.map(async ({ ptr, bytes }) => {
        const host = new Uint8Array(bytes);
        await this.#backend.copyDtoh(host, ptr);
        return Buffer.from(host).toString('hex');
      }),
    );
    const isOutput = ({ name }: Room): boolean => name.startsWith('out');
    for (const [index, room] of this.#rooms.entries()) {
      const before = Buffer.from(room.content).toString('hex');
      if (isOutput(room) && error === undefined) continue;
      if (after[index] !== before) throw new Error(`${room.name} has changed: ${before} is ${after[index]}`);
    }
    return { error, outputs: after.filter((_, index) => isOutput(this.#rooms[index] as Room)).join(' ') };
  }

  #add(name: string, bytes: number): DevicePtr {
    const content = new Uint8Array(bytes).fill(POISON);
    const view = new DataView(content.buffer);
    if (name !== 'guard') for (let at = 0; at + 4 <= bytes; at += 4) view.setFloat32(at, (at / 4) % 7, true);
    const ptr = this.#backend.alloc(bytes, { label: `${this.#op} ${name}` });
    this.#rooms.push({ name, ptr, bytes, content });
    return ptr;
  }
}
