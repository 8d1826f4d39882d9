import * as fc from 'fast-check';
import * as ops from '../../src/index.ts';
import { type Model, rebuilt } from './model.ts';

/** One view of a tensor, and what the plain loop makes of its model. */
export interface ViewStep {
  readonly shown: string;
  readonly tensor: (x: ops.Tensor) => ops.Tensor;
  readonly model: Model;
}

/** Draws what a step needs: from 0 to below `below`. */
export type Pick = (below: number) => number;

const KINDS = [reshapeStep, permuteStep, sliceStep, indexStep, expandStep, squeezeStep, unsqueezeStep, splitStep];

/** A chain of steps is drawn as numbers, which mean something whatever the shape is by then. */
export const chains: fc.Arbitrary<number[][]> = fc.array(fc.array(fc.nat(999), { minLength: 12, maxLength: 12 }), {
  minLength: 1,
  maxLength: 6,
});

/** The step that drawn numbers mean for a model. */
export function stepOf(model: Model, drawn: readonly number[]): ViewStep {
  let next = 0;
  const pick: Pick = (below) => (drawn[next++ % drawn.length] as number) % below;
  return (KINDS[pick(KINDS.length)] as (typeof KINDS)[number])(model, pick);
}

function reshapeStep(model: Model, pick: Pick): ViewStep {
  // Factors of the size in an order that is drawn; one of them may be left to be filled in.
  const shape: number[] = [];
  let rest = model.values.length;
  for (let factor = 2; factor <= rest;) {
    if (rest % factor !== 0) factor++;
    else if (shape.length > 0 && pick(2) === 0) {
      const place = pick(shape.length);
      shape[place] = (shape[place] as number) * factor;
      rest /= factor;
    } else {
      shape.splice(pick(shape.length + 1), 0, factor);
      rest /= factor;
    }
  }
  if (rest === 0) shape.push(...model.shape);
  const open = rest > 0 && shape.length > 0 && pick(2) === 0 ? pick(shape.length) : -1;
  const given = shape.map((length, axis) => (axis === open ? -1 : length));
  return {
    shown: `reshape ${String(given)}`,
    tensor: (x) => ops.reshape(x, given),
    model: { shape, values: model.values },
  };
}

function permuteStep(model: Model, pick: Pick): ViewStep {
  const left = [...model.shape.keys()];
  const order = model.shape.map(() => left.splice(pick(left.length), 1)[0] as number);
  const shape = order.map((axis) => model.shape[axis] as number);
  return {
    shown: `permute ${String(order)}`,
    tensor: (x) => ops.permute(x, order),
    model: rebuilt(model, shape, (index) => model.shape.map((_, axis) => index[order.indexOf(axis)] as number)),
  };
}

function sliceStep(model: Model, pick: Pick): ViewStep {
  const drawn = model.shape.map((length) => {
    // Mostly a part that is not empty.
    const start = pick(Math.max(1, length));
    const min = Math.min(length - start, pick(8) === 0 ? 0 : 1);
    const stop = start + min + pick(length - start - min + 1);
    const step = 1 + pick(2);
    const count = Math.ceil((stop - start) / step);
    if (count === 0 || pick(4) > 0) return { start, step, count, range: [start, stop, step] as ops.Range };
    // Before the first one there is no place with a number.
    const range: ops.Range = [stop - 1, start === 0 ? null : start - 1, -step];
    return { start: stop - 1, step: -step, count, range };
  });
  const shape = drawn.map(({ count }) => count);
  const ranges = drawn.map(({ range }) => range);
  return {
    shown: `slice ${JSON.stringify(ranges)}`,
    tensor: (x) => ops.slice(x, ranges),
    model: rebuilt(model, shape, (index) =>
      index.map((place, axis) => {
        const { start, step } = drawn[axis] as (typeof drawn)[number];
        return start + place * step;
      }),
    ),
  };
}

/** One index of the first axis, counted from either end. */
function indexStep(model: Model, pick: Pick): ViewStep {
  const [length = 0, ...shape] = model.shape;
  if (length === 0) return permuteStep(model, pick);
  const place = pick(length);
  const given = pick(2) === 0 ? place : place - length;
  return {
    shown: `slice ${given}`,
    tensor: (x) => ops.slice(x, [given]),
    model: rebuilt(model, shape, (index) => [place, ...index]),
  };
}

function expandStep(model: Model, pick: Pick): ViewStep {
  const isSmall = model.values.length <= 64 && model.shape.length <= 5;
  const grown = model.shape.map((length) => (length === 1 && isSmall ? 1 + pick(3) : length));
  const shape = isSmall && pick(2) === 0 ? [1 + pick(2), ...grown] : grown;
  return {
    shown: `expand ${String(shape)}`,
    tensor: (x) => ops.expand(x, shape),
    model: rebuilt(model, shape, (index) => {
      const own = index.slice(shape.length - model.shape.length);
      return own.map((place, axis) => (model.shape[axis] === 1 ? 0 : place));
    }),
  };
}

function squeezeStep({ shape, values }: Model): ViewStep {
  return {
    shown: 'squeeze',
    tensor: (x) => ops.squeeze(x),
    model: { shape: shape.filter((length) => length !== 1), values },
  };
}

function unsqueezeStep(model: Model, pick: Pick): ViewStep {
  const { shape, values } = model;
  if (shape.length > 5) return squeezeStep(model);
  const added = pick(4);
  const rank = shape.length + Math.max(1, added);
  // One axis by its number; else a list, whose order does not matter.
  const places = Array.from({ length: rank }, (_, place) => place);
  const axes = Array.from({ length: Math.max(1, added) }, () => places.splice(pick(places.length), 1)[0] as number);
  const given = axes.map((axis) => (pick(2) === 0 ? axis : axis - rank));
  const old = [...shape];
  return {
    shown: `unsqueeze ${String(given)}`,
    tensor: (x) => ops.unsqueeze(x, added === 0 ? (given[0] as number) : given),
    model: {
      shape: Array.from({ length: rank }, (_, place) => (axes.includes(place) ? 1 : (old.shift() as number))),
      values,
    },
  };
}

/** One part of those that an axis is split into. */
function splitStep(model: Model, pick: Pick): ViewStep {
  if (model.shape.length === 0) return unsqueezeStep(model, pick);
  const axis = pick(model.shape.length);
  const length = model.shape[axis] as number;
  const first = pick(length + 1);
  const sizes = [first, length - first];
  const part = pick(2);
  const shape = model.shape.map((each, place) => (place === axis ? (sizes[part] as number) : each));
  return {
    shown: `split ${String(sizes)} of ${axis}, ${part}`,
    tensor: (x) => ops.split(x, sizes, axis)[part] as ops.Tensor,
    model: rebuilt(model, shape, (index) =>
      index.map((place, each) => (each === axis && part === 1 ? place + first : place)),
    ),
  };
}
