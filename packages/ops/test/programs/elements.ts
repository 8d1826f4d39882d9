import * as ops from '../../src/index.ts';
import { at, broadcast, indicesOf, type Model, seenFrom } from '../support/model.ts';
import { philoxWord } from '../support/philox.ts';
import {
  broadcastable,
  computed,
  indices,
  integers,
  oneOf,
  type Operand,
  type Pick,
  sizes,
  type Step,
  put,
  spliced,
} from './step.ts';

/** Functions of any tensor: those of elements, folds, and what puts elements elsewhere. */
export const ELEMENT_STEPS = [
  binary,
  fold,
  moments,
  soft,
  concatenate,
  padding,
  tiling,
  flipping,
  gathering,
  taking,
  ranking,
  dropping,
];

function binary(pick: Pick, x: Operand): Step {
  const other = integers(pick, broadcastable(pick, x.model.shape));
  const operands = pick(2) === 0 ? [x, other] : [other, x];
  const [name, op, f] = oneOf(pick, [
    ['add', ops.add, (a: number, b: number) => a + b],
    ['sub', ops.sub, (a: number, b: number) => a - b],
    ['mul', ops.mul, (a: number, b: number) => a * b],
    ['maximum', ops.maximum, Math.max],
  ] as const);
  return {
    shown: name,
    operands,
    run: ([a, b], out) => op(a as never, b as never, { out }),
    want: ([a, b]) => {
      const shape = broadcast([(a as Model).shape, (b as Model).shape]) as number[];
      return computed(shape, (index) => f(seenFrom(a as Model, index), seenFrom(b as Model, index)));
    },
  };
}

/** The elements of a model along an axis through an index. */
function line(model: Model, index: readonly number[], axis: number): number[] {
  return Array.from({ length: model.shape[axis] as number }, (_, place) => at(model, put(index, axis, place)));
}

function without(shape: readonly number[], axis: number, keepDims: boolean): number[] {
  return keepDims ? put(shape, axis, 1) : spliced(shape, axis, 1);
}

function overRows(model: Model, axis: number, keepDims: boolean, each: (row: number[]) => number): Model {
  const kept = computed(put(model.shape, axis, 1), (index) => each(line(model, index, axis)));
  return { shape: without(model.shape, axis, keepDims), values: kept.values };
}

function fold(pick: Pick, x: Operand): Step {
  const axis = pick(x.model.shape.length);
  const keepDims = pick(2) === 0;
  const [name, op, f] = oneOf(pick, [
    ['sum', ops.sum, (row: number[]) => row.reduce((a, b) => a + b, 0)],
    ['max', ops.max, (row: number[]) => Math.max(...row)],
    ['argmin', ops.argmin, (row: number[]) => row.indexOf(Math.min(...row))],
  ] as const);
  return {
    shown: `${name} ${axis} ${keepDims}`,
    operands: [x],
    dtype: name === 'argmin' ? 'u32' : 'f32',
    run: ([a], out) => op(a as never, { axis: axis - x.model.shape.length, keepDims, out }),
    want: ([a]) => overRows(a as Model, axis, keepDims, f),
  };
}

const meanOf = (row: readonly number[]): number => row.reduce((a, b) => a + b, 0) / row.length;

function moments(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axis = pick(shape.length);
  if (pick(2) === 0) {
    return {
      shown: `variance ${axis}`,
      operands: [x],
      run: ([a], out) => ops.variance(a as never, { axis, correction: 0, out }),
      want: ([a]) => overRows(a as Model, axis, false, (row) => meanOf(row.map((v) => (v - meanOf(row)) ** 2))),
      tolerance: 1e-5,
    };
  }
  const operands = [x, integers(pick, shape.slice(-1)), integers(pick, broadcastable(pick, shape.slice(-1)))];
  return {
    shown: 'layerNorm',
    operands,
    run: ([a, weight, bias], out) => ops.layerNorm(a as never, { weight, bias, eps: 0.5, out }),
    want: ([a, weight, bias]) =>
      computed(shape, (index) => {
        const row = line(a as Model, index, shape.length - 1);
        const deviation = at(a as Model, index) - meanOf(row);
        const normal = deviation / Math.sqrt(meanOf(row.map((v) => (v - meanOf(row)) ** 2)) + 0.5);
        return normal * seenFrom(weight as Model, index) + seenFrom(bias as Model, index);
      }),
    tolerance: 1e-5,
  };
}

function soft(pick: Pick, x: Operand): Step {
  const axis = pick(x.model.shape.length);
  return {
    shown: `softmax ${axis}`,
    operands: [x],
    run: ([a], out) => ops.softmax(a as never, { axis, out }),
    want: ([a]) =>
      computed(x.model.shape, (index) => {
        const row = line(a as Model, index, axis);
        const most = Math.max(...row);
        return Math.exp(at(a as Model, index) - most) / row.reduce((total, v) => total + Math.exp(v - most), 0);
      }),
    tolerance: 1e-5,
  };
}

function concatenate(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axis = pick(shape.length);
  if (pick(2) === 0) {
    const place = pick(shape.length + 1);
    return {
      shown: `stack ${place}`,
      operands: [x, integers(pick, shape)],
      run: (parts, out) => ops.stack(parts, { axis: place, out }),
      want: (parts) =>
        computed(spliced(shape, place, 0, 2), (index) =>
          at(parts[index[place] as number] as Model, spliced(index, place, 1)),
        ),
    };
  }
  const second = put(shape, axis, pick(3));
  const length = shape[axis] as number;
  return {
    shown: `concat ${axis} with [${String(second)}]`,
    operands: [x, integers(pick, second)],
    run: (parts, out) => ops.concat(parts, { axis, out }),
    want: ([a, b]) =>
      computed(put(shape, axis, length + (second[axis] as number)), (index) => {
        const place = index[axis] as number;
        return place < length ? at(a as Model, index) : at(b as Model, put(index, axis, place - length));
      }),
  };
}

function padding(pick: Pick, x: Operand): Step {
  const mode = oneOf(pick, ['constant', 'edge', 'reflect', 'symmetric', 'wrap'] as const);
  const { shape } = x.model;
  const pads = shape.map(() => [pick(3), pick(3)] as const);
  const place = (index: number, length: number): number => {
    if (mode === 'edge') return Math.min(length - 1, Math.max(0, index));
    // Mirrored, or moved by the length, as often as it takes.
    let own = index;
    while (mode !== 'constant' && (own < 0 || own >= length)) {
      if (mode === 'wrap') own += own < 0 ? length : -length;
      else if (mode === 'symmetric') own = own < 0 ? -1 - own : 2 * length - 1 - own;
      else own = length === 1 ? 0 : own < 0 ? -own : 2 * (length - 1) - own;
    }
    return own;
  };
  return {
    shown: `pad ${mode} ${JSON.stringify(pads)}`,
    operands: [x],
    run: ([a], out) => ops.pad(a as never, pads, { mode, value: 9, out }),
    want: ([a]) =>
      computed(
        shape.map((length, axis) => length + (pads[axis] as readonly number[]).reduce((p, q) => p + q, 0)),
        (index) => {
          const own = index.map((each, axis) => place(each - (pads[axis]?.[0] ?? 0), shape[axis] as number));
          return own.every((each, axis) => each >= 0 && each < (shape[axis] as number)) ? at(a as Model, own) : 9;
        },
      ),
  };
}

function tiling(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const repeats = shape.map(() => 1 + pick(2));
  return {
    shown: `tile ${String(repeats)}`,
    operands: [x],
    run: ([a], out) => ops.tile(a as never, repeats, { out }),
    want: ([a]) =>
      computed(
        shape.map((length, axis) => length * (repeats[axis] as number)),
        (index) =>
          at(
            a as Model,
            index.map((each, axis) => each % (shape[axis] as number)),
          ),
      ),
  };
}

function flipping(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axes = [...shape.keys()].filter(() => pick(2) === 0);
  return {
    shown: `flip ${String(axes)}`,
    operands: [x],
    run: ([a], out) => ops.flip(a as never, { axis: axes, out }),
    want: ([a]) =>
      computed(shape, (index) =>
        at(
          a as Model,
          index.map((each, axis) => (axes.includes(axis) ? (shape[axis] as number) - 1 - each : each)),
        ),
      ),
  };
}

function gathering(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axis = pick(shape.length);
  const length = shape[axis] as number;
  const list = indices(pick, sizes(pick, 1 + pick(2)), -length - 1, length + 1);
  const rank = list.model.shape.length;
  return {
    shown: `gather ${axis}`,
    operands: [x, list],
    run: ([a, b]) => ops.gather(a as never, b as never, { axis }),
    want: ([a, b]) =>
      computed(spliced(shape, axis, 1, ...list.model.shape), (index) => {
        const place = at(b as Model, index.slice(axis, axis + rank));
        return place < 0 || place >= length ? 0 : at(a as Model, spliced(index, axis, rank, place));
      }),
    hasNoOut: true,
  };
}

function taking(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axis = pick(shape.length);
  const length = shape[axis] as number;
  const list = indices(pick, put(shape, axis, 1 + pick(3)), -length - 1, length + 1);
  return {
    shown: `takeAlongAxis ${axis}`,
    operands: [x, list],
    run: ([a, b], out) => ops.takeAlongAxis(a as never, b as never, axis, { out }),
    want: ([a, b]) =>
      computed(list.model.shape, (index) => {
        const place = at(b as Model, index);
        return place < 0 || place >= length ? 0 : at(a as Model, put(index, axis, place));
      }),
  };
}

function ranking(pick: Pick, x: Operand): Step {
  const { shape } = x.model;
  const axis = pick(shape.length);
  const k = 1 + pick(shape[axis] as number);
  const largest = pick(2) === 0;
  const areIndices = pick(2) === 0;
  return {
    shown: `topK ${k} ${axis} ${largest} ${areIndices}`,
    operands: [x],
    run: ([a]) => ops.topK(a as never, k, { axis, largest })[areIndices ? 'indices' : 'values'],
    want: ([a]) =>
      computed(put(shape, axis, k), (index) => {
        const row = line(a as Model, index, axis);
        const order = [...row.keys()].sort((p, q) => {
          const difference = (row[q] as number) - (row[p] as number);
          return (largest ? difference : -difference) || p - q;
        });
        const place = order[index[axis] as number] as number;
        return areIndices ? place : (row[place] as number);
      }),
    hasNoOut: true,
  };
}

function dropping(pick: Pick, x: Operand): Step {
  const seed = pick(100);
  const offset = pick(9);
  const { shape } = x.model;
  return {
    shown: `dropout ${seed} ${offset}`,
    operands: [x],
    run: ([a], out) => ops.dropout(a as never, 0.5, { seed, offset, out }),
    want: ([a]) => {
      const values = indicesOf(shape).map((index, place) =>
        philoxWord(seed, place + offset, 3) < 2 ** 31 ? 0 : 2 * at(a as Model, index),
      );
      return { shape, values };
    },
  };
}
