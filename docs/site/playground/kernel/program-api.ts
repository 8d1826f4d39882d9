import type { DType } from '@concord/backend-core';
import { checkKernel, type Kernel } from '@concord/backend-core/kernel';
import { ProgramError } from './fault.ts';

/** Numbers of an input. */
export type Numbers =
  | readonly number[]
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int8Array
  | Uint8Array
  | Float64Array;

/** An input with an explicit layout; a gather input needs its `shape`. */
export interface GivenInput {
  readonly values: Numbers;
  readonly shape?: readonly number[];
  readonly strides?: readonly number[];
  readonly dtype?: DType;
}

/** The call of a program's kernel: as that of `backend.run`, with numbers instead of pointers. */
export interface PlaygroundCall {
  /** Sizes of the domain. */
  readonly shape: readonly number[];
  /** The number of last axes that make a row, for a kernel with folds. */
  readonly folded?: number;
  readonly inputs?: Readonly<Record<string, Numbers | GivenInput>>;
  readonly params?: Readonly<Record<string, number>>;
  readonly outputs?: Readonly<Record<string, { readonly dtype?: DType }>>;
}

/** A picture: for each row, for each pixel red, green, blue and alpha, from 0 to 1. */
export interface Picture {
  readonly values: Float32Array;
  /** `[height, width, 4]`. */
  readonly shape: readonly [number, number, 4];
}

/** The kernel of a program, and its call. */
export interface Planned {
  readonly kernel: Kernel;
  readonly call: PlaygroundCall;
}

/** The module `playground`, as a program imports it. */
export interface PlaygroundModule {
  /** Gives the kernel to run, and its call. Once in a program. */
  run(kernel: Kernel, call: PlaygroundCall): void;
  /** The picture that the page shows. */
  picture(): Picture;
  /** `length` numbers in [-1, 1) that look random, the same ones for the same seed. */
  noise(length: number, seed?: number): Float32Array;
}

/** The module, and the arguments of `run`. */
export function playgroundModule(shown: Picture): { readonly module: PlaygroundModule; planned(): Planned } {
  let planned: Planned | undefined;
  const module: PlaygroundModule = {
    run(kernel, call) {
      if (planned !== undefined) throw new Error('run was called twice: the playground shows one run');
      planned = { kernel: checkKernel(kernel), call };
    },
    picture: () => shown,
    noise,
  };
  return {
    module,
    planned() {
      if (planned !== undefined) return planned;
      throw new ProgramError({
        message: 'the program runs nothing',
        hint: "end it with run(kernel, { shape: [...], inputs: {...} }), which comes from 'playground'",
      });
    },
  };
}

/** A linear congruential generator. */
function noise(length: number, seed = 1): Float32Array {
  const numbers = new Float32Array(length);
  let state = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    numbers[i] = state / 2 ** 31;
  }
  return numbers;
}
