import {
  type BatchedGemmCall,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  type GemmCall,
} from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type GatherInput,
  type Kernel,
  type KernelBuilder,
  type Value,
} from '@concord/backend-core/kernel';
import { run, type Tensor } from '@concord/ops';
import { unsupported } from '../errors.ts';
import type { Tape } from './tape.ts';

/** A weight of integers beside a product. */
interface Decoded {
  readonly data: Tensor;
  /** Scales, zeros and offsets. */
  readonly kept: readonly Tensor[];
  /** `[n, k]`, in float32. */
  readonly decode: () => Tensor;
}

type Blocks = { readonly ptr: DevicePtr; readonly dtype?: DType | 'i4' | 'u4'; readonly strides?: readonly number[] };

const isNibbles = (dtype: unknown): boolean => dtype === 'i4' || dtype === 'u4';

/** The integers of a product's B, `(q - zero) scale` or `q scale + offset`. */
export function decoded(tape: Tape, backend: ComputeBackend, call: GemmCall & Partial<BatchedGemmCall>): Decoded {
  const { n, k, quantB, dtypeB = 'f32', batchCount = 1 } = call;
  if (quantB === undefined || batchCount !== 1)
    throw unsupported('linear', 'quantized weights in batches', 'dequantize');
  const blocks = Math.ceil(k / quantB.block);
  const kept: Tensor[] = [];
  const inputs: Record<string, Tensor> = {};
  const kinds: Record<string, string> = {};
  const params: Record<string, number> = { block: quantB.block };
  const read = (name: string, { ptr, dtype, strides }: Blocks, columns: number, ld?: number): Tensor => {
    const kind = dtype ?? 'f32';
    const row = ld ?? strides?.[1] ?? (isNibbles(kind) ? columns + (columns % 2) : columns);
    const own = isNibbles(kind) ? 'u8' : (kind as DType);
    const count = (n - 1) * row + columns;
    const x = tape.at(backend, ptr, [isNibbles(kind) ? Math.ceil(count / 2) : count], [1], own);
    inputs[name] = x;
    kinds[name] = kind;
    params[`${name} row`] = row;
    return x;
  };
  const { ldb = k + (isNibbles(dtypeB) ? k % 2 : 0) } = call;
  const data = read('data', { ptr: call.b, dtype: dtypeB }, k, ldb);
  kept.push(read('scales', quantB.scales, blocks));
  if (quantB.zeros !== undefined) kept.push(read('zeros', { dtype: dtypeB, ...quantB.zeros }, blocks));
  if (quantB.offsets !== undefined)
    kept.push(read('offsets', { dtype: quantB.scales.dtype, ...quantB.offsets } as Blocks, blocks));
  const zero = dtypeB === 'u8' ? 128 : dtypeB === 'u4' ? 8 : 0;
  const decode = (): Tensor => run(kernelOf(kinds, zero), inputs, { shape: [n, k], params })['w'] as Tensor;
  return { data, kept, decode };
}

function kernelOf(kinds: Readonly<Record<string, string>>, zero: number): Kernel {
  const typeOf = (kind: string): 'f32' | 'i32' | 'u32' =>
    isNibbles(kind) ? 'u32' : ELEMENT_TYPES[kind as DType].value;
  const inputs = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [name, { type: typeOf(kind), access: 'gather', rank: 1 } as const]),
  );
  const params = Object.fromEntries(
    ['block', ...Object.keys(kinds).map((name) => `${name} row`)].map((name) => [name, 'u32' as const]),
  );
  return defineKernel('decode', { inputs, params }, (symbols, k) => {
    const all = symbols as unknown as Record<string, GatherInput & Value<'u32'>>;
    const value = (name: string, column: Value<'u32'>): Value<'f32'> => {
      const place = k.add(k.mul(k.index(0), all[`${name} row`] as Value<'u32'>), column);
      return element(k, kinds[name] as string, all[name] as GatherInput, place);
    };
    const block = k.div(k.index(1), all['block'] as Value<'u32'>);
    const q = value('data', k.index(1));
    const scale = value('scales', block);
    if (kinds['offsets'] !== undefined) return { w: k.add(k.mul(q, scale), value('offsets', block)) };
    return { w: k.mul(kinds['zeros'] === undefined ? k.sub(q, zero) : k.sub(q, value('zeros', block)), scale) };
  }) as Kernel;
}

function element(k: KernelBuilder, kind: string, input: GatherInput, place: Value<'u32'>): Value<'f32'> {
  if (!isNibbles(kind)) {
    const x = k.gather(input, [place], 0);
    return x.type === 'f32' ? (x as unknown as Value<'f32'>) : k.toF32(x as Value<'u32'>);
  }
  const byte = k.gather(input as GatherInput<'u32'>, [k.shr(place, 1)], 0);
  const nibble = k.and(k.shr(byte, k.mul(k.and(place, 1), 4)), 15);
  return k.toF32(kind === 'u4' ? nibble : k.sub(k.toI32(k.xor(nibble, 8)), 8));
}
