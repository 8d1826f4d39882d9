import type { NodeOp } from '@concord/backend-core/kernel';
import type { Graph, Ref } from './graph.ts';

/** An operand's share of a result's gradient: a value if the mask is true; else 0, whatever the value is. */
export interface Share {
  readonly value: Ref;
  readonly mask?: Ref | undefined;
}

type Rule = (g: Graph, d: Ref, r: Ref, x: Ref, y: Ref, z: Ref) => readonly (Share | Ref | undefined)[];

const times = (g: Graph, d: Ref, factor: number): Ref => g.op('mul', d, g.f32(factor));
const one = (g: Graph, x: Ref): Ref => g.op('sub', g.f32(1), x);
/** `e^(-x^2)`. */
const bell = (g: Graph, x: Ref): Ref => g.op('exp', g.op('neg', g.op('mul', x, x)));

/** The greater or lesser one takes all, equal ones halves; beside a constant or a parameter nothing at the bend. NaN takes all. */
const extreme =
  (below: 'lt' | 'gt', notAbove: 'le' | 'ge'): Rule =>
  (g, d, _r, x, y) => {
    const isFixed = (ref: Ref): boolean => g.at(ref).level === 'call';
    const share = (a: Ref, b: Ref): Share => {
      if (isFixed(b)) return { value: d, mask: g.op('not', g.op(notAbove, a, b)) };
      const value = g.op('select', g.op('eq', a, b), times(g, d, 0.5), d);
      return { value, mask: g.op('not', g.op(below, a, b)) };
    };
    return [share(x, y), share(y, x)];
  };

/** `d`, the gradient of `r = op(x, y, z)`, for each operand. What is not here is constant piece by piece, or of integers. */
export const DERIVATIVES: Readonly<Partial<Record<NodeOp, Rule>>> = {
  add: (_g, d) => [d, d],
  sub: (g, d) => [d, g.op('neg', d)],
  mul: (g, d, _r, x, y) => [g.op('mul', d, y), g.op('mul', d, x)],
  div: (g, d, r, _x, y) => [g.op('div', d, y), g.op('neg', g.op('div', g.op('mul', d, r), y))],
  min: extreme('gt', 'ge'),
  max: extreme('lt', 'le'),
  pow: (g, d, r, x, y) => {
    const zero = g.f32(0);
    const base = g.op('mul', d, g.op('mul', y, g.op('pow', x, g.op('sub', y, g.f32(1)))));
    const isFlat = g.op('and', g.op('eq', x, zero), g.op('ge', y, zero));
    return [
      { value: base, mask: g.op('ne', y, zero) },
      { value: g.op('mul', d, g.op('mul', r, g.op('log', x))), mask: g.op('not', isFlat) },
    ];
  },
  atan2: (g, d, _r, y, x) => {
    const square = g.op('add', g.op('mul', x, x), g.op('mul', y, y));
    return [g.op('mul', d, g.op('div', x, square)), g.op('neg', g.op('mul', d, g.op('div', y, square)))];
  },
  neg: (g, d) => [g.op('neg', d)],
  abs: (g, d, _r, x) => [{ value: g.op('mul', d, g.op('sign', x)), mask: g.op('ne', x, g.f32(0)) }],
  sqrt: (g, d, r) => [g.op('div', d, times(g, r, 2))],
  rsqrt: (g, d, r) => [g.op('mul', times(g, d, -0.5), g.op('mul', r, g.op('mul', r, r)))],
  exp: (g, d, r) => [g.op('mul', d, r)],
  exp2: (g, d, r) => [g.op('mul', d, times(g, r, Math.LN2))],
  expm1: (g, d, r) => [g.op('mul', d, g.op('add', r, g.f32(1)))],
  log: (g, d, _r, x) => [g.op('div', d, x)],
  log2: (g, d, _r, x) => [g.op('div', d, times(g, x, Math.LN2))],
  log1p: (g, d, _r, x) => [g.op('div', d, g.op('add', x, g.f32(1)))],
  sin: (g, d, _r, x) => [g.op('mul', d, g.op('cos', x))],
  cos: (g, d, _r, x) => [g.op('neg', g.op('mul', d, g.op('sin', x)))],
  tanh: (g, d, r) => [g.op('mul', d, one(g, g.op('mul', r, r)))],
  sigmoid: (g, d, r) => [g.op('mul', d, g.op('mul', r, one(g, r)))],
  silu: (g, d, _r, x) => {
    const s = g.op('sigmoid', x);
    return [g.op('mul', d, g.op('mul', s, g.op('add', g.op('mul', x, one(g, s)), g.f32(1))))];
  },
  gelu: (g, d, _r, x) => {
    const scaled = times(g, x, Math.SQRT1_2);
    const share = times(g, g.op('add', g.op('erf', scaled), g.f32(1)), 0.5);
    const density = times(g, bell(g, scaled), 1 / Math.sqrt(2 * Math.PI));
    return [g.op('mul', d, g.op('add', share, g.op('mul', x, density)))];
  },
  geluTanh: (g, d, _r, x) => {
    const root = Math.sqrt(2 / Math.PI);
    const square = g.op('mul', x, x);
    const t = g.op('tanh', g.op('mul', times(g, x, root), g.op('add', times(g, square, 0.044715), g.f32(1))));
    const slope = times(g, g.op('add', times(g, square, 3 * 0.044715), g.f32(1)), root);
    const flat = one(g, g.op('mul', t, t));
    const steep = g.op('mul', times(g, x, 0.5), g.op('mul', flat, slope));
    // Far from 0 it is flat, and the slope overflows.
    const bend = g.op('select', g.op('eq', flat, g.f32(0)), flat, steep);
    return [g.op('mul', d, g.op('add', times(g, g.op('add', t, g.f32(1)), 0.5), bend))];
  },
  erf: (g, d, _r, x) => [g.op('mul', d, times(g, bell(g, x), 2 / Math.sqrt(Math.PI)))],
  select: (g, d, _r, c) => [undefined, { value: d, mask: c }, { value: d, mask: g.op('not', c) }],
};
