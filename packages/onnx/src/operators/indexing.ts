import * as ops from '@concord/ops';
import { denseStrides } from '@concord/ops/listen';
import type { Tensor } from '@concord/ops';
import { refuse } from '../errors.ts';
import { type HostTensor, hostTensor, sizeOf } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { elements, type Formula } from './elements.ts';
import type { Operators } from './operator.ts';

/** Indices that count from the end, as ONNX has them, counted from the front. */
export function fromFront(indices: Tensor, size: number): Tensor {
  return elements(`Front ${size}`, (k, at) => k.select(k.lt(at, 0), k.add(at, size), at), [indices], 'i32');
}

/** Returns whether no index can be negative, since all are known. */
function areFromFront(call: Call, index: number): boolean {
  const { host, isConstant } = call.value(index);
  return isConstant && host !== undefined && call.numbers(index).every((at) => at >= 0);
}

/** The indices of input 1, along an axis of input 0. */
function indicesOf(call: Call, axis: number): Tensor {
  return areFromFront(call, 1) ? call.x(1) : fromFront(call.x(1), call.dims(0)[axis] as number);
}

/** Tuples of indices along the first axes, after batch axes, as places in all of these as one: `[..., m]` to `[...]`. */
function placesOf(call: Call, batch: number): { readonly places: Tensor; readonly size: number } {
  const [x, indices] = [call.dims(0), call.x(1)];
  const count = indices.shape.at(-1) as number;
  const sizes = x.slice(0, batch + count);
  const strides = denseStrides(sizes);
  const last = indices.rank - 1;
  const parts = elements(
    `Part ${batch} ${last} ${sizes.join()}`,
    (k, at) => {
      const axis = k.index(last);
      let part = k.i32(0);
      for (let i = 0; i < count; i++) {
        const [size, stride] = [sizes[batch + i] as number, strides[batch + i] as number];
        const front = k.select(k.lt(at, 0), k.add(at, size), at) as never;
        part = k.select(k.eq(axis, i), k.mul(front, stride) as never, part);
      }
      for (let i = 0; i < batch; i++) {
        const own = k.mul(k.toI32(k.index(i)), strides[i] as number);
        part = k.select(k.eq(axis, 0), k.add(part, own), part);
      }
      return part;
    },
    [indices],
    'i32',
  );
  return { places: ops.sum(parts, { axis: -1 }), size: sizeOf(sizes) };
}

function gatherNd(call: Call): Tensor {
  const x = call.x(0);
  const { places, size } = placesOf(call, call.int('batch_dims', 0));
  const rest = x.shape.slice(call.int('batch_dims', 0) + (call.dims(1).at(-1) as number));
  return ops.reshape(ops.gather(ops.reshape(x, [size, sizeOf(rest)]), places), [...places.shape, ...rest]);
}

/** Returns whether values that meet are added. */
function joins(call: Call): boolean {
  return call.choice('reduction', 'none', 'add') === 'add';
}

function scatterNd(call: Call): Tensor {
  const [x, values] = [call.x(0), call.x(2)];
  const { places, size } = placesOf(call, 0);
  const rest = sizeOf(x.shape) / size;
  const [table, rows] = [ops.reshape(x, [size, rest]), ops.reshape(values, [places.size, rest])];
  const written = ops.indexPut(table, [ops.reshape(places, [-1])], rows, { accumulate: joins(call) });
  return ops.reshape(written, x.shape);
}

function scatterElements(call: Call): Tensor {
  const axis = call.axis(call.int('axis', 0));
  const [x, indices, values] = [call.x(0), indicesOf(call, axis), call.x(2)];
  return joins(call) ? ops.scatterAdd(x, axis, indices, values) : ops.scatter(x, axis, indices, values);
}

function hot(call: Call): Results {
  const depth = call.scalar(1);
  const indices = ops.cast(call.x(0), 'i32');
  const given = call.x(2);
  const [off, on] = [ops.slice(given, [0]), ops.slice(given, [1])];
  const hits = ops.oneHot(fromFront(indices, depth), depth, { dtype: 'u8' });
  const result = elements('Hot', (k, hit, a, b) => k.select(k.ne(hit, 0), a, b), [hits, on, off], given.dtype);
  const axis = call.axis(call.int('axis', -1), result.rank);
  const order = indices.shape.map((_, each) => each);
  order.splice(axis, 0, indices.rank);
  return call.typed(ops.permute(result, order), call.type(2));
}

function reverse(call: Call): Tensor {
  const [time, batch] = [call.axis(call.int('time_axis', 0)), call.axis(call.int('batch_axis', 1))];
  const [x, lengths] = [call.x(0), call.x(1)];
  const dims = x.shape.map((size, axis) => (axis === time || axis === batch ? size : 1));
  const over = ops.reshape(
    lengths,
    dims.map((size, axis) => (axis === batch ? size : 1)),
  );
  const rows = x.shape[time] as number;
  const along = ops.reshape(
    call.toDevice(hostTensor('int32', [rows], [...Array(rows).keys()])),
    dims.map((size, axis) => (axis === time ? size : 1)),
  );
  const formula: Formula = (k, length, at) => k.select(k.lt(at, length), k.sub(k.sub(length, 1), at), at);
  const places = elements('Reverse', formula, [over, along]);
  return ops.takeAlongAxis(x, places, time);
}

/** The corners of a box. */
type Box = readonly [x0: number, y0: number, x1: number, y1: number];

/** Boxes that are kept, greedily, by their scores: which are is known only on the host. */
function suppress(call: Call): HostTensor {
  const [boxes, scores] = [call.numbers(0), call.numbers(1)];
  const [batches = 0, classes = 0, count = 0] = call.dims(1);
  const limit = call.scalar(2, 0);
  const [overlap, least] = [call.scalar(3, 0), call.has(4) ? call.scalar(4) : -Infinity];
  const isCentred = call.int('center_point_box', 0) === 1;
  const box = (batch: number, i: number): Box => {
    const [a = 0, b = 0, c = 0, d = 0] = boxes.slice((batch * count + i) * 4, (batch * count + i) * 4 + 4);
    if (isCentred) return [a - c / 2, b - d / 2, a + c / 2, b + d / 2];
    return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
  };
  const area = ([x0, y0, x1, y1]: Box): number => (x1 - x0) * (y1 - y0);
  const shared = (p: Box, q: Box): number => {
    const [width, height] = [Math.min(p[2], q[2]) - Math.max(p[0], q[0]), Math.min(p[3], q[3]) - Math.max(p[1], q[1])];
    const both = Math.max(0, width) * Math.max(0, height);
    return both === 0 ? 0 : both / (area(p) + area(q) - both);
  };
  const found: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    for (let kind = 0; kind < classes; kind++) {
      const score = (i: number): number => scores[(batch * classes + kind) * count + i] as number;
      const order = Array.from({ length: count }, (_, i) => i).filter((i) => score(i) > least);
      order.sort((p, q) => score(q) - score(p));
      const kept: number[] = [];
      for (const i of order) {
        if (kept.length >= limit) break;
        if (kept.every((each) => shared(box(batch, each), box(batch, i)) <= overlap)) kept.push(i);
      }
      found.push(...kept.flatMap((i) => [batch, kind, i]));
    }
  }
  return hostTensor('int64', [found.length / 3, 3], found);
}

/** Operators that read, write or order by index. */
export const INDEXING: Operators = {
  Gather: (call) => {
    const axis = call.axis(call.int('axis', 0));
    return ops.gather(call.x(0), indicesOf(call, axis), { axis });
  },
  GatherElements: (call) => {
    const axis = call.axis(call.int('axis', 0));
    const dims = call.dims(1);
    const x = ops.slice(
      call.x(0),
      dims.map((size, each) => (each === axis ? null : ([0, size] as const))),
    );
    return ops.takeAlongAxis(x, indicesOf(call, axis), axis);
  },
  GatherND: gatherNd,
  ScatterND: scatterNd,
  ScatterElements: scatterElements,
  Scatter: scatterElements,
  OneHot: { needs: [1], run: hot },
  ReverseSequence: reverse,
  NonMaxSuppression: { host: suppress },
  TopK: {
    needs: [1],
    run: (call) => {
      const axis = call.axis(call.int('axis', -1));
      const k = call.version < 10 ? call.int('k') : call.scalar(1);
      if (k > (call.dims(0)[axis] as number)) throw refuse(`${k} of ${call.dims(0)[axis]} elements are wanted`);
      const { values, indices } = ops.topK(call.x(0), k, { axis, largest: call.int('largest', 1) === 1 });
      return [values, call.typed(ops.cast(indices, 'i32'), 'int64')];
    },
  },
};
