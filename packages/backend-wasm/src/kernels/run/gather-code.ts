import type { GatherNode, ValueType } from '@concord/backend-core/kernel';
import { i32, i32x4, type Value, v128 } from '../../encoder/index.ts';
import { decode, loadLanes, loadSplat } from '../arithmetic/storage.ts';
import type { Vector } from '../arithmetic/wasm-arithmetic.ts';
import { names, type OperandForm } from './form.ts';
import type { NodeCode } from './node-code.ts';

/** A gather with its operands' values. */
export interface Gather {
  readonly node: GatherNode;
  readonly outside: Vector;
  readonly indices: readonly Vector[];
  readonly types: readonly ValueType[];
  /** Whether any index differs between neighbours. */
  readonly varies: boolean;
}

/** The elements of a gather input at some indices, or `outside` where one is beyond its axis. */
export function gather(code: NodeCode, { node, outside, indices, types, varies }: Gather): Vector {
  const { a, form, cursor } = code;
  const input = form.kernel.inputs.findIndex(({ name }) => name === node.name);
  const operand = form.inputs[input] as OperandForm;
  if (operand.gather === 'empty') return outside;
  // The word of an i32's size is at most 2^31, so that what is negative is beyond it.
  const isInside = indices
    .map((index, axis) =>
      a.less('u32', index, cursor.words.vector(names.gatherSize(input, axis, types[axis] as string))),
    )
    .reduce((all, next) => a.and('bool', all, next));
  const offset = indices
    .map((index, axis) => a.mul('u32', index, cursor.words.vector(names.gatherStride(input, axis))))
    .reduce((sum, term) => a.add('u32', sum, term));
  // What is outside reads the first element in place of its own.
  const places = a.keep(v128.and(offset, isInside));
  const base = cursor.words.number(names.input(input));
  const address = (lane: number): Value<'i32'> => i32.add(base, i32x4.extractLane(places, lane));
  const raw = varies
    ? loadLanes(operand.dtype, [0, 1, 2, 3].map(address), a.constant('u32', 0))
    : loadSplat(operand.dtype, address(0));
  return a.select(node.type, isInside, decode(a, operand.dtype, raw), outside);
}
