import type { DType, Epilogue, EpilogueShape, StoredFloatDType } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import {
  checkedRun,
  type CheckedRun,
  type InputSpecs,
  type Kernel,
  type KernelBuilder,
  STORAGE_DTYPES,
  type Value,
} from '@concord/backend-core/kernel';
import {
  compareStored,
  type Interval,
  NOT_A_NUMBER,
  runReference,
  type StoredElements,
} from '@concord/backend-cpu/reference';
import { type CaseContext, CaseFailure, type Needs } from '../harness/case.ts';
import { callOp, SOME_POINTER } from '../harness/planned-call.ts';
import { Random } from '../harness/random.ts';
import { plainer } from '../harness/shrink.ts';
import type { Slot, Slots } from '../harness/workspace.ts';
import { note } from '../run/judge.ts';
import { define, kernelsOf, type KernelTable } from '../run/kernel-table.ts';
import {
  bytesOf,
  drawStrides,
  eachElement,
  encodeElement,
  extentOf,
  storedElements,
  type ViewKind,
  writeBits,
} from '../run/placement.ts';
import { type ProductParams, productShape } from './product-data.ts';
import { placeQuant } from './product-weights.ts';

type Float = Value<'f32'>;
type Floats = Readonly<Record<string, Float>>;

const ACC = { acc: 'f32' } as const;

const withFloats = (
  inputs: readonly string[],
  compute: (values: Floats & { readonly acc: Float }, k: KernelBuilder) => Float,
): KernelTable[string] => {
  const specs: InputSpecs = { ...ACC, ...Object.fromEntries(inputs.map((input) => [input, 'f32'] as const)) };
  return define({ inputs: specs }, (values, k) => ({
    y: compute(values as unknown as Floats & { readonly acc: Float }, k),
  }));
};

/** Kernels of epilogues by name: what layers of a network end with, and one for each rule of the contract. */
const EPILOGUE_KERNELS: KernelTable = {
  copy: withFloats([], ({ acc }) => acc),
  bias: withFloats(['bias'], ({ acc, bias }, k) => k.add(acc, bias as Float)),
  'bias gelu': withFloats(['bias'], ({ acc, bias }, k) => k.gelu(k.add(acc, bias as Float))),
  relu: withFloats([], ({ acc }, k) => k.max(acc, 0)),
  'low bits': withFloats([], ({ acc }, k) => k.sub(acc, k.mul(k.floor(k.mul(acc, 1 / 64)), 64))),
  'three inputs': withFloats(['scale', 'shift', 'residual'], ({ acc, scale, shift, residual }, k) =>
    k.add(k.add(k.mul(acc, scale as Float), shift as Float), residual as Float),
  ),
  parameters: define({ inputs: ACC, params: { factor: 'f32', least: 'i32' } }, ({ acc, factor, least }, k) => ({
    y: k.max(k.mul(acc, factor), k.toF32(least)),
  })),
  indices: define({ inputs: ACC }, ({ acc }, k) => {
    const place = k.add(k.mul(k.add(k.mul(k.index(0), 7), k.index(1)), 11), k.mul(k.index(-1), 3));
    return { y: k.add(acc, k.toF32(k.add(place, k.extent(-2)))) };
  }),
  mask: define({ inputs: { ...ACC, keep: 'u32' } }, ({ acc, keep }, k) => ({
    y: k.select(k.gt(keep, 4), acc, k.neg(acc)),
  })),
};

/** Values of the parameters of {@link EPILOGUE_KERNELS}; other ones for the next seed. */
function epilogueParams({ params }: Kernel, seed: number): Readonly<Record<string, number>> {
  const values: Readonly<Record<string, number>> = {
    factor: [-0.25, 2, 0.5][seed % 3] as number,
    least: (seed % 17) - 9,
  };
  return Object.fromEntries(params.map(({ name }) => [name, values[name] as number]));
}

/** The epilogue of that name, the same object each time. */
export const epilogueKernel: (name: string) => Kernel = kernelsOf(EPILOGUE_KERNELS, 'epilogue');

type Drawn = Omit<EpilogueParams, 'seed'>;

/** The epilogue of cases that have none. */
export const NO_EPILOGUE: Drawn = { epilogue: '', view: 'dense', stored: 'own' };

/** An epilogue for every third drawn case. */
export function drawEpilogue(random: Random, rank: number): Drawn {
  if (random.chance(2 / 3)) return NO_EPILOGUE;
  const axes = Array.from({ length: rank }, (_, axis) => `axis ${axis}`);
  return {
    epilogue: random.pick(Object.keys(EPILOGUE_KERNELS)),
    view: random.pick(['dense', 'padded', 'transposed', 'permuted', 'repeated', 'scalar', ...axes]),
    stored: random.pick(['own', 'own', 'f16', 'bf16', 'u8']),
  };
}

/** Plainer epilogues; never none, which would be another check. */
export function shrinkEpilogue({ epilogue, view, stored }: EpilogueParams): Partial<Drawn>[] {
  if (epilogue === '') return [];
  return [
    ...(epilogue === 'bias' || epilogue === 'copy' ? [] : [{ epilogue: 'copy' }, { epilogue: 'bias' }]),
    ...plainer({ epilogue, view, stored }, NO_EPILOGUE, ['view', 'stored']),
  ];
}

/** The output of an op that has an epilogue. */
interface EpilogueDomain {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: StoredFloatDType;
}

/** The epilogue in the parameters of a case. */
interface EpilogueParams {
  readonly epilogue: string;
  /** A kind of view, or `axis 1`: one value for each index of that axis. */
  readonly view: string;
  readonly stored: string;
  readonly seed: number;
}

interface Laid {
  readonly name: string;
  readonly type: 'f32' | 'i32' | 'u32';
  readonly view: { readonly strides: readonly number[]; readonly dtype: DType };
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

  /** The shape that `supports` and `prepare` take. */
  get shape(): EpilogueShape {
    return { kernel: this.kernel, inputs: Object.fromEntries(this.#inputs.map(({ name, view }) => [name, view])) };
  }

  /** Returns the epilogue with what `ptrOf` returns for each input. */
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

/** The epilogue of a product with these parameters. */
export function productEpilogue(params: ProductParams): PlannedEpilogue {
  const { m, n, ldc = n, strideC, batchCount } = productShape(params);
  const { dtype } = params;
  return new PlannedEpilogue({ shape: [batchCount, m, n], strides: [strideC, ldc, 1], dtype }, params);
}

/** The requirements of a case of a product on a backend: the call itself where it is one that some cannot do. */
export function productNeeds(op: DefinedOp): (params: ProductParams) => Omit<Needs, 'op'> {
  return (params) => {
    const { dtype, dtypeB, epilogue, interleaved } = params;
    if (epilogue === '' && !interleaved && dtypeB === 'same') return { dtype };
    const { strideA, strideB, strideC, batchCount, ...plain } = productShape(params);
    const shape = op === 'batchedGemm' ? { ...plain, strideA, strideB, strideC, batchCount } : plain;
    const planned = epilogue === '' ? undefined : productEpilogue(params);
    const pointers = { a: SOME_POINTER, b: SOME_POINTER, c: SOME_POINTER };
    return {
      dtype,
      shape: { ...shape, ...(planned === undefined ? {} : { epilogue: planned.shape }) },
      call: (backend) =>
        callOp(backend, op, {
          ...placeQuant(shape, () => SOME_POINTER),
          ...pointers,
          ...(planned === undefined ? {} : { epilogue: planned.call(() => SOME_POINTER) }),
        }),
    };
  };
}

type Entry = readonly [string, Partial<ProductParams>];

/** The listed cases of epilogues of one product, most of a shape that fits no tile. */
export function epilogueEntries(odd: Partial<ProductParams>): Entry[] {
  const wide: Partial<ProductParams> = { ...odd, m: 68, n: 132, k: 36 };
  return [
    ['epilogue', { ...odd, epilogue: 'copy' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 1' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2', stored: 'f16', padC: 3 }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'padded', stored: 'bf16' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'transposed' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'scalar', beta: 2, trans: 'TT' }],
    ['epilogue', { ...odd, epilogue: 'bias gelu', view: 'axis 2', padC: 1, offset: 4 }],
    ['epilogue', { ...odd, epilogue: 'low bits', beta: -1 }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2', offset: odd.dtype === 'f16' ? 2 : 12, together: true }],
    ['epilogue', { ...odd, epilogue: 'three inputs', view: 'permuted' }],
    ['epilogue', { ...odd, epilogue: 'three inputs', view: 'repeated', together: true, alpha: -0.5 }],
    ['epilogue', { ...odd, epilogue: 'parameters', trans: 'TN' }],
    ['epilogue', { ...odd, epilogue: 'parameters', trans: 'TN', seed: 1 }],
    ['epilogue', { ...odd, epilogue: 'indices', padC: 2 }],
    ['epilogue', { ...odd, epilogue: 'mask', stored: 'u8', view: 'padded' }],
    ['epilogue', { ...odd, epilogue: 'mask', view: 'axis 1' }],
    ['epilogue', { ...odd, k: 0, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...odd, k: 0, beta: 2, epilogue: 'three inputs', view: 'axis 1' }],
    ['epilogue', { ...odd, alpha: 0, epilogue: 'indices' }],
    ['epilogue', { ...odd, alpha: 0, beta: -1, epilogue: 'parameters', padC: 1 }],
    // No product at all: the epilogue has to be applied whatever C is scaled by.
    ...[{ k: 0 }, { alpha: 0 }].flatMap((none) =>
      [0, 1, -1, 2].map((beta): Entry => ['epilogue', { ...odd, ...none, beta, epilogue: 'bias', view: 'axis 1' }]),
    ),
    ['epilogue', { ...odd, m: 1, epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue', { ...odd, n: 1, epilogue: 'bias', view: 'axis 1' }],
    ['epilogue', { ...odd, m: 2, n: 3, k: 1500, epilogue: 'three inputs', view: 'axis 2' }],
    ['epilogue', { ...wide, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...wide, epilogue: 'bias', view: 'axis 1', stored: 'f16', trans: 'NT' }],
    ['epilogue', { ...wide, epilogue: 'three inputs', view: 'dense', beta: 1 }],
    ['epilogue', { ...wide, epilogue: 'indices' }],
    ['epilogue', { ...wide, m: 136, n: 72, k: 40, epilogue: 'low bits', trans: 'TN' }],
    ['epilogue-bounded', { ...wide, epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue-bounded', { ...wide, epilogue: 'three inputs', view: 'axis 2', alpha: 0.3, beta: -1.7 }],
    ['epilogue-bounded', { ...odd, epilogue: 'relu' }],
    ['epilogue-specials', { ...odd, k: 6, epilogue: 'relu' }],
    ['epilogue-specials', { ...odd, k: 6, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
    ['epilogue-specials', { ...wide, k: 8, epilogue: 'bias gelu', view: 'axis 2' }],
  ];
}
