import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { gather, reshape, resize, run, slice, type Tensor } from '@concord/ops';
import { Kernels } from '@concord/ops/listen';
import { refuse } from '../errors.ts';
import { hostTensor, sizeOf } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import type { Num } from './elements.ts';
import type { Operators } from './operator.ts';

/** An axis of the result: how long it is, and where its places are among the old ones. */
interface Axis {
  readonly from: number;
  readonly to: number;
  readonly scale: number;
  /** The part that tf_crop_and_resize takes. */
  readonly roi: readonly [start: number, end: number];
}

/** The old places that a new one is made of, and their weights; none: it is the extrapolation value. */
type Taps = readonly (readonly [place: number, weight: number])[];

const f = Math.fround;

/** Places in float32, as ONNX Runtime works them out: a half is rounded otherwise where it is not met. */
const PLACES: Readonly<Record<string, (x: number, axis: Axis) => number>> = {
  half_pixel: (x, { scale }) => f(f(f(x + 0.5) / scale) - 0.5),
  half_pixel_symmetric: (x, { from, to, scale }) => {
    const offset = f(f(from / 2) * f(1 - f(to / f(scale * from))));
    return f(f(offset + f(f(x + 0.5) / scale)) - 0.5);
  },
  pytorch_half_pixel: (x, { to, scale }) => (to > 1 ? f(f(f(x + 0.5) / scale) - 0.5) : 0),
  tf_half_pixel_for_nn: (x, { scale }) => f(f(x + 0.5) / scale),
  // By the length before it is rounded, as in ONNX's own tests; ONNX Runtime takes the rounded one.
  align_corners: (x, { from, to, scale }) => {
    const length = Math.abs(scale * from - to) < 1e-4 ? to : scale * from;
    return to === 1 ? 0 : f(f(x * (from - 1)) / (length - 1));
  },
  asymmetric: (x, { scale }) => f(x / scale),
  tf_crop_and_resize: (x, { from, to, roi: [start, end] }) =>
    to > 1 ? f(start * (from - 1) + (x * (end - start) * (from - 1)) / (to - 1)) : 0.5 * (start + end) * (from - 1),
};

const ROUND: Readonly<Record<string, (x: number) => number>> = {
  // A half that float32 missed is one.
  round_prefer_floor: (x) => Math.ceil(x - 0.5 - 1e-6),
  round_prefer_ceil: (x) => Math.floor(x + 0.5 + 1e-6),
  floor: Math.floor,
  ceil: Math.ceil,
};

/** The weight of a place at a distance of the cubic filter. */
function cubic(distance: number, a: number): number {
  const x = Math.abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/** The old places around one, with the weights of the mode. */
function tapsAt(call: Call, mode: string, x: number, { from, scale }: Axis): Taps {
  const a = call.float('cubic_coeff_a', -0.75);
  const last = from - 1;
  const antialias = call.int('antialias', 0) === 1 && scale < 1;
  if (mode === 'linear' && !antialias) {
    const place = Math.min(Math.max(x, 0), last);
    const low = Math.floor(place);
    return [
      [low, 1 - (place - low)],
      [Math.min(low + 1, last), place - low],
    ];
  }
  const stretch = antialias ? 1 / scale : 1;
  const reach = (mode === 'linear' ? 1 : 2) * stretch;
  const first = antialias ? Math.ceil(x - reach) : Math.floor(x) - 1;
  const count = antialias ? Math.floor(x + reach) - first + 1 : 4;
  const weightOf = (distance: number): number =>
    mode === 'linear' ? Math.max(0, 1 - Math.abs(distance)) : cubic(distance, a);
  const all = Array.from({ length: count }, (_, i) => [first + i, weightOf((first + i - x) / stretch)] as const);
  const excludes = call.int('exclude_outside', 0) === 1;
  const kept = excludes ? all.filter(([place]) => place >= 0 && place <= last) : all;
  const sum = excludes || antialias ? kept.reduce((total, [, weight]) => total + weight, 0) : 1;
  return kept.map(([place, weight]) => [Math.min(Math.max(place, 0), last), weight / sum]);
}

const MAX_UNROLLED = 8;
const TABLES = {
  x: { type: 'f32', access: 'gather', rank: 3 },
  places: { type: 'i32', access: 'gather', rank: 2 },
  weights: { type: 'f32', access: 'gather', rank: 2 },
} as const;
const kernels = new Kernels();

/** Sums of old places along the middle axis, each with its weight; the last column of weights is added. */
function resampler(taps: number): Kernel {
  return defineKernel('resample', { inputs: TABLES }, ({ x, places, weights }, k) => {
    const [outer, at, inner] = [0, 1, 2].map((axis) => k.index(axis)) as [Value<'u32'>, Value<'u32'>, Value<'u32'>];
    const tap = (i: Value<'u32'>): Num =>
      k.mul(k.gather(weights, [at, i], 0), k.gather(x, [outer, k.gather(places, [at, i], 0), inner], 0));
    if (taps > MAX_UNROLLED) return { y: k.fold('sum', tap(k.index(3))) };
    const added = k.gather(weights, [at, k.u32(taps)], 0);
    return { y: Array.from({ length: taps }, (_, i) => tap(k.u32(i))).reduce((sum, each) => k.add(sum, each), added) };
  });
}

/** The axis with each place made of old ones. */
function resampled(call: Call, x: Tensor, axis: number, taps: readonly Taps[], outside: number): Tensor {
  const shape = [...x.shape.slice(0, axis), taps.length, ...x.shape.slice(axis + 1)];
  const count = Math.max(1, ...taps.map((each) => each.length));
  if (count > MAX_UNROLLED && taps.some((each) => each.length === 0)) call.refuse('extrapolation with antialias');
  const row = (each: Taps, i: 0 | 1): number[] => Array.from({ length: count }, (_, at) => each[at]?.[i] ?? 0);
  const all = taps.flatMap((each) => row(each, 0));
  const places = call.toDevice(hostTensor('int32', [taps.length, count], all));
  const added = taps.map((each) => [...row(each, 1), each.length === 0 ? outside : 0]);
  const weights = call.toDevice(hostTensor('float32', [taps.length, count + 1], added.flat()));
  const parted = reshape(x, [sizeOf(x.shape.slice(0, axis)), x.shape[axis] as number, sizeOf(x.shape.slice(axis + 1))]);
  const isFolded = count > MAX_UNROLLED;
  const domain = [parted.shape[0] as number, taps.length, parted.shape[2] as number, ...(isFolded ? [count] : [])];
  const unrolled = isFolded ? MAX_UNROLLED + 1 : count;
  const kernel = kernels.of(`resample ${unrolled}`, () => resampler(unrolled));
  const options = { shape: domain, dtypes: { y: x.dtype } };
  const { y } = run(kernel, { x: parted, places, weights }, options) as { y: Tensor };
  return reshape(y, shape);
}

/** The axes of the result. */
function axesOf(call: Call): Axis[] {
  const dims = call.dims(0);
  const isOld = call.version < 11;
  const listed = call.list('axes')?.map((axis) => call.axis(axis)) ?? dims.map((_, axis) => axis);
  const of = (list: readonly number[] | undefined): readonly number[] | undefined => {
    if (list === undefined || list.length === 0) return undefined;
    if (list.length !== listed.length) throw refuse(`${list.length} scales or sizes for ${listed.length} axes`);
    return list;
  };
  const scales = of(isOld ? call.ints(1, 'scales') : call.has(2) ? call.numbers(2) : undefined);
  const sizes = of(!isOld && call.has(3) ? call.numbers(3) : undefined);
  const roi = !isOld && call.has(1) ? call.numbers(1) : [];
  if ((scales === undefined) === (sizes === undefined)) throw refuse('there must be either scales or sizes');
  const policy = call.choice('keep_aspect_ratio_policy', 'stretch', 'not_larger', 'not_smaller');
  const ratios = sizes?.map((size, i) => size / (dims[listed[i] as number] as number)) ?? [];
  const kept = policy === 'stretch' ? undefined : policy === 'not_larger' ? Math.min(...ratios) : Math.max(...ratios);
  return dims.map((from, axis): Axis => {
    const i = listed.indexOf(axis);
    if (i < 0) return { from, to: from, scale: 1, roi: [0, 1] };
    const scale = f(sizes === undefined ? (scales?.[i] as number) : (kept ?? (sizes[i] as number) / from));
    const to =
      sizes === undefined ? Math.floor(from * scale) : kept ? Math.floor(from * kept + 0.5) : (sizes[i] as number);
    return { from, to, scale, roi: [roi[i] ?? 0, roi[i + listed.length] ?? 1] };
  });
}

/** Resizes by the fused function of ops, if its places are those of the node. */
function atOnce(call: Call, axes: readonly Axis[], mode: string, how: string, nearest: string): Tensor | undefined {
  const [n, c, h, w] = axes;
  const isImage = axes.length === 4 && [n, c].every((axis) => axis?.to === axis?.from);
  if (!isImage || h === undefined || w === undefined || call.int('antialias', 0) !== 0) return undefined;
  const fits = (test: (axis: Axis) => boolean): boolean => [h, w].every(test);
  if (!fits(({ from, to, scale }) => Math.abs(scale * from - to) < 1e-4 && to > 1)) return undefined;
  const size = [h.to, w.to] as const;
  if (mode === 'nearest') {
    // Others are rounded in float32.
    const isWhole = how === 'asymmetric' && nearest === 'floor' && fits(({ from, to }) => to % from === 0);
    return isWhole ? resize(call.x(0), size, { mode }) : undefined;
  }
  const isEdges = how === 'half_pixel' || how === 'pytorch_half_pixel';
  if (mode !== 'linear' || (!isEdges && how !== 'align_corners')) return undefined;
  return resize(call.x(0), size, { mode: 'bilinear', alignCorners: !isEdges });
}

function resizeOp(call: Call): Results {
  const mode = call.choice('mode', 'nearest', 'linear', 'cubic');
  const isOld = call.version < 11;
  const how = isOld ? 'asymmetric' : call.text('coordinate_transformation_mode', 'half_pixel');
  const nearest = call.text('nearest_mode', 'round_prefer_floor');
  const placeOf = PLACES[how] ?? call.refuse(`coordinate_transformation_mode ${how}`);
  const axes = axesOf(call);
  if (axes.some(({ from, to }) => from === 0 || to === 0)) return call.refuse('an empty image');
  if (mode !== 'nearest') call.floats(0);
  const made = atOnce(call, axes, mode, how, isOld ? 'floor' : nearest);
  if (made !== undefined) return made;
  const outside = call.float('extrapolation_value', 0);
  return axes.reduce((x, own, axis) => {
    const { from, to, scale } = own;
    const isWhole = how === 'tf_crop_and_resize' && (own.roi[0] !== 0 || own.roi[1] !== 1);
    if (from === to && scale === 1 && !isWhole) return x;
    const all = Array.from({ length: to }, (_, i) => placeOf(i, own));
    const isOut = (place: number): boolean => how === 'tf_crop_and_resize' && (place < 0 || place > from - 1);
    // Before operator set 11 ONNX Runtime rounds up where an axis gets shorter.
    const old = scale < 1 ? Math.ceil : Math.floor;
    const round = isOld ? old : (ROUND[nearest] ?? call.refuse(`nearest_mode ${nearest}`));
    const nearestTo = (place: number): number => Math.min(Math.max(round(place), 0), from - 1);
    if (mode === 'nearest' && !all.some(isOut))
      return gather(x, call.toDevice(hostTensor('int32', [to], all.map(nearestTo))), { axis });
    call.floats(0);
    const tapsOf = (place: number): Taps =>
      mode === 'nearest' ? [[nearestTo(place), 1]] : tapsAt(call, mode, place, own);
    const taps = all.map((place) => (isOut(place) ? [] : tapsOf(place)));
    return resampled(call, x, axis, taps, outside);
  }, call.x(0));
}

const GRID = { x: { type: 'f32', access: 'gather', rank: 4 }, across: 'f32', down: 'f32' } as const;

/** A place mirrored at the ends until it is between them. */
function mirrored(k: KernelBuilder, x: Num, low: Num, high: Num): Num {
  const range = k.sub(high, low);
  // Of one place there is none to be mirrored at.
  const lap = k.max(k.mul(range, 2), 1);
  const away = k.sub(x, low);
  const inLap = k.sub(away, k.mul(k.floor(k.div(away, lap)), lap));
  return k.add(k.sub(range, k.abs(k.sub(inLap, range))), low);
}

function sampler(mode: string, padding: string, corners: boolean): Kernel {
  return defineKernel(`sample ${mode}`, { inputs: GRID, params: { height: 'f32', width: 'f32' } }, (symbols, k) => {
    const { x } = symbols;
    const line = (size: Num, given: Num): { place: Num; bounded: (place: Num) => Num } => {
      const [low, high] = corners ? [k.f32(0), k.sub(size, 1)] : [k.f32(-0.5), k.sub(size, 0.5)];
      const bounded = (place: Num): Num =>
        padding === 'border'
          ? k.min(k.max(place, 0), k.sub(size, 1))
          : padding === 'reflection'
            ? mirrored(k, place, low, high)
            : place;
      const half = k.mul(k.add(given, 1), 0.5);
      const place = corners ? k.mul(half, k.sub(size, 1)) : k.sub(k.mul(half, size), 0.5);
      // Of a cubic one only what it reads is bounded.
      return { place: mode === 'cubic' ? place : bounded(mode === 'nearest' ? k.round(place) : place), bounded };
    };
    const [down, across] = [line(symbols.height, symbols.down), line(symbols.width, symbols.across)];
    const at = (row: Num, column: Num): Num => {
      const [r, c] = [k.toI32(k.round(down.bounded(row))), k.toI32(k.round(across.bounded(column)))];
      return k.gather(x, [k.index(0), k.index(1), r, c], 0);
    };
    if (mode === 'nearest') return { y: at(down.place, across.place) };
    const [top, left] = [k.floor(down.place), k.floor(across.place)];
    const weights = (share: Num): Num[] => {
      if (mode === 'linear') return [k.sub(1, share), share];
      const cubicNear = (d: Num): Num => k.add(k.mul(k.mul(k.sub(k.mul(d, 1.25), 2.25), d), d), 1);
      const cubicFar = (d: Num): Num => k.add(k.mul(k.sub(k.mul(k.add(k.mul(d, -0.75), 3.75), d), 6), d), 3);
      const rest = k.sub(1, share);
      return [cubicFar(k.add(share, 1)), cubicNear(share), cubicNear(rest), cubicFar(k.add(rest, 1))];
    };
    const start = mode === 'linear' ? 0 : -1;
    const sum = (terms: Num[]): Num => terms.reduce((a, b) => k.add(a, b));
    const columns = weights(k.sub(across.place, left));
    const rows = weights(k.sub(down.place, top)).map((weight, i) =>
      k.mul(weight, sum(columns.map((each, j) => k.mul(each, at(k.add(top, start + i), k.add(left, start + j)))))),
    );
    return { y: sum(rows) };
  });
}

function gridSample(call: Call): Results {
  call.floats(0, 1);
  const [x, grid] = [call.x(0), call.x(1)];
  if (x.rank !== 4) return call.refuse(`a grid of ${x.rank - 2} axes`);
  // Before operator set 20 they are bilinear and bicubic.
  const mode = call.choice('mode', 'bilinear', 'linear', 'nearest', 'bicubic', 'cubic').replace(/^bi/, '');
  const padding = call.choice('padding_mode', 'zeros', 'border', 'reflection');
  const corners = call.int('align_corners', 0) === 1;
  const kernel = kernels.of(`${mode} ${padding} ${corners}`, () => sampler(mode, padding, corners));
  const [n = 0, c = 0, height = 0, width = 0] = x.shape;
  const [, down = 0, across = 0] = grid.shape;
  const part = (i: number): Tensor => reshape(slice(grid, [null, null, null, i]), [n, 1, down, across]);
  const inputs = { x, across: part(0), down: part(1) };
  const options = { shape: [n, c, down, across], params: { height, width }, dtypes: { y: x.dtype } };
  return (run(kernel, inputs as never, options) as { y: Tensor }).y;
}

/** Operators that read images between their places. */
export const RESIZE: Operators = {
  Resize: { needs: [1, 2, 3], run: resizeOp },
  Upsample: { needs: [1], run: resizeOp },
  GridSample: gridSample,
};
