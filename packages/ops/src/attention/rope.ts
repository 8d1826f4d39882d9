import { BYTES_OF } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type RunOperand,
  type Value,
} from '@concord/backend-core/kernel';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkOptions, checkTensor, type OptionKinds, OUT } from '../tensor/arguments.ts';
import { tensor } from '../tensor/create.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link rope}. */
export interface RopeOptions extends OutOption {
  /** Of each row, i32 or u32: `[seq]`, or what broadcasts to the shape without `dim`. Default: 0, 1, ... */
  readonly positions?: Tensor | undefined;
  /** Added to each position. Default 0. */
  readonly offset?: number;
  /** Default 10000. */
  readonly base?: number;
  /** Radians per position, f32 `[dim / 2]`, for models that scale them. Default: `base^(-2 i / dim)`, made in each call. */
  readonly frequencies?: Tensor | undefined;
  /** Which elements are a pair: 2 i and 2 i + 1 (as in the paper), or i and i + dim / 2 (as in GPT-NeoX, Llama). Default false. */
  readonly interleaved?: boolean;
}

const OPTIONS: OptionKinds = {
  ...OUT,
  ...{ positions: 'tensor', offset: 'number', base: 'number', frequencies: 'tensor', interleaved: 'boolean' },
};

/**
 * Rotary positions of `[..., seq, dim]`: pair i of the row at position p is turned by `p base^(-2 i / dim)` radians. One
 * launch; `out` may be `x`.
 *
 * Su et al., RoFormer: enhanced transformer with rotary position embedding, 2021.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an odd `dim`, and for positions and frequencies that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 0], [1, 0]]);
 * await rope(x).toArray(); // [1, 0, 0.5403, 0.8415]
 * await rope(x, { offset: 1 }).toArray(); // [0.5403, 0.8415, -0.4161, 0.9093]
 * ```
 */
export function rope(x: Tensor, options: RopeOptions = {}): Tensor {
  checkTensor('rope', 'x', x);
  checkOptions('rope', options, OPTIONS);
  const { positions, offset = 0, base = 10000, interleaved = false } = options;
  check(x, options);
  const rows = x.shape.slice(0, -1);
  const half = (x.shape.at(-1) as number) / 2;
  return produce('rope', x.backend, x.shape, x.dtype, options, (result) => {
    if (result.size === 0) return;
    tidy(() => {
      const frequencies = options.frequencies ?? frequenciesOf(x, half, base);
      const [a, b] = pairOf(x, interleaved);
      const [first, second] = pairOf(result, interleaved);
      const turns = { ptr: frequencies.ptr, strides: [...rows.map(() => 0), frequencies.strides[0] as number] };
      const inputs: Record<string, RunOperand> = { a, b, frequencies: { ...turns, dtype: frequencies.dtype } };
      if (positions !== undefined) {
        const strides = [...broadcastStrides(positions.shape, positions.strides, rows), 0];
        inputs['positions'] = { ptr: positions.ptr, dtype: positions.dtype, strides };
      }
      const kernel = kernelOf(positions === undefined ? 'none' : (ELEMENT_TYPES[positions.dtype].value as Positions));
      launch('rope', [x], () => {
        x.backend.run(kernel, { shape: [...rows, half], inputs, params: { offset }, outputs: { first, second } });
      });
    });
  });
}

function check(x: Tensor, { positions, offset = 0, base = 10000, frequencies }: RopeOptions): void {
  const dim = x.shape.at(-1) ?? 1;
  if (x.rank < 2 || dim % 2 !== 0 || ELEMENT_TYPES[x.dtype].value !== 'f32') {
    const form = 'f32, f16 or bf16 [..., seq, dim] with an even dim';
    throw refuse('rope', `takes ${form}, got ${x.dtype}${shapeText(x.shape)}`);
  }
  if (!Number.isSafeInteger(offset)) throw refuse('rope', `offset must be an integer, got ${offset}`);
  if (!(base > 0 && base < Infinity)) throw refuse('rope', `base must be a positive number, got ${base}`);
  checkSameBackend(
    'rope',
    x.backend,
    [positions, frequencies].filter((each) => each !== undefined),
  );
  if (
    frequencies !== undefined &&
    (!sameShape(frequencies.shape, [dim / 2]) || ELEMENT_TYPES[frequencies.dtype].value !== 'f32')
  ) {
    throw refuse(
      'rope',
      `frequencies must be f32[${dim / 2}], got ${frequencies.dtype}${shapeText(frequencies.shape)}`,
    );
  }
  if (positions === undefined) return;
  const rows = x.shape.slice(0, -1);
  const both = broadcastShapes(positions.shape, rows);
  if (ELEMENT_TYPES[positions.dtype].value === 'f32' || both === undefined || !sameShape(both, rows)) {
    const got = `${positions.dtype}${shapeText(positions.shape)}`;
    throw refuse('rope', `positions must be i32 or u32 and broadcast to ${shapeText(rows)}, got ${got}`);
  }
}

/** Worked out on the host: an error of theirs grows with the position. */
function frequenciesOf(x: Tensor, half: number, base: number): Tensor {
  return tensor(
    x.backend,
    Float32Array.from({ length: half }, (_, i) => base ** (-i / half)),
  );
}

/** The first and the second elements of all pairs. */
function pairOf({ ptr, dtype, shape, strides }: Tensor, interleaved: boolean): readonly [RunOperand, RunOperand] {
  const dense = strides.at(-1) as number;
  const own = { dtype, strides: [...strides.slice(0, -1), interleaved ? 2 * dense : dense] };
  const distance = interleaved ? dense : (dense * (shape.at(-1) as number)) / 2;
  return [
    { ...own, ptr },
    { ...own, ptr: (ptr + distance * BYTES_OF[dtype]) as typeof ptr },
  ];
}

const INPUTS = { a: 'f32', b: 'f32', frequencies: 'f32' } as const;
const PARAMS = { offset: 'f32' } as const;

type Positions = 'none' | 'i32' | 'u32';

/** By the type of the positions. */
const kernels = new Map<Positions, Kernel>();

function kernelOf(positions: Positions): Kernel {
  let kernel = kernels.get(positions);
  if (kernel === undefined) {
    kernel = positions === 'none' ? inOrder() : at(positions);
    kernels.set(positions, kernel);
  }
  return kernel;
}

function inOrder(): Kernel {
  return defineKernel('rope', { inputs: INPUTS, params: PARAMS }, ({ a, b, frequencies, offset }, k) => {
    return turned(k, a, b, k.mul(k.add(k.toF32(k.index(-2)), offset), frequencies));
  }) as Kernel;
}

function at(type: 'i32' | 'u32'): Kernel {
  const inputs = { ...INPUTS, positions: type };
  return defineKernel('rope', { inputs, params: PARAMS }, ({ a, b, frequencies, positions, offset }, k) => {
    return turned(k, a, b, k.mul(k.add(k.toF32(positions as Value<'i32'>), offset), frequencies));
  }) as Kernel;
}

function turned(k: KernelBuilder, a: Float, b: Float, angle: Float): Record<'first' | 'second', Float> {
  const [cos, sin] = [k.cos(angle), k.sin(angle)];
  return { first: k.sub(k.mul(a, cos), k.mul(b, sin)), second: k.add(k.mul(b, cos), k.mul(a, sin)) };
}

type Float = Value<'f32'>;
