import { BYTES_OF } from '@concord/backend-core/implement';
import type { KernelOutput } from '@concord/backend-core/kernel';
import { arithmeticNode, names } from '@concord/kernel';
import { StorageClass, type Value } from '@concord/spirv-builder';
import { decode, encode } from '../arithmetic/storage.ts';
import type { OperandForm } from './form.ts';
import { all, isBelow, placeAt } from './gather-code.ts';
import type { KernelCode, Scope } from './kernel-code.ts';

/** Computes the values and places of an output that is written by index; returns the code that stores them, each by itself. */
export function storeByIndex(code: KernelCode, output: number, scope: Scope): () => void {
  const { k, kernel, form } = code;
  const { width } = scope;
  const operand = form.outputs[output] as OperandForm;
  if (operand.gather === 'empty') return () => {};
  const number = kernel.inputs.length + output;
  const { node, scatter } = kernel.outputs[output] as KernelOutput;
  const indices = (scatter as NonNullable<typeof scatter>).indices;
  const value = code.wide(node, scope, width);
  const places = indices.map((index) => code.wide(index, scope, width));
  const inside = indices.map((index, axis) => isBelow(code, index, places[axis] as Value, number, axis, width));
  const isInside = all(code, inside);
  const one = (vector: Value, lane: number): Value => (width === 1 ? vector : k.extract(vector, lane));
  return () => {
    for (let lane = 0; lane < width; lane++) {
      k.when(one(isInside, lane), () => {
        const own = places.map((place) => one(place, lane));
        const pointer = k.at(code.arg(names.output(output)), placeAt(code, number, operand, own));
        storeOne(code, output, pointer, one(value, lane));
      });
    }
  };
}

const INTEGER_ATOMICS = {
  add: { i32: 'add', u32: 'add' },
  max: { i32: 'smax', u32: 'umax' },
  min: { i32: 'smin', u32: 'umin' },
} as const;

/** Stores a value, or combines it with what is there, whatever other work-items do to that. */
function storeOne(code: KernelCode, output: number, pointer: Value, value: Value): void {
  const { k, kernel, form } = code;
  const { type, scatter } = kernel.outputs[output] as KernelOutput;
  const { mode } = scatter as NonNullable<typeof scatter>;
  const { dtype } = form.outputs[output] as OperandForm;
  const bytes = BYTES_OF[dtype];
  if (mode === 'set') {
    k.store(pointer, encode(k, value, dtype));
    return;
  }
  if (bytes === 4 && type !== 'f32') {
    k.atomic(INTEGER_ATOMICS[mode][type], pointer, value);
    return;
  }
  const combined = (old: Value): Value => {
    const node = { kind: 'arithmetic', op: mode, type, level: 'element', operands: [] } as const;
    return arithmeticNode(code.math(1), node, [type, type], [old, value]);
  };
  const u32 = k.types.int(32);
  const words = k.types.pointer(StorageClass.CrossWorkgroup, u32);
  if (bytes === 4) {
    exchange(code, k.bitcast(pointer, words), (old) => {
      return k.bitcast(combined(k.bitcast(old, k.types.float(32))), u32);
    });
    return;
  }
  // The word that it lies in, from the pointer's own element on.
  const rest = k.uconvert(k.and(k.address(pointer), 3), u32);
  const back = k.udiv(rest, bytes);
  const first = k.at(pointer, k.sub(k.constant(k.types.int(64), 0), k.uconvert(back, k.types.int(64))));
  const shift = k.mul(rest, 8);
  const narrow = k.types.int(bytes === 2 ? 16 : 8);
  const mask = k.shl(k.constant(u32, 2 ** (8 * bytes) - 1), shift);
  exchange(code, k.bitcast(first, words), (old) => {
    const here = decode(k, k.uconvert(k.lshr(old, shift), narrow), dtype);
    const bits = k.uconvert(encode(k, combined(here), dtype), u32);
    return k.or(k.and(old, k.not(mask)), k.shl(bits, shift));
  });
}

/** Changes a word until nothing else has changed it in between. */
function exchange({ k }: KernelCode, word: Value, next: (old: Value) => Value): void {
  const u32 = k.types.int(32);
  const first = k.load(word, { isVolatile: true });
  k.whileLoop(
    [first, k.constant(u32, 1)],
    ([, isOpen]) => k.ne(isOpen as Value, 0),
    ([old]) => {
      const seen = k.atomicCompareExchange(word, old as Value, next(old as Value));
      return [seen, k.select(k.eq(seen, old as Value), k.constant(u32, 0), k.constant(u32, 1))];
    },
  );
}
