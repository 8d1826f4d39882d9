/// <reference lib="esnext.disposable" preserve="true" />
import { BackendError, BYTES_OF, type ComputeBackend, type DevicePtr, type MemorySlot } from '@concord/backend-core';
import { checkBackend, checkOptions, checkTensor, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { SharedLayout } from '../tensor/layout.ts';
import { keepAll } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Tensors by the names of slots. */
type Tensors = Readonly<Record<string, Tensor>>;

/** Options of {@link record}. */
export interface RecordOptions {
  /**
   * Tensors, by names, in whose place a replay may put others. The work uses the memory of each from its first element to its
   * last, or all of what lies between: that of two columns of a matrix is not apart. Where the result is such a tensor or a view
   * of it, it stays that of the recording.
   */
  readonly slots?: Tensors;
}

/** Recorded work, and its result. */
export interface Recorded<Result> extends Disposable {
  /** The result of the recorded function: each replay fills its tensors again, which are the recording's. */
  readonly result: Result;
  /**
   * Queues the work again: the same calls, on the same memory, with the same numbers.
   *
   * @param tensors - in the place of those of slots, for this replay; of the same shape, strides and element type
   * @throws {BackendError} INVALID_ARGUMENT after `dispose`, when a tensor that it uses was disposed, and while something is
   *   recorded; for a tensor that cannot take the place of a slot's: of another layout, or on another
   *   backend, or sharing memory with what is used besides, where either is written; DISPOSED, DEVICE_LOST
   */
  replay(tensors?: Tensors): void;
  /** Gives back the recording and every tensor that was made in it. Idempotent. */
  dispose(): void;
}

/**
 * Runs a function, and takes down what it queues: a replay queues it again for a small part of what the calls cost the host.
 * Worth it for steps of many small calls, such as a token of a transformer.
 *
 * Numbers and positions that change from step to step are tensors: a step counts in one (`add(n, 1, { out: n })`), writes at it
 * ({@link scatter}, {@link indexPut}, a kernel's output by `scatter`), and {@link attention} takes it as `lengths`. Tensors that are
 * made in the recording, and that no `tidy` in it disposes, live as long as it does.
 *
 * @param backend - whose calls are taken down; those of tensors on another one are only made
 * @param work - must not wait for anything
 * @throws {BackendError} INVALID_ARGUMENT when `work` waits, records, replays or returns a promise, and for a slot that is no tensor
 *   of the backend, or that the work does not use
 * @throws {BackendError} UNSUPPORTED by a backend without `record`
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2]);
 * const squares = record(backend, () => mul(x, x));
 * await squares.result.toArray(); // [1, 4]
 * add(x, 2, { out: x });
 * squares.replay();
 * await squares.result.toArray(); // [9, 16]
 * squares.dispose();
 * ```
 * @example
 * ```ts
 * const squares = record(backend, () => mul(x, x), { slots: { x } });
 * squares.replay({ x: y }); // the squares of y
 * ```
 */
export function record<Result>(
  backend: ComputeBackend,
  work: () => Result,
  options: RecordOptions = {},
): Recorded<Result> {
  if (typeof (backend as ComputeBackend | null | undefined)?.name !== 'string') checkBackend('record', backend);
  if (backend.record === undefined) {
    throw new BackendError('UNSUPPORTED', `${backend.name} cannot record`, { backend: backend.name, op: 'record' });
  }
  if (typeof work !== 'function') throw refuse('record', `takes a function, got ${shown(work)}`);
  checkOptions('record', options, { slots: 'any' });
  const slots = readTensors('record', backend, options.slots ?? {});
  if (slots.size > 0 && (backend.contractVersion as number) < 3) {
    throw new BackendError('UNSUPPORTED', `${backend.name} has no slots`, { backend: backend.name, op: 'record' });
  }
  const tensors: Tensor[] = [];
  const disposeTensors = (): void => {
    for (const tensor of tensors.splice(0)) tensor.dispose();
  };
  let result: Result | undefined;
  try {
    const recording = backend.record(
      () => {
        result = keepAll(tensors, work);
        return result;
      },
      { slots: Object.fromEntries([...slots].map(([name, tensor]) => [name, memoryOf(tensor)])) },
    );
    const layouts = new Map([...slots].map(([name, { layout }]) => [name, layout]));
    // One object for all replays: to make one of many names costs more than to read it.
    const pointers: Record<string, DevicePtr> = {};
    const replay = (given?: Tensors): void => {
      if (given === undefined) return recording.replay();
      const tensors = readTensors('replay', backend, given);
      for (const name in pointers) if (!tensors.has(name)) delete pointers[name];
      for (const [name, { ptr, layout }] of tensors) {
        checkLayout(name, layouts.get(name), layout);
        pointers[name] = ptr;
      }
      recording.replay(pointers);
    };
    const dispose = (): void => {
      recording.dispose();
      disposeTensors();
    };
    return { result: result as Result, replay, dispose, [Symbol.dispose]: dispose };
  } catch (error) {
    disposeTensors();
    throw error;
  }
}

/** @throws {BackendError} INVALID_ARGUMENT */
function readTensors(op: string, backend: ComputeBackend, given: Tensors): ReadonlyMap<string, Tensor> {
  const prototype: unknown = typeof given === 'object' && given !== null ? Object.getPrototypeOf(given) : undefined;
  if (prototype !== Object.prototype && prototype !== null) {
    throw refuse(op, `takes tensors by names of slots, such as { x }, got ${shown(given)}`);
  }
  const read = new Map<string, Tensor>();
  for (const name of Object.keys(given)) {
    const tensor = given[name];
    if (tensor === undefined) continue;
    checkTensor(op, name, tensor);
    if (tensor.backend !== backend) throw refuse(op, `${name} must be on the backend of the recording`);
    if (tensor.size === 0) throw refuse(op, `${name} is ${layoutText(tensor.layout)}, which has no elements`);
    read.set(name, tensor);
  }
  return read;
}

/** The memory of a tensor from its first element to its last. */
function memoryOf({ ptr, shape, strides, dtype }: Tensor): MemorySlot {
  const elements = shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] as number), 1);
  return { ptr, bytes: elements * BYTES_OF[dtype] };
}

/** @throws {BackendError} INVALID_ARGUMENT for a tensor of another layout */
function checkLayout(name: string, recorded: SharedLayout | undefined, layout: SharedLayout): void {
  // A name of no slot is left to the backend to refuse.
  if (recorded === undefined || recorded === layout) return;
  const [wanted, got] = [layoutText(recorded), layoutText(layout)];
  if (wanted !== got) throw refuse('replay', `${name} must be ${wanted} as recorded, got ${got}`);
}

/** The same text for layouts whose elements lie alike. */
function layoutText({ dtype, shape, strides, isDense }: SharedLayout): string {
  return `${dtype}${shapeText(shape)}${isDense ? '' : ` with strides ${shapeText(strides)}`}`;
}
