import { BackendError } from '@concord/backend-core';
import { type CheckedConv2d, ListCache } from '@concord/backend-core/implement';
import {
  type CheckedRun,
  checkedRun,
  defineKernel,
  type GatherInput,
  type Kernel,
  type KernelBuilder,
  type Value,
} from '@concord/backend-core/kernel';

// A transposed convolution as ordinary ones. The taps that meet in an output are those of one phase of the filter: along an
// axis, tap r is of phase r modulo stride / gcd(stride, dilation). The taps of a phase convolve the image with stride 1, and
// place j of phase f is the output `j * stride + f * dilation - padding`. Phases of equally many taps are filters of one
// convolution, so that no tap is computed that is none: up to four convolutions, whose places are then gathered.

/** Phases of a filter with equally many taps, along one axis. */
interface Phases {
  readonly first: number;
  readonly count: number;
  readonly taps: number;
  /** Places of each phase. */
  readonly places: number;
}

/** One axis of a transposed convolution. */
interface Axis {
  /** The size of the image. */
  readonly size: number;
  readonly stride: number;
  readonly dilation: number;
  readonly padding: number;
  /** Phases of the filter, and what `stride` and `dilation` have in common. */
  readonly phases: number;
  readonly common: number;
  readonly parts: readonly Phases[];
}

/** One of the ordinary convolutions. */
interface Part {
  /** Makes its filter, flipped, of the call's. */
  readonly filter: CheckedRun;
  /** The fields of its call that are not those of the transposed one. */
  readonly change: Pick<
    CheckedConv2d,
    'filterShape' | 'outputShape' | 'stride' | 'padding' | 'dilation' | 'transposed'
  >;
}

/** Sizes up to which all places and elements have 32-bit numbers, and phases products. */
const MAX_LENGTH = 2 ** 31;
const MAX_STRIDE = 2 ** 16;
/** Kernels in each of two generations. */
const MAX_KERNELS = 64;

const kernels = new ListCache<Kernel>(MAX_KERNELS);

/** A transposed convolution as ordinary convolutions, and how its output is gathered from theirs. */
export class TransposedConvolution {
  readonly parts: readonly Part[];
  readonly #call: CheckedConv2d;
  readonly #axes: readonly [Axis, Axis];

  /** @throws {BackendError} UNSUPPORTED for strides from 2^16 and lengths from 2^31 on */
  constructor(call: CheckedConv2d) {
    this.#call = call;
    this.#axes = [axisOf(call, 0), axisOf(call, 1)];
    const [rows, columns] = this.#axes;
    this.parts = rows.parts.flatMap((ofRows) => columns.parts.map((ofColumns) => this.#part(ofRows, ofColumns)));
  }

  /** The convolution that gives the output itself, if one does: without stride, and with no more padding than its filter reaches. */
  get whole(): Part | undefined {
    const [part] = this.parts as [Part];
    const { padding, outputShape, stride } = this.#call;
    const [top, left] = [part.change.padding[0] - padding[0], part.change.padding[1] - padding[1]];
    const [bottom, right] = this.#axes.map(
      ({ size }, axis) =>
        (outputShape[axis + 2] as number) -
        size +
        (part.change.padding[axis] as number) -
        ([top, left][axis] as number),
    ) as [number, number];
    if (Math.max(...stride) > 1 || Math.min(top, left, bottom, right) < 0) return undefined;
    return { ...part, change: { ...part.change, outputShape, padding: [top, left, bottom, right] } };
  }

  /** Gathers the output from those of the parts, as that dtype. */
  gather(dtype: CheckedConv2d['dtype']): CheckedRun {
    const { outputShape } = this.#call;
    const inputs = this.parts.map(({ change }, index) => {
      const [n, k, ...places] = change.outputShape;
      const { count } = this.#phasesOf(index)[1];
      return [`part${index}`, { shape: [(n * k) / count, count, ...places] }];
    });
    return checkedRun(this.#gatherKernel(), {
      shape: outputShape,
      inputs: Object.fromEntries(inputs),
      outputs: { y: { dtype } },
    });
  }

  #phasesOf(index: number): readonly [Phases, Phases] {
    const [rows, columns] = this.#axes;
    const perRow = columns.parts.length;
    return [rows.parts[Math.floor(index / perRow)] as Phases, columns.parts[index % perRow] as Phases];
  }

  #part(rows: Phases, columns: Phases): Part {
    const { inputShape, filterShape, groups, dtype } = this.#call;
    const [n, c] = inputShape;
    const [, filters, height, width] = filterShape;
    const perGroup = c / groups;
    const [dilationH, dilationW] = this.#axes.map(({ dilation, common }) => dilation / common) as [number, number];
    const [top, left] = [(rows.taps - 1) * dilationH, (columns.taps - 1) * dilationW];
    const k = groups * filters * rows.count * columns.count;
    if (n * k >= MAX_LENGTH) throw new BackendError('UNSUPPORTED', `${n} x ${k} planes exceed 2^31`);
    return {
      filter: checkedRun(this.#filterKernel(rows, columns), {
        shape: [groups, filters, rows.count, columns.count, perGroup, rows.taps, columns.taps],
        inputs: { filter: { shape: [c, filters, height, width], dtype } },
        outputs: {},
      }),
      change: {
        filterShape: [k, perGroup, rows.taps, columns.taps],
        outputShape: [n, k, rows.places, columns.places],
        stride: [1, 1],
        padding: [top, left, rows.places - this.#axes[0].size, columns.places - this.#axes[1].size],
        dilation: [dilationH, dilationW],
        transposed: false,
      },
    };
  }

  /** The kernel over groups, filters, phases of rows and of columns, channels, rows and columns. */
  #filterKernel(rows: Phases, columns: Phases): Kernel {
    const [period, periodW] = this.#axes.map(({ phases }) => phases) as [number, number];
    return kept(['filter', rows.first, period, columns.first, periodW], () =>
      defineKernel(
        'flipped filter',
        { inputs: { filter: { type: 'f32', access: 'gather', rank: 4 } } },
        (inputs, k) => {
          const tap = (phase: number, axis: number, { first }: Phases, stride: number): Value<'u32'> => {
            const fromEnd = k.sub(k.sub(k.extent(axis), 1), k.index(axis));
            return k.add(k.add(k.index(phase), first), k.mul(fromEnd, stride));
          };
          const channel = k.add(k.mul(k.index(0), k.extent(4)), k.index(4));
          const at = [channel, k.index(1), tap(2, 5, rows, period), tap(3, 6, columns, periodW)];
          return { y: k.gather(inputs.filter, at, 0) };
        },
      ),
    );
  }

  #gatherKernel(): Kernel {
    const axes = this.#axes;
    const ofAxes = axes.flatMap(({ stride, dilation, padding, phases, parts }) => [
      ...[stride, dilation, padding, phases],
      ...[parts.length, parts[0]?.count],
    ]);
    return kept(['gather', ...ofAxes], () => {
      const inputs = Object.fromEntries(
        this.parts.map((_, index) => [`part${index}`, { type: 'f32', access: 'gather', rank: 4 } as const]),
      );
      return defineKernel('transposed places', { inputs }, (given, k) => {
        const [row, column] = [placeOf(k, axes[0], 2), placeOf(k, axes[1], 3)];
        const plane = k.add(k.mul(k.index(0), k.extent(1)), k.index(1));
        let y: Value<'f32'> | undefined;
        for (const index of this.parts.keys()) {
          const [rows, columns] = this.#phasesOf(index);
          const ofRows = k.sub(row.phase, rows.first);
          const line = k.select(k.lt(ofRows, rows.count), k.add(k.mul(plane, rows.count), ofRows), NONE);
          const at = [line, k.sub(column.phase, columns.first), row.place, column.place];
          y = k.gather(given[`part${index}`] as GatherInput<'f32'>, at, y ?? 0);
        }
        return { y: y as Value<'f32'> };
      });
    });
  }
}

/** An index that no input has. */
const NONE = 2 ** 32 - 1;

/** The phase of an output along an axis of the domain, and its place there; integers wrap, so that those below 0 are none. */
function placeOf(
  k: KernelBuilder,
  { stride, dilation, padding, common }: Axis,
  axis: number,
): { readonly phase: Value<'u32'>; readonly place: Value<'u32'> } {
  const at = k.add(k.index(axis), padding);
  const [rest, period] = [k.rem(at, stride), stride / common];
  const residue = k.rem(k.mul(k.div(rest, common), inverse(dilation / common, period)), period);
  const phase = k.select(k.eq(k.rem(rest, common), 0), residue, NONE);
  return { phase, place: k.div(k.sub(at, k.mul(phase, dilation)), stride) };
}

function axisOf({ inputShape, filterShape, outputShape, stride, padding, dilation }: CheckedConv2d, axis: 0 | 1): Axis {
  const [size, taps, places] = [inputShape[axis + 2], filterShape[axis + 2], outputShape[axis + 2]] as [
    number,
    number,
    number,
  ];
  const own = { size, stride: stride[axis], dilation: dilation[axis], padding: padding[axis] };
  const most = Math.max(own.padding + places, size * own.stride, taps * own.dilation);
  if (most >= MAX_LENGTH || own.stride >= MAX_STRIDE) {
    const what = `of ${most} with stride ${own.stride}`;
    throw new BackendError('UNSUPPORTED', `an axis ${what} of a transposed convolution exceeds 2^31 or 2^16`);
  }
  const common = divisor(own.stride, own.dilation);
  const phases = Math.min(own.stride / common, taps);
  const longer = taps % phases;
  const least = Math.floor(taps / phases);
  const part = (first: number, count: number, ofPhase: number): Phases => {
    const last = Math.floor((own.padding + places - 1 - first * own.dilation) / own.stride);
    const reached = size + ((ofPhase - 1) * own.dilation) / common;
    return { first, count, taps: ofPhase, places: Math.max(size, Math.min(reached, last + 1)) };
  };
  const parts = [part(0, longer, least + 1), part(longer, phases - longer, least)];
  return { ...own, phases, common, parts: parts.filter(({ count }) => count > 0) };
}

function kept(key: readonly unknown[], make: () => Kernel): Kernel {
  let kernel = kernels.get(key);
  if (kernel === undefined) {
    kernel = make();
    kernels.add(key, kernel);
  }
  return kernel;
}

/** The greatest common divisor. */
function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** The number whose product with one that has no divisor in common with `modulus` is 1 there. */
function inverse(x: number, modulus: number): number {
  let result = 0;
  while ((result * (x % modulus)) % modulus !== 1 % modulus) result++;
  return result;
}
