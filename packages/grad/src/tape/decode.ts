import type { BatchedGemmCall, ComputeBackend, DevicePtr, DType, GemmCall } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type GatherInput, type Kernel, type Value } from '@concord/backend-core/kernel';
import { empty, type Tensor } from '@concord/ops';
import { Kernels, launchKernel, unheard } from '@concord/ops/listen';
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
type Stored = DType | 'i4' | 'u4';

const isNibbles = (dtype: Stored): dtype is 'i4' | 'u4' => dtype === 'i4' || dtype === 'u4';
const typeOf = (dtype: Stored): 'f32' | 'i32' | 'u32' =>
  dtype === 'i4' ? 'i32' : dtype === 'u4' ? 'u32' : ELEMENT_TYPES[dtype].value;

/** The integers of a product's B, `(q - zero) scale` or `q scale + offset`. */
export function decoded(tape: Tape, backend: ComputeBackend, call: GemmCall & Partial<BatchedGemmCall>): Decoded {
  const { n, k, b, ldb, quantB, dtypeB = 'f32', batchCount = 1 } = call;
  if (quantB === undefined || batchCount !== 1)
    throw unsupported('linear', 'quantized weights in batches', 'dequantize');
  const { block, scales, zeros, offsets } = quantB;
  const views: Record<string, { ptr: DevicePtr; shape: number[]; strides: number[]; dtype: Stored }> = {};
  const read = (name: string, columns: number, { ptr, dtype = 'f32', strides }: Blocks): Tensor => {
    const row = strides?.[1] ?? (isNibbles(dtype) ? columns + (columns % 2) : columns);
    views[name] = { ptr, shape: [n, columns], strides: [row, 1], dtype };
    const count = (n - 1) * row + columns;
    if (isNibbles(dtype)) return tape.at(backend, ptr, [Math.ceil(count / 2)], [1], 'u8');
    return tape.at(backend, ptr, [count], [1], dtype);
  };
  const data = read('data', k, { ptr: b, dtype: dtypeB, ...(ldb === undefined ? {} : { strides: [0, ldb] }) });
  const blocks = Math.ceil(k / block);
  const kept = [read('scales', blocks, scales)];
  if (zeros !== undefined) kept.push(read('zeros', blocks, { dtype: dtypeB, ...zeros }));
  if (offsets !== undefined) kept.push(read('offsets', blocks, { dtype: scales.dtype, ...offsets } as Blocks));
  const kinds = Object.fromEntries(Object.entries(views).map(([name, { dtype }]) => [name, typeOf(dtype)]));
  const zero = dtypeB === 'u8' ? 128 : dtypeB === 'u4' ? 8 : 0;
  const decode = (): Tensor => {
    const w = empty(backend, [n, k]);
    const { data: elements, ...gathered } = views;
    const { shape: _, ...own } = elements as NonNullable<typeof elements>;
    const outputs = { w: { ptr: w.ptr } };
    const run = { shape: [n, k], inputs: { data: own, ...gathered }, params: { block }, outputs };
    // Of constants nobody wants a gradient.
    unheard(() => launchKernel(backend, kernelOf(kinds, zero), run));
    return w;
  };
  return { data, kept, decode };
}

const kernels = new Kernels();

const kernelOf = (kinds: Readonly<Record<string, 'f32' | 'i32' | 'u32'>>, zero: number): Kernel =>
  kernels.of(JSON.stringify([kinds, zero]), () => {
    const inputs = Object.entries(kinds).map(([name, type]) => {
      return [name, name === 'data' ? type : ({ type, access: 'gather', rank: 2 } as const)];
    });
    const declared = { inputs: Object.fromEntries(inputs) as Record<string, 'u32'>, params: { block: 'u32' } } as const;
    return defineKernel('decode', declared, (symbols, k) => {
      const all = symbols as unknown as Record<string, GatherInput & Value<'u32'>>;
      const float = (x: Value): Value<'f32'> => (x.type === 'f32' ? (x as Value<'f32'>) : k.toF32(x as Value<'u32'>));
      const place = [k.index(0), k.div(k.index(1), all['block'] as Value<'u32'>)] as const;
      const of = (name: string): Value<'f32'> => float(k.gather(all[name] as GatherInput, place, 0));
      const q = float(all['data'] as Value);
      if ('offsets' in kinds) return { w: k.add(k.mul(q, of('scales')), of('offsets')) };
      return { w: k.mul(k.sub(q, 'zeros' in kinds ? of('zeros') : zero), of('scales')) };
    }) as Kernel;
  });
