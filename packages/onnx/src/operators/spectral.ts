import { conv2d, linear, mul, pad, reshape, slice, type Tensor, transpose } from '@concord/ops';
import { elementType, type HostTensor, hostTensor } from '../graph/host-tensor.ts';
import type { Call } from '../run/call.ts';
import type { Operators } from './operator.ts';

/** Elements of the largest table of a transform: one of 4,096 real numbers, of which half the result is wanted, has 2^24. */
const MAX_TABLE = 2 ** 25;

/** A table of a transform, `[rows, columns]`, of the numbers that a function gives for each row and column. */
function tableOf(call: Call, rows: number, columns: number, value: (row: number, column: number) => number): Tensor {
  if (rows * columns > MAX_TABLE) call.refuse(`a transform by a table of ${rows} by ${columns}`);
  const data = Float32Array.from({ length: rows * columns }, (_, at) => value(Math.floor(at / columns), at % columns));
  return call.toDevice(hostTensor('float32', [rows, columns], data));
}

/** The angle of place n in a wave of a bin, for the largest n exactly too. */
const angleOf = (bin: number, n: number, size: number): number => (2 * Math.PI * ((bin * n) % size)) / size;

/**
 * The table of a discrete Fourier transform by its definition, `[2 bins, parts size]`: from numbers of one or two parts (real,
 * imaginary) to both.
 */
function forward(call: Call, bins: number, parts: number, size: number, isInverse = false): Tensor {
  const [sign, factor] = isInverse ? [-1, 1 / size] : [1, 1];
  return tableOf(call, 2 * bins, parts * size, (row, column) => {
    const [to, from] = [row % 2, Math.floor(column / size)];
    const angle = angleOf(Math.floor(row / 2), column % size, size);
    return factor * (to === from ? Math.cos(angle) : (from - to) * sign * Math.sin(angle));
  });
}

/** The table from the bins of one side, two parts of each, to real numbers, `[size, 2 bins]`: the other side is its mirror. */
function backward(call: Call, bins: number, size: number): Tensor {
  return tableOf(call, size, 2 * bins, (n, column) => {
    const [part, bin] = [Math.floor(column / bins), column % bins];
    const angle = angleOf(bin, n, size);
    return ((bin === 0 || 2 * bin === size ? 1 : 2) / size) * (part === 0 ? Math.cos(angle) : -Math.sin(angle));
  });
}

const binsOf = (call: Call, size: number, isOneSided: number): number => {
  if (size < 1) call.refuse(`a transform of ${size} numbers`);
  return call.int('onesided', isOneSided) === 1 ? Math.floor(size / 2) + 1 : size;
};

/** Numbers `[..., parts]` along an axis as their frequencies `[..., 2]`, or back: one product. */
function dft(call: Call): Tensor {
  call.floats(0);
  const x = call.x(0);
  const [isInverse, isOneSided] = [call.int('inverse', 0) === 1, call.int('onesided', 0) === 1];
  const axis = call.axis(call.node.version < 20 ? call.int('axis', 1) : call.scalar(2, -2));
  const [given, parts, last] = [x.shape[axis] as number, x.shape.at(-1) as number, x.rank - 1];
  const isReal = isInverse && isOneSided;
  if (axis === last || parts > 2 || (isReal && parts === 1))
    call.refuse(`the axis ${axis} of numbers of ${parts} parts`);
  const size = call.scalar(1, isReal ? 2 * (given - 1) : given);
  const bins = binsOf(call, size, 0);
  // What fits otherwise is padded or cut in one way by ONNX's text, in another by ONNX Runtime.
  if (isReal && bins !== given) call.refuse(`one side of ${given} numbers of a signal of ${size}`);
  const wanted = isReal ? given : size;
  // The axis comes last, after the parts.
  let along = transpose(transpose(x, axis, last - 1), last - 1, last);
  const others = along.shape.slice(0, -1);
  if (wanted < given) along = slice(along, [...others.map(() => null), [0, wanted]]);
  else if (wanted > given) along = pad(along, [...others.map(() => [0, 0] as const), [0, wanted - given]]);
  const rows = along.shape.slice(0, -2);
  const weight = isReal ? backward(call, bins, size) : forward(call, bins, parts, size, isInverse);
  const product = linear(reshape(along, [...rows, parts * wanted]), weight);
  return transpose(reshape(product, [...rows, ...(isReal ? [size, 1] : [bins, 2])]), axis, last - 1);
}

/** Frames of a signal `[batch, length, parts]` as their frequencies `[batch, frames, bins, 2]`: one convolution. */
function stft(call: Call): Tensor {
  call.floats(0);
  const given = call.x(0);
  const signal = given.rank === 2 ? reshape(given, [...given.shape, 1]) : given;
  const [batch = 0, length = 0, parts = 1] = signal.shape;
  const window = call.maybe(2);
  const size = call.scalar(3, window?.size ?? length);
  const step = call.scalar(1);
  if (size > length || step < 1 || parts > 2 || (window !== undefined && window.size !== size))
    call.refuse(`frames of ${size} by ${step} of ${length} numbers`);
  const bins = binsOf(call, size, 1);
  const filters = reshape(forward(call, bins, parts, size), [2 * bins, parts, 1, size]);
  const planes = reshape(transpose(signal, 1, 2), [batch, parts, 1, length]);
  const y = conv2d(planes, window === undefined ? filters : mul(filters, window), { stride: [1, step] });
  const frames = y.shape[3] as number;
  // [batch, bins, 2, frames]
  return transpose(transpose(reshape(y, [batch, bins, 2, frames]), 1, 3), 2, 3);
}

/** `[dft_length / 2 + 1, num_mel_bins]`: triangles between places that are equally far apart in mel. */
function melWeightMatrix(call: Call): HostTensor {
  const [mels, length, rate] = [call.scalar(0), call.scalar(1), call.scalar(2)];
  const [low, high] = [call.scalar(3), call.scalar(4)];
  const toMel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
  const step = (toMel(high) - toMel(low)) / (mels + 2);
  const places = Array.from({ length: mels + 2 }, (_, i) => {
    const hertz = 700 * (10 ** ((toMel(low) + i * step) / 2595) - 1);
    return Math.floor(((length + 1) * hertz) / rate);
  });
  const bins = Math.floor(length / 2) + 1;
  const weights = Array.from({ length: bins * mels }, (_, at) => {
    const [bin, mel] = [Math.floor(at / mels), at % mels];
    const [from, middle, to] = places.slice(mel, mel + 3) as [number, number, number];
    if (bin === middle) return 1;
    if (bin > from && bin < middle) return (bin - from) / (middle - from);
    return bin > middle && bin < to ? (to - bin) / (to - middle) : 0;
  });
  return hostTensor(elementType('attribute output_datatype', call.int('output_datatype', 1)), [bins, mels], weights);
}

/** Operators of frequencies. */
export const SPECTRAL: Operators = {
  DFT: { run: dft, needs: [1, 2] },
  STFT: { run: stft, needs: [1, 3] },
  MelWeightMatrix: { host: melWeightMatrix },
};
