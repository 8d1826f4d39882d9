import {
  BackendError,
  BYTES_OF,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  NULL_PTR,
} from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { add, copy, sum, Tensor, tidy } from '@concord/ops';
import {
  copyElements,
  denseLayout,
  fillWith,
  type Launched,
  listen,
  type Listener,
  sharedLayout,
  Storage,
} from '@concord/ops/listen';
import { invalidArgument, unsupported } from '../errors.ts';
import { addAtPlaces, fills, flat, isAlike, isNonOverlapping, rangeOf, type View, viewIn } from './places.ts';

/** The record of a launch: the memory that it wrote, and how its gradient is passed on. */
export interface Entry {
  readonly op: string;
  /** The written tensors; only their places are needed. */
  readonly outputs: readonly Tensor[];
  /**
   * True for each output that was written by index, so that the elements that no index named stay. Default: none was.
   */
  readonly isPartial?: readonly boolean[];
  /** Tensors that the gradient is computed with; they must be as they were then. */
  readonly kept?: readonly Tensor[];
  /** The results of the launch itself that the gradient is computed with: they must be as they were left. */
  readonly results?: readonly Tensor[];
  /** Passes the gradients of the outputs on; undefined: none depends on what is differentiated. */
  readonly backward?: ((gradients: (Tensor | undefined)[]) => void) | undefined;
}

/** What is copied before a launch, and the entry of it, which keeps or disposes that. */
export interface Rules {
  readonly before: (tape: Tape, launch: Launched) => readonly Tensor[];
  readonly entryOf: (tape: Tape, launch: Launched, before: readonly Tensor[]) => Entry;
}

interface Write {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The launches of a function, and gradients by memory: beside each allocation that depends on what is differentiated there is one of
 * float32 with a gradient for each of its elements, wherever views of it lie. A launch that writes takes the gradient of what it
 * wrote away, and adds to those of what it read. So views need no rules, and neither do functions of tensors: only launches do.
 */
export class Tape implements Listener {
  readonly #rules: Rules;
  readonly #parent: Tape | undefined;
  readonly #entries: (Entry & { readonly index: number })[] = [];
  readonly #leaves = new Set<Storage>();
  readonly #handles: Tensor[] = [];
  readonly #active = new Set<Storage>();
  readonly #asked = new Map<number, Storage>();
  readonly #ambiguous = new Set<number>();
  readonly #gradients = new Map<Storage, Tensor>();
  readonly #writes = new Map<Storage, Write[]>();
  readonly #dtypes = new Map<Storage, DType>();
  /** Operands of the launch that is being recorded. */
  readonly #operands: Tensor[] = [];
  readonly #before: Tensor[] = [];
  #count = 0;

  /** @param parent - whose differentiated memory is that of this tape too */
  constructor(rules: Rules, parent?: Tape) {
    this.#rules = rules;
    this.#parent = parent;
  }

  /** A tensor on the same memory, by which the tape knows that it is differentiated. */
  leaf(x: Tensor): Tensor {
    const { backend, ptr, bytes } = x.storage;
    const storage = new Storage(backend, ptr, bytes, false, x.storage);
    this.#leaves.add(storage);
    this.#active.add(storage);
    const leaf = new Tensor(storage, x.layout, x.offset);
    this.#handles.push(leaf);
    leaf.watch();
    return leaf;
  }

  asked(storage: Storage, ptr: DevicePtr): void {
    const own = this.#identityOf(storage);
    const before = this.#asked.get(ptr);
    if (before === own || ptr === NULL_PTR) return;
    const isOther = before !== undefined && before.users > 0;
    if (isOther && (this.#isActive(before) || this.#isActive(own))) this.#ambiguous.add(ptr);
    else this.#ambiguous.delete(ptr);
    this.#asked.set(ptr, own);
  }

  launching(launch: Launched): void {
    // Of a launch that failed.
    for (const each of this.#before.splice(0)) each.dispose();
    this.#before.push(...this.#rules.before(this, launch));
  }

  launched(launch: Launched): void {
    const before = this.#before.splice(0);
    this.#operands.splice(0, Infinity, ...before);
    try {
      this.record(this.#rules.entryOf(this, launch, before));
    } catch (error) {
      for (const each of this.#operands) each.dispose();
      throw error;
    }
  }

  /** Takes an entry down, if it has to do with what is differentiated. */
  record(entry: Entry): void {
    const index = this.#count++;
    for (const output of entry.outputs) {
      const [from, to] = rangeOf(output);
      const writes = this.#writes.get(output.storage);
      if (writes === undefined) this.#writes.set(output.storage, [{ index, from, to }]);
      else writes.push({ index, from, to });
    }
    if (entry.backward !== undefined)
      for (const each of entry.outputs) if (isFloat(each)) this.#active.add(each.storage);
    // From now on they are places, whose memory may go.
    for (const output of entry.outputs) output.dispose();
    if (!entry.outputs.some(({ storage }) => this.#isActive(storage))) return drop(entry);
    for (const tensor of [...(entry.kept ?? []), ...(entry.results ?? [])]) tensor.watch();
    this.#entries.push({ ...entry, index });
  }

  /** Returns whether gradients of a tensor are wanted. */
  wants(x: Tensor): boolean {
    return isFloat(x) && this.#isActive(x.storage);
  }

  /** The tensor at an address that functions of tensors were asked for. */
  at(
    backend: ComputeBackend,
    ptr: DevicePtr,
    shape: readonly number[],
    strides: readonly number[],
    dtype: DType,
  ): Tensor {
    const storage = ptr === NULL_PTR ? new Storage(backend, ptr, 0, false) : this.#storageAt(backend, ptr);
    const operand = new Tensor(storage, sharedLayout(shape, strides, dtype), (ptr - storage.ptr) / BYTES_OF[dtype]);
    this.#operands.push(operand);
    return operand;
  }

  /** Another handle of a tensor, which no `tidy` disposes. */
  hold(x: Tensor): Tensor {
    return new Tensor(this.#identityOf(x.storage), x.layout, x.offset);
  }

  /** Adds to the gradient of a tensor, whose elements may lie on each other. */
  give(to: View, gradient: Tensor): void {
    if (to.size === 0) return;
    tidy(() => {
      const axes = [...to.shape.keys()].filter((axis) => to.strides[axis] === 0 && (to.shape[axis] as number) > 1);
      if (axes.length === 0) return this.#add(to, gradient);
      const shape = to.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
      const once = { ...viewIn(to.storage, sharedLayout(shape, to.strides, to.dtype)), offset: to.offset };
      this.#add(once, sum(gradient, { axis: axes, keepDims: true }));
    });
  }

  /** Adds what a function gives to the gradient of a tensor, or lets it store it there. */
  fill(to: Tensor, work: (options: { readonly out?: Tensor }) => Tensor): void {
    if (this.wouldAdd(to)) return tidy(() => this.give(to, work({})));
    const { view } = this.target(to);
    tidy(() => work({ out: view }));
    view.dispose();
  }

  #add(to: View, value: Tensor): void {
    const { storage } = value;
    const isWhole = storage.isOwned && value.offset === 0 && storage.bytes === value.size * 4;
    if (!this.#gradients.has(to.storage) && fills(to) && isWhole && isAlike(to, value)) return this.#set(to, value);
    if (!isNonOverlapping(to.shape, to.strides)) return addAtPlaces(this.target(flat(to), true).view, to, value);
    const { view, adds } = this.target(to);
    if (adds) add(view, value, { out: view });
    else copyElements(view.backend, view.shape, value, view);
    view.dispose();
  }

  /** Returns whether {@link Tape.target} would say that it adds. */
  wouldAdd(to: View): boolean {
    return this.#gradients.has(to.storage) || !fills(to);
  }

  /**
   * Returns the memory of the gradient of a tensor whose elements do not overlap.
   *
   * @returns adds - false: the memory is new, and all of it is to be written
   */
  target(to: View, isZeroed = false): { readonly view: Tensor; readonly adds: boolean } {
    const own = this.#gradients.get(to.storage);
    const adds = own !== undefined || isZeroed || !fills(to);
    if (own === undefined) {
      const { backend, bytes } = to.storage;
      const made = fresh(backend, bytes / BYTES_OF[to.dtype]);
      if (adds) backend.fill(made.ptr, 0, made.storage.bytes);
      this.#set(to, made);
      made.dispose();
    } else if (own.storage.users > 1) {
      // Another gradient shares the memory: this one gets its own.
      const copied = copy(own);
      this.#set(to, copied);
      copied.dispose();
    }
    return { view: this.#view(to), adds };
  }

  /** The gradient that there is, as a tensor laid out as its own. */
  #view(of: View): Tensor {
    this.#checkType(of);
    const { storage } = this.#gradients.get(of.storage) as Tensor;
    return new Tensor(storage, sharedLayout(of.shape, of.strides, 'f32'), of.offset);
  }

  /** Makes memory the gradient of all that a tensor lies in. */
  #set(to: View, { storage }: Tensor): void {
    this.#checkType(to);
    const own = new Tensor(storage, denseLayout([storage.bytes / 4], 'f32'));
    this.#gradients.get(to.storage)?.dispose();
    this.#gradients.set(to.storage, own);
    own.watch();
  }

  #checkType({ storage, dtype }: View): void {
    const before = this.#dtypes.get(storage) ?? dtype;
    this.#dtypes.set(storage, before);
    if (before === dtype) return;
    throw unsupported('viewAs', `memory is used as ${before} and as ${dtype}`, 'cast(x, dtype) has a gradient');
  }

  /** Takes the gradient of what was written away from its memory; undefined: it is 0. */
  take(from: Tensor, isPartial = false): Tensor | undefined {
    const own = this.#gradients.get(from.storage);
    if (own === undefined || from.size === 0) return undefined;
    if (isPartial) return this.#view(from);
    if (fills(from)) {
      const view = this.#view(from);
      own.dispose();
      this.#gradients.delete(from.storage);
      return view;
    }
    const { view } = this.target(from);
    const copied = copy(view);
    fillWith('grad', view, 0);
    view.dispose();
    return copied;
  }

  /** Passes gradients on, from the last launch to the first. */
  backward(): void {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      const { outputs, kept = [], results = [], backward, op, index, isPartial = [] } = entry;
      const gradients: (Tensor | undefined)[] = [];
      try {
        tidy(() => {
          for (const [at, output] of outputs.entries()) gradients.push(this.take(output, isPartial[at]));
          if (backward === undefined || gradients.every((each) => each === undefined)) return;
          for (const each of kept) this.#checkUnchanged(op, each, index);
          for (const each of results) this.#checkUnchanged(op, each, index + 1);
          backward(gradients);
        });
      } finally {
        for (const each of gradients) each?.dispose();
        drop(entry);
      }
    }
  }

  /** Computes again what `work` computes, and passes the gradients of that on to what it was computed from. */
  again(
    work: () => readonly Tensor[],
    gradientsOf: (results: readonly Tensor[]) => readonly (Tensor | undefined)[],
  ): void {
    const inner = new Tape(this.#rules, this);
    tidy(() => {
      const results = listen(inner, work);
      const gradients = gradientsOf(results);
      for (const [index, result] of results.entries()) {
        const gradient = gradients[index];
        if (gradient === undefined) continue;
        const held = inner.hold(result);
        inner.give(held, gradient);
        held.dispose();
      }
      inner.backward();
      for (const [storage, gradient] of inner.#gradients) {
        if (!this.#isActive(storage)) continue;
        const dtype = inner.#dtypes.get(storage) as DType;
        this.give(viewIn(storage, denseLayout(gradient.shape, dtype)), gradient);
      }
      inner.dispose();
    });
  }

  /** The gradient of a leaf, to be disposed; undefined: it is 0. */
  gradientOf(leaf: Tensor): Tensor | undefined {
    return this.#gradients.has(leaf.storage) ? this.#view(leaf) : undefined;
  }

  /** Frees what the tape holds. */
  dispose(): void {
    for (const each of [...this.#handles.splice(0), ...this.#before.splice(0)]) each.dispose();
    for (const entry of this.#entries.splice(0)) drop(entry);
    for (const gradient of this.#gradients.values()) gradient.dispose();
    this.#gradients.clear();
  }

  #isActive(storage: Storage): boolean {
    const own = this.#identityOf(storage);
    return this.#active.has(own) || (this.#parent !== undefined && this.#parent.#isActive(own));
  }

  /** The storage itself, or the one whose memory it is, where it is no leaf. */
  #identityOf(storage: Storage): Storage {
    let own = storage;
    while (!this.#isLeaf(own) && own.origin !== undefined) own = own.origin;
    return own;
  }

  #isLeaf(storage: Storage): boolean {
    return this.#leaves.has(storage) || (this.#parent !== undefined && this.#parent.#isLeaf(storage));
  }

  #storageAt(backend: ComputeBackend, ptr: DevicePtr): Storage {
    if (this.#ambiguous.has(ptr)) {
      throw unsupported('a function', 'it reads memory both as its argument and as another tensor', 'give it copy(x)');
    }
    const exact = this.#asked.get(ptr);
    if (exact !== undefined && exact.users > 0 && exact.backend === backend) return exact;
    // One of several matrices of a tensor.
    const around = [...new Set(this.#asked.values())].filter(
      (each) => each.users > 0 && each.backend === backend && each.ptr <= ptr && ptr < each.ptr + each.bytes,
    );
    const [first] = around;
    if (first !== undefined && around.length === 1) return first;
    throw new BackendError('UNSUPPORTED', `gradient: the tensor at ${ptr} is not known`, { op: 'grad' });
  }

  #checkUnchanged(op: string, kept: Tensor, index: number): void {
    const [from, to] = rangeOf(kept);
    const writes = this.#writes.get(kept.storage) ?? [];
    if (!writes.some((write) => write.index >= index && write.from < to && from < write.to)) return;
    const what = `the gradient of ${op} needs ${kept.toString()}, which was overwritten since`;
    throw invalidArgument('grad', what, 'leave out `out` there, or copy(x) first');
  }
}

function drop({ kept = [], results = [] }: Entry): void {
  for (const tensor of [...kept, ...results]) tensor.dispose();
}

function isFloat({ dtype }: Tensor): boolean {
  return ELEMENT_TYPES[dtype].value === 'f32';
}

/** New memory of as many float32, which no `tidy` disposes. */
export function fresh(backend: ComputeBackend, count: number): Tensor {
  const ptr = count === 0 ? NULL_PTR : backend.alloc(count * 4);
  return new Tensor(new Storage(backend, ptr, count * 4, true), denseLayout([count], 'f32'));
}

/** A place of dense float32 where nothing is stored. */
export function place(backend: ComputeBackend, shape: readonly number[]): Tensor {
  const layout = denseLayout(shape, 'f32');
  return new Tensor(new Storage(backend, NULL_PTR, layout.size * 4, false), layout);
}
