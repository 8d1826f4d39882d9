import type { DType } from '@concord/backend-core';
import { checkKernel, type Kernel } from '@concord/backend-core/kernel';
import type { Tensor } from '@concord/ops';

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
  /** Shows a tensor of height x width, x 3 or x 4 numbers from 0 to 1 as a picture; again with the same label: in its place. */
  show(picture: Tensor | Shown, label?: string): Promise<void>;
  /** Adds a slider to the page, and gives where it stands. Moved, it runs the program again. */
  slider(name: string, range: SliderRange): number;
}

/** Numbers that are shown as a picture. */
export interface Shown {
  readonly values: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** The ends of a slider, where it stands at first, and its step: by default a hundredth. */
export interface SliderRange {
  readonly min: number;
  readonly max: number;
  readonly value: number;
  readonly step?: number;
}

/** What a program puts onto the page while it runs. */
export type Output =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'picture';
      readonly label: string;
      readonly values: Float32Array;
      readonly shape: readonly number[];
    }
  | { readonly kind: 'slider'; readonly name: string; readonly range: SliderRange };

/** The page of a program: its picture, where its sliders stand, and its outputs. */
export interface ProgramPage {
  readonly picture: Picture;
  readonly sliders: Readonly<Record<string, number>>;
  put(output: Output): void;
}

/** The module, and the arguments of `run`. */
export function playgroundModule(page: ProgramPage): {
  readonly module: PlaygroundModule;
  planned(): Planned | undefined;
} {
  let planned: Planned | undefined;
  const module: PlaygroundModule = {
    run(kernel, call) {
      if (planned !== undefined) throw new Error('run was called twice: the playground shows one run');
      planned = { kernel: checkKernel(kernel), call };
    },
    picture: () => page.picture,
    noise,
    async show(picture, label = 'picture') {
      const values = 'toArray' in picture ? await picture.toArray() : picture.values;
      const shape = [...picture.shape];
      page.put({ kind: 'picture', label, values: Float32Array.from(values), shape });
      // The page draws no faster.
      await new Promise((resolve) => void setTimeout(resolve, 16));
    },
    slider(name, range) {
      page.put({ kind: 'slider', name, range });
      return page.sliders[name] ?? range.value;
    },
  };
  return { module, planned: () => planned };
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
