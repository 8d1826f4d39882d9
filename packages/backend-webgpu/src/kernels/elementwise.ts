import {
  type ElementFunction,
  type ElementwiseVariant,
  type ElementwiseWay,
  vectorsPerGroup,
} from './elementwise.wgsl.ts';
import type { Kernel } from './kernel.ts';
import { apartFrom, bindable, slice } from './operands.ts';
import type { DeviceTraits, Recorder, Span } from './recorder.ts';
import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';

/** An element-wise op on float32: `output[i] = f(inputs[i] ...)` for i in 0..n-1. */
export interface Elementwise {
  /** Family and op, such as `unary/exp`. */
  readonly name: string;
  readonly element: ElementFunction;
  readonly kernel: (variant: ElementwiseVariant) => Kernel;
  /** By the names that the kernel knows them under; each is the output or disjoint from it. */
  readonly inputs: Readonly<Record<string, Span>>;
  readonly output: Span;
  readonly n: number;
}

type Way = NamedVariant & ElementwiseWay;

const SCALARS: Way = { id: 'elementwise/scalar', width: 1, unroll: 0 };
const LOOP: Way = { id: 'elementwise/vec4', width: 4, unroll: 0 };
const UNROLLED: Readonly<Record<1 | 2 | 4, Way>> = {
  1: { id: 'elementwise/vec4x1', width: 4, unroll: 1 },
  2: { id: 'elementwise/vec4x2', width: 4, unroll: 2 },
  4: { id: 'elementwise/vec4x4', width: 4, unroll: 4 },
};

const ANY_ALIGNMENT: readonly Way[] = [SCALARS];
const EVERY_WAY: readonly Way[] = [SCALARS, LOOP, UNROLLED[1], UNROLLED[2], UNROLLED[4]];

/** Every variant of `unary` and `binary`. */
export const VARIANT_IDS: readonly string[] = EVERY_WAY.map(({ id }) => id);

const ELEMENT_BYTES = 4;
const VECTOR_ELEMENTS = 4;
const VECTOR_BYTES = ELEMENT_BYTES * VECTOR_ELEMENTS;

/**
 * From this many elements on the last `n % 4` get a launch of their own, and the others go by vectors. Below, a second
 * launch costs more than vectors gain.
 */
const LEAST_SPLIT = 2 ** 20;

/**
 * Plans an element-wise op: by vectors of four where all operands begin at multiples of 16 bytes, else element by element,
 * in windows that fit a binding. An input that is the output shares its binding; one elsewhere in the output's buffer
 * is copied away first.
 */
export function planElementwise(call: Elementwise, recorder: Recorder): void {
  const { kernel, inputs, output, n } = call;
  const { traits } = recorder;
  const names = Object.keys(inputs);
  const inPlace = names.filter((name) => isSame(inputs[name] as Span, output));
  const operands: Record<string, Span> = { output };
  for (const name of names) {
    if (!inPlace.includes(name)) operands[name] = apartFrom(output, inputs[name] as Span, recorder);
  }

  const vectorsFit = vectorElements(Object.values(operands), n, traits);
  const chosen = chooseWay(call, vectorsFit > 0, recorder);
  const byVectors = chosen.width === 4 ? vectorsFit : 0;
  const launch = (way: Way, first: number, count: number): void => {
    const { id, width, unroll } = way;
    const storage: Record<string, Span> = {};
    const uniforms: Record<string, number> = { count: count / width };
    for (const [name, operand] of Object.entries(operands)) {
      const part = slice(operand, first * ELEMENT_BYTES, count * ELEMENT_BYTES);
      const { span, byteOffset } = bindable(part, traits.storageAlignment);
      storage[name] = span;
      uniforms[`${name}_first`] = byteOffset / (ELEMENT_BYTES * width);
    }
    const groups = Math.ceil(count / width / vectorsPerGroup(way));
    const variant = way === chosen ? { variant: id } : {};
    recorder.launch({ kernel: kernel({ width, unroll, inPlace }), storage, uniforms, groups, ...variant });
  };
  const most = windowElements(traits);
  for (let first = 0; first < byVectors; first += most) launch(chosen, first, Math.min(most, byVectors - first));
  for (let first = byVectors; first < n; first += most) launch(SCALARS, first, Math.min(most, n - first));
}

/** Every variant that {@link planElementwise} can ask for. */
export function allVariants(inputs: readonly string[]): readonly ElementwiseVariant[] {
  const subsets = inputs.reduce<string[][]>((all, input) => [...all, ...all.map((some) => [...some, input])], [[]]);
  return subsets.flatMap((inPlace) => EVERY_WAY.map(({ width, unroll }) => ({ width, unroll, inPlace })));
}

function chooseWay({ name, element, inputs, n }: Elementwise, vectorsFit: boolean, recorder: Recorder): Way {
  const shapeClass = (): string => `${name} ${sizeStep(n)}`;
  if (!vectorsFit) return pickVariant(recorder, { shapeClass, candidates: ANY_ALIGNMENT, preferred: SCALARS });
  const preferred = recorder.traits.isSoftware ? LOOP : UNROLLED[unrollOnGpu(element, Object.keys(inputs).length)];
  return pickVariant(recorder, { shapeClass, candidates: EVERY_WAY, preferred });
}

/** Two vectors on their way to each lane; four, where arithmetic takes longer than memory does and more of it overlaps. */
function unrollOnGpu({ isHeavy }: ElementFunction, inputs: number): 1 | 2 | 4 {
  if (isHeavy === true) return 4;
  return inputs === 1 ? 2 : 1;
}

function isSame(a: Span, b: Span): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

/** How many elements, from the first, go by vectors. */
function vectorElements(operands: readonly Span[], n: number, { storageAlignment }: DeviceTraits): number {
  const isAligned = operands.every((operand) => bindable(operand, storageAlignment).byteOffset % VECTOR_BYTES === 0);
  const rest = n % VECTOR_ELEMENTS;
  return isAligned && (rest === 0 || n >= LEAST_SPLIT) ? n - rest : 0;
}

/** Elements of a window, whole vectors, so that the next window is aligned as the first one is. */
function windowElements({ maxBindingBytes, storageAlignment }: DeviceTraits): number {
  return Math.floor((maxBindingBytes - storageAlignment) / VECTOR_BYTES) * VECTOR_ELEMENTS;
}
