import { BYTES_OF } from '@concord/backend-core/implement';
import type { KernelNode, KernelOutput } from '@concord/backend-core/kernel';
import { atomic, f32x4, i32, i32x4, type Local, type Value, v128 } from '../../encoder/index.ts';
import { decode, encode, loadSplat } from '../arithmetic/storage.ts';
import type { Vector } from '../arithmetic/wasm-arithmetic.ts';
import { LANES } from './cursor.ts';
import { names, type OperandForm } from './form.ts';
import type { NodeCode } from './node-code.ts';

/** Stores the values of an output at their indices, lane after lane: several may name one element. */
export function scatter(code: NodeCode, output: number, units: number): void {
  const { a, cursor, form } = code;
  const { body, words, lanes } = cursor;
  const { node, type, level, scatter: given } = form.kernel.outputs[output] as KernelOutput;
  const { mode, indices } = given as NonNullable<KernelOutput['scatter']>;
  const { dtype, gather: way } = form.outputs[output] as OperandForm;
  if (way === 'empty') return;
  const operand = form.inputs.length + output;
  // Where vectors lie along rows that are folded, a row has one value.
  const isSingle = form.kind === 'rows' && form.along === 'folded' && level === 'row';
  for (let unit = 0; unit < (isSingle ? 1 : units); unit++) {
    const values = indices.map((index) => code.value(index, unit));
    const isBelow = values.map((index, axis) => {
      const { type: own } = form.kernel.nodes[indices[axis] as number] as KernelNode;
      return a.less('u32', index, words.vector(names.gatherSizeFor(operand, axis, own)));
    });
    const ownLanes = isSingle || lanes.mask === undefined ? [] : [lanes.mask];
    const isInside = a.keep([...isBelow, ...ownLanes].reduce((all, next) => a.and('bool', all, next)));
    const offsets = a.keep(
      values
        .map((index, axis) => a.mul('u32', index, words.vector(names.gatherStride(operand, axis))))
        .reduce((sum, term) => a.add('u32', sum, term)),
    );
    const value = code.value(node, unit);
    const stored = mode === 'set' ? encode(a, dtype, value) : value;
    for (let lane = 0; lane < (isSingle ? 1 : LANES); lane++) {
      body.if(i32x4.extractLane(isInside, lane), () => {
        const address = body.let(i32.add(words.number(names.output(output)), i32x4.extractLane(offsets, lane)));
        if (mode === 'set') {
          body.emit(...storeLane(dtype, address, stored, lane));
          return;
        }
        const combine = (old: Vector): Vector =>
          type === 'f32' && mode !== 'add' ? a.keep(f32x4[mode](old, value)) : a[mode](type, old, value);
        const next = (old: Value<'v128'>): Vector => encode(a, dtype, combine(decode(a, dtype, old)));
        if (!cursor.isShared) {
          body.emit(...storeLane(dtype, address, next(loadSplat(dtype, address)), lane));
          return;
        }
        compareAndStore(code, dtype, address, lane, next);
      });
    }
  }
}

/** Other threads may change the element in between: then it is computed again. */
function compareAndStore(
  { a, cursor: { body } }: NodeCode,
  dtype: OperandForm['dtype'],
  address: Local<'i32'>,
  lane: number,
  next: (old: Value<'v128'>) => Vector,
): void {
  const bytes = BYTES_OF[dtype];
  const load = bytes === 4 ? i32.load : bytes === 2 ? i32.load16U : i32.load8U;
  const old = body.let(load(address));
  body.loop((again) => {
    const splat = i32x4.splat(old);
    const raw = dtype === 'i8' ? i32x4.shrS(i32x4.shl(splat, 24), 24) : splat;
    const wanted = body.let(i32x4.extractLane(a.keep(next(raw)), lane));
    const seen = body.let(atomic.compareExchange(bytes, address, old, wanted));
    const isChanged = body.let(i32.ne(seen, old));
    body.set(old, seen);
    body.branchIf(again, isChanged);
  });
}

/** Writes one component. */
function storeLane(dtype: OperandForm['dtype'], address: Local<'i32'>, raw: Vector, lane: number) {
  const bytes = BYTES_OF[dtype];
  const store = bytes === 4 ? v128.store32Lane : bytes === 2 ? v128.store16Lane : v128.store8Lane;
  return [store(address, raw, (lane * 4) / bytes)];
}
