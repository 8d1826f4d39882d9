import type { GatherNode } from '@concord/backend-core/kernel';
import { gathersRun, names, numberOf } from '@concord/kernel';
import type { Value } from '@concord/spirv-builder';
import { SpirvArithmetic, type Width } from '../arithmetic/spirv-arithmetic.ts';
import { decode, loadRaw, vectorOf } from '../arithmetic/storage.ts';
import type { OperandForm } from './form.ts';
import type { KernelCode, Scope } from './kernel-code.ts';

/** The elements of a gather input at the indices of a node, or its first operand where one is outside. */
export function gather(code: KernelCode, node: GatherNode, scope: Scope, width: Width): Value {
  const { k, form, kernel, varies } = code;
  const input = numberOf(kernel.inputs, node);
  const operand = form.inputs[input] as OperandForm;
  const [otherwise, ...indices] = node.operands as readonly [number, ...number[]];
  const outside = code.wide(otherwise, scope, width);
  if (operand.gather === 'empty') return outside;
  const isDense = width > 1 && operand.gather === 'dense';
  if (isDense && gathersRun(form, indices, (index) => varies[index] === true))
    return gatherRun(code, { node, input, operand, scope, width });
  const values = indices.map((index) => code.wide(index, scope, width));
  const isInside = all(
    code,
    indices.map((index, axis) => isBelow(code, index, values[axis] as Value, input, axis, width)),
  );
  const pointer = code.arg(names.input(input));
  const lanes = Array.from({ length: width }, (_, lane) => lane);
  const one = (value: Value, lane: number): Value => (width === 1 ? value : k.extract(value, lane));
  const raw = lanes.map((lane) => {
    const offset = placeAt(
      code,
      input,
      operand,
      values.map((value) => one(value, lane)),
    );
    // What is outside reads the first element instead of its own.
    return k.load(k.at(pointer, k.select(one(isInside, lane), offset, k.constant(offset.type, 0))));
  });
  const loaded = decode(k, vectorOf(k, pointer, raw), operand.dtype);
  return new SpirvArithmetic(k, width).select(node.type, isInside, loaded, outside);
}

interface Run {
  readonly node: GatherNode;
  readonly input: number;
  readonly operand: OperandForm;
  readonly scope: Scope;
  readonly width: Width;
}

/** A vector at once where all of it is inside, else one by one. */
function gatherRun(code: KernelCode, { node, input, operand, scope, width }: Run): Value {
  const { k } = code;
  const [otherwise, ...indices] = node.operands as readonly [number, ...number[]];
  const values = indices.map((index) => scope.values.value(index));
  const positions = values.at(-1) as Value;
  const firsts = [...values.slice(0, -1), k.extract(positions, 0)];
  const last = indices.length - 1;
  const size = code.arg(names.gatherSize(input, last));
  const isThere = all(
    code,
    indices.slice(0, -1).map((index, axis) => isBelow(code, index, firsts[axis] as Value, input, axis, 1)),
  );
  const outside = code.wide(otherwise, scope, width);
  const base = placeAt(code, input, operand, firsts);
  const pointer = code.arg(names.input(input));
  // The last position may be beyond 2^32 - 1 only where the first one is beyond every size.
  const isWhole = k.and(isThere, k.ult(k.extract(positions, width - 1), size));
  const [result] = k.ifElse(
    isWhole,
    () => [decode(k, loadRaw(k, k.at(pointer, base), width, operand), operand.dtype)],
    () => {
      const lanes = Array.from({ length: width }, (_, lane) => lane);
      const isInside = lanes.map((lane) => k.and(isThere, k.ult(k.extract(positions, lane), size)));
      const raw = lanes.map((lane) => {
        const place = k.add(base, k.constant(base.type, lane));
        return k.load(k.at(pointer, k.select(isInside[lane] as Value, place, k.constant(base.type, 0))));
      });
      const loaded = decode(k, vectorOf(k, pointer, raw), operand.dtype);
      const truths = k.vector(k.types.vector(k.types.bool(), width as never), ...isInside);
      return [k.select(truths, loaded, outside)];
    },
  );
  return result as Value;
}

/** Returns whether an index is below the size of an axis; one that is negative is beyond. */
export function isBelow(
  code: KernelCode,
  node: number,
  index: Value,
  operand: number,
  axis: number,
  width: Width,
): Value {
  const { k, kernel } = code;
  const below = k.ult(index, code.splat(code.arg(names.gatherSize(operand, axis)), width));
  if (kernel.nodes[node]?.type !== 'i32') return below;
  return k.and(below, k.sge(index, k.constant(index.type, 0)));
}

export function all(code: KernelCode, conditions: readonly Value[]): Value {
  const { k } = code;
  return (
    conditions.reduce<Value | undefined>((sum, next) => (sum === undefined ? next : k.and(sum, next)), undefined) ??
    k.constant(k.types.bool(), true)
  );
}

/** Elements from an operand's first to the one at these indices, scalars. */
export function placeAt(code: KernelCode, operand: number, form: OperandForm, indices: readonly Value[]): Value {
  const { k, index: type } = code;
  return indices
    .map((index, axis) => {
      const place = k.uconvert(index, type);
      const isDense = axis === indices.length - 1 && form.gather === 'dense';
      return isDense ? place : k.mul(place, code.arg(names.gatherStride(operand, axis)));
    })
    .reduce((sum, term) => k.add(sum, term));
}
