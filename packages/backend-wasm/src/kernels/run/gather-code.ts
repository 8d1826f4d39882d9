import { BYTES_OF } from '@concord/backend-core/implement';
import type { ValueType } from '@concord/backend-core/kernel';
import { i32, i32x4, type Local, type Value, v128 } from '../../encoder/index.ts';
import { decode, loadDense, loadLanes, loadSplat } from '../arithmetic/storage.ts';
import type { Vector } from '../arithmetic/wasm-arithmetic.ts';
import { LANES } from './cursor.ts';
import { names, type OperandForm } from './form.ts';
import type { NodeCode } from './node-code.ts';

/** A gather with its operands' values. */
export interface Gather {
  readonly input: number;
  readonly type: ValueType;
  readonly outside: Vector;
  readonly indices: readonly Vector[];
  readonly types: readonly ValueType[];
  /** True if any index differs between neighbours. */
  readonly varies: boolean;
  /**
   * The first of four neighbours along the input's last axis that the lanes are, where they are that, the axis is dense, and no other
   * index differs.
   */
  readonly run?: Local<'i32'> | undefined;
}

/** The elements of a gather input at some indices, or `outside` where one is beyond its axis. */
export function gather(code: NodeCode, call: Gather): Vector {
  const { form, cursor } = code;
  const { input, run } = call;
  const operand = form.inputs[input] as OperandForm;
  if (operand.gather === 'empty') return call.outside;
  if (run === undefined) return gatherEach(code, call, operand);
  const { body, words } = cursor;
  const others = call.indices.slice(0, -1);
  const isThere = others
    .map((index, axis) => isBelow(code, call, index, axis))
    .reduce<Value<'i32'>>(
      (all, next) => i32.and(all, i32x4.extractLane(next, 0)),
      i32.ltU(i32.add(run, LANES - 1), words.number(names.gatherSizeFor(input, others.length, 'u32'))),
    );
  const result = body.local('v128');
  body.if(
    isThere,
    () => {
      const start = others
        .map((index, axis) => i32.mul(i32x4.extractLane(index, 0), words.number(names.gatherStride(input, axis))))
        .reduce<Value<'i32'>>((sum, term) => i32.add(sum, term), words.number(names.input(input)));
      const address = body.let(i32.add(start, i32.mul(run, BYTES_OF[operand.dtype])));
      body.set(result, decode(code.a, operand.dtype, loadDense(operand.dtype, address, 0)));
    },
    () => body.set(result, gatherEach(code, call, operand)),
  );
  return result;
}

/** True where an index is on its axis. The size of an i32's axis is a word of at most 2^31, so negative indices are beyond it. */
function isBelow(code: NodeCode, { input, types }: Gather, index: Vector, axis: number): Vector {
  const size = code.cursor.words.vector(names.gatherSizeFor(input, axis, types[axis] as string));
  return code.a.less('u32', index, size);
}

function gatherEach(code: NodeCode, call: Gather, operand: OperandForm): Vector {
  const { a, cursor } = code;
  const { input, type, outside, indices, varies } = call;
  const isInside = indices
    .map((index, axis) => isBelow(code, call, index, axis))
    .reduce((all, next) => a.and('bool', all, next));
  const offset = indices
    .map((index, axis) => a.mul('u32', index, cursor.words.vector(names.gatherStride(input, axis))))
    .reduce((sum, term) => a.add('u32', sum, term));
  // An index outside reads the first element instead.
  const places = a.keep(v128.and(offset, isInside));
  const base = cursor.words.number(names.input(input));
  const address = (lane: number): Value<'i32'> => i32.add(base, i32x4.extractLane(places, lane));
  const raw = varies
    ? loadLanes(operand.dtype, [0, 1, 2, 3].map(address), a.constant('u32', 0))
    : loadSplat(operand.dtype, address(0));
  return a.select(type, isInside, decode(a, operand.dtype, raw), outside);
}
