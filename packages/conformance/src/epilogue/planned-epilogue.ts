import type { DType, Epilogue, EpilogueShape } from '@concord/backend-core';
import { type CheckedRun, checkedRun, type Kernel, type RunView, STORAGE_DTYPES } from '@concord/backend-core/kernel';
import {
  compareStored,
  type Interval,
  NOT_A_NUMBER,
  runReference,
  type StoredElements,
} from '@concord/backend-cpu/reference';
import { CaseFailure, type CaseContext } from '../harness/case.ts';
import { Random } from '../harness/random.ts';
import type { Slot, Slots } from '../harness/slot.ts';
import { note } from '../run/judge.ts';
import { bytesOf, encodeElement, storedElements, writeBits } from '../run/storage.ts';
import { drawStrides, eachElement, extentOf, type ViewKind } from '../run/view.ts';
import { epilogueKernel, epilogueParams } from './kernels.ts';

/** The output of an op that has an epilogue. */
export interface EpilogueDomain {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: 'f32' | 'f16';
}

/** The epilogue in the parameters of a case. */
export interface EpilogueParams {
  readonly epilogue: string;
  /** A kind of view, or `axis 1`: one value for each index of that axis. */
  readonly view: string;
  readonly stored: string;
  readonly seed: number;
}

interface Laid {
  readonly name: string;
  readonly type: 'f32' | 'i32' | 'u32';
  readonly view: Required<RunView>;
  readonly shape: readonly number[];
}

/** An epilogue whose inputs are laid out. */
export class PlannedEpilogue {
  readonly kernel: Kernel;
  readonly #domain: EpilogueDomain;
  readonly #inputs: readonly Laid[];
  readonly #seed: number;

  constructor(domain: EpilogueDomain, { epilogue, view, stored, seed }: EpilogueParams) {
    this.kernel = epilogueKernel(epilogue);
    this.#domain = domain;
    this.#seed = seed;
    const { shape } = domain;
    this.#inputs = this.kernel.inputs.flatMap(({ name, type }) => {
      if (name === 'acc') return [];
      const random = new Random(`epilogue ${seed} view ${name}`);
      const dtype = (STORAGE_DTYPES[type] as readonly string[]).includes(stored) ? (stored as DType) : type;
      return [{ name, type, shape, view: { strides: stridesOf(view, shape, random), dtype } }];
    });
  }

  /** As `supports` and `prepare` take it. */
  get shape(): EpilogueShape {
    return { kernel: this.kernel, inputs: Object.fromEntries(this.#inputs.map(({ name, view }) => [name, view])) };
  }

  /** With what `ptrOf` gives for each input. */
  call(ptrOf: (name: string) => Slot['ptr']): Epilogue {
    const inputs = this.#inputs.map(({ name, view }) => [name, { ...view, ptr: ptrOf(name) }] as const);
    const params = this.#params();
    return {
      kernel: this.kernel,
      ...(inputs.length === 0 ? {} : { inputs: Object.fromEntries(inputs) }),
      ...(Object.keys(params).length === 0 ? {} : { params }),
    };
  }

  /** Puts inputs into a workspace: small integers, or numbers in [-1, 1). */
  inputs(workspace: Slots, random: Random, isExact: boolean): Readonly<Record<string, Slot>> {
    return Object.fromEntries(
      this.#inputs.map(({ name, type, shape, view: { strides, dtype } }) => {
        const bytes = new Uint8Array(extentOf(shape, strides) * bytesOf(dtype));
        const data = new DataView(bytes.buffer);
        eachElement(shape, strides, (_, distance) => {
          const value = type === 'u32' ? random.integer(0, 9) : isExact ? random.integer(-8, 8) : 2 * random.unit() - 1;
          writeBits(data, dtype, distance * bytesOf(dtype), encodeElement(dtype, value));
        });
        return [name, workspace.stored(bytes, dtype)];
      }),
    );
  }

  /**
   * Compares an output with what the epilogue makes of the op's own result.
   *
   * @param value - what the op computes for each element, row-major
   * @param bound - how far off it may be; 0: it is a float32
   * @throws {CaseFailure} where an element leaves what it may hold
   */
  check(
    context: CaseContext,
    output: Slot,
    inputs: Readonly<Record<string, Slot>>,
    value: ArrayLike<number>,
    bound: (index: number) => number,
  ): void {
    const subnormals = context.backend.capabilities.numerics.f32Subnormals;
    const acc = Array.from(value, (x, index): Interval => around(x, bound(index)));
    const memory = Object.entries(inputs).map(([name, { before, dtype }]): [string, StoredElements] => [
      name,
      storedElements(dtype, before.slice()),
    ]);
    const data = { inputs: Object.fromEntries(memory), params: this.#params(), intervals: { acc } };
    const [expected] = runReference(this.#geometry(), data, { subnormals });
    if (expected === undefined) throw new Error('an epilogue has one output');
    note(context, [expected]);
    const mismatch = compareStored(expected, storedElements(this.#domain.dtype, output.after.slice()));
    if (mismatch === undefined) return;
    const { wrong, total, index, got, want } = mismatch;
    throw new CaseFailure(
      `epilogue ${this.kernel.name}: ${wrong} of ${total} wrong; first at [${index}]: got ${got}, want ${want}, ` +
        `made of ${value[index]}, bound ${bound(index)}`,
    );
  }

  #geometry(): CheckedRun {
    const { shape, strides, dtype } = this.#domain;
    const views = Object.fromEntries(this.#inputs.map(({ name, view }) => [name, view]));
    return checkedRun(this.kernel, {
      shape,
      inputs: { ...views, acc: { strides } },
      outputs: { y: { strides, dtype } },
    });
  }

  #params(): Readonly<Record<string, number>> {
    return epilogueParams(this.kernel, this.#seed);
  }
}

function around(value: number, bound: number): Interval {
  return Number.isNaN(value) ? NOT_A_NUMBER : { lo: value - bound, hi: value + bound, nan: false };
}

function stridesOf(view: string, shape: readonly number[], random: Random): readonly number[] {
  const [word, axis] = view.split(' ');
  if (word !== 'axis') return drawStrides(random, view as ViewKind, shape, false);
  return shape.map((_, index) => (index === Number(axis) ? 1 : 0));
}
