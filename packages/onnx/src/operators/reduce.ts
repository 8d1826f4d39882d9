import * as ops from '@concord/ops';
import type { Tensor } from '@concord/ops';
import { sizeOf } from '../graph/host-tensor.ts';
import { elements } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

type Fold = (x: Tensor, options: { axis?: readonly number[]; keepDims: boolean }) => Tensor;

/** A fold of axes, which newer operator sets have as an input; of none of them it is all, or the input itself. */
function reduce(fold: Fold): Operator {
  return {
    needs: [1],
    run: (call) => {
      const axes = call.ints(1, 'axes') ?? [];
      const keepDims = call.int('keepdims', 1) === 1;
      const x = call.x(0);
      // Folds of no axes: what a fold does to each element remains, such as its square.
      const isEach = axes.length === 0 && call.int('noop_with_empty_axes', 0) === 1;
      if (isEach && /^Reduce(Sum|Mean|Prod|Max|Min)$/.test(call.node.op)) return call.value(0);
      const axis = axes.length === 0 && !isEach ? {} : { axis: axes.map((each) => call.axis(each)) };
      const folded = fold(x, { ...axis, keepDims });
      // Sums of small integers are wider, means of integers have fractions, where ONNX keeps the type.
      return folded.dtype === x.dtype ? folded : call.refuse(`input 0 of ${call.type(0)}`);
    },
  };
}

/** The place of an extreme along an axis, of equals the first or the last. */
function arg(fold: typeof ops.argmax): Operator {
  return {
    type: 'int64',
    run: (call) => {
      const axis = call.axis(call.int('axis', 0));
      const [x, keepDims] = [call.x(0), call.int('keepdims', 1) === 1];
      const isLast = call.int('select_last_index', 0) === 1;
      const place = ops.cast(fold(isLast ? ops.flip(x, { axis }) : x, { axis, keepDims }), 'i32');
      const last = (call.dims(0)[axis] as number) - 1;
      return isLast ? elements(`Last ${last}`, (k, at) => k.sub(k.i32(last), at as never), [place], 'i32') : place;
    },
  };
}

/** Softmax of one axis; before operator set 13 of all axes from it on. */
function soft(map: typeof ops.softmax): Operator {
  return {
    run: (call) => {
      call.floats(0);
      const [x, dims] = [call.x(0), call.dims(0)];
      const axis = call.axis(call.int('axis', call.version < 13 ? 1 : -1));
      if (call.version >= 13 || axis === dims.length - 1) return map(x, { axis });
      const rows = ops.reshape(x, [sizeOf(dims.slice(0, axis)), sizeOf(dims.slice(axis))]);
      return ops.reshape(map(rows, { axis: 1 }), dims);
    },
  };
}

const scan = (along: typeof ops.cumsum): Operator => ({
  needs: [1],
  run: (call) => {
    const axis = call.axis(call.scalar(1));
    const [exclusive, reverse] = [call.int('exclusive', 0) === 1, call.int('reverse', 0) === 1];
    return along(call.x(0), { axis, exclusive, reverse });
  },
});

/** Operators that fold axes, or compute along them. */
export const REDUCE: Operators = {
  ReduceSum: reduce(ops.sum),
  ReduceMean: reduce(ops.mean),
  ReduceProd: reduce(ops.prod),
  ReduceMax: reduce(ops.max),
  ReduceMin: reduce(ops.min),
  ReduceL1: reduce((x, options) => ops.norm(x, { ...options, ord: 1 })),
  ReduceL2: reduce((x, options) => ops.norm(x, options)),
  ReduceSumSquare: reduce((x, options) => ops.sum(ops.mul(x, x), options)),
  ReduceLogSum: reduce((x, options) => ops.log(ops.sum(x, options))),
  ReduceLogSumExp: reduce(ops.logSumExp),
  ArgMax: arg(ops.argmax),
  ArgMin: arg(ops.argmin),
  Softmax: soft(ops.softmax),
  LogSoftmax: soft(ops.logSoftmax),
  CumSum: scan(ops.cumsum),
  CumProd: scan(ops.cumprod),
  Hardmax: (call) => {
    const axis = call.axis(call.int('axis', call.version < 13 ? 1 : -1));
    if (call.version < 13 && axis !== call.dims(0).length - 1) return call.refuse('an axis that is not the last');
    const x = call.x(0);
    const top = elements('Top', (k, a, b) => k.toF32(k.eq(a, b)), [x, ops.max(x, { axis, keepDims: true })], 'f32');
    // Of equal ones only the first counts.
    const before = ops.cumsum(top, { axis, exclusive: true });
    return elements('First', (k, a, b) => k.select(k.eq(b, 0), a, 0), [top, before], x.dtype);
  },
};
