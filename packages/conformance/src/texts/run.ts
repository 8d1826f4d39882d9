import type { CaseText, CheckTexts } from '../harness/case-text.ts';
import { UNTOUCHED } from '../harness/case-text.ts';
import type { RunParams } from '../run/params.ts';

/** The parts of an interval, for every check of `run`. */
const BOUND = {
  formula: 'the interval of the output, see docs/numerics.md',
  where: {
    node: 'the image of its operands, widened by the grant of its function; sums by gamma(d) sum max(|lo|, |hi|)',
    exact: 'integers, bits, min, max, select, and sums and products that float32 holds',
  },
} as const;

const PASSES = `Every element of every output lies in its interval, NaN exactly where it belongs, and bits that are only copied are kept. What lies between the elements of a view is untouched. ${UNTOUCHED}`;

const DATA: Readonly<Record<string, string>> = {
  small: 'integers from -8 to 8, or 0 to 16',
  factors: 'ones, one in ten 2, 0.5 or -1, or an integer up to 9',
  moderate: 'uniform in [-4, 4); integers from -8 to 8',
  functions: 'random signs, magnitudes from 2^-12 to 2^7',
  any: 'float32 of all exponents; integers of 32 random bits, one in five at a limit',
  bits: 'random bits: NaN with payloads, infinities and subnormals among them',
  specials:
    'all pairs of NaN, infinities, zeros, subnormals, limits, and values where functions bend; limits of integers',
  'rare-specials': 'small integers, about every second row with a NaN, an infinity or a limit',
  spike: 'small integers, and 1,000 once a row: first, last, at edges of tiles',
  'low-spike': 'integers around 20, and -1,000 (1 without a sign) once a row: first, last, at edges of tiles',
  huge: 'uniform in [2e38, 3.3e38), all of one sign',
  equal: 'one value',
  'same-float': 'one value with all bits of its mantissa in use',
  borders:
    'every value where a narrower dtype rounds to even, becomes subnormal, zero or infinite, or saturates, and its neighbours',
  indices: 'indices from -3 to 12, inside and outside of each axis; small integers',
};

function layoutOf({ shape, folded, views, dtype, place, offset }: RunParams): string {
  const rows = folded === 0 ? '' : `, the last ${folded} folded`;
  const stored = dtype === 'own' ? '' : `, stored as ${dtype === 'mixed' ? 'mixed dtypes' : dtype}`;
  const moved = offset === 0 ? '' : `, ${offset} elements off the alignment of their allocation`;
  return `Over [${shape.join(', ')}]${rows}; operands ${views}, ${place}${stored}${moved}.`;
}

const judged = (params: RunParams, does: string): CaseText => ({
  does: `${does} ${layoutOf(params)}`,
  inputs: DATA[params.data] ?? params.data,
  ...{ kind: 'bounded', passes: PASSES, bound: BOUND },
});

/** The words of the checks of run. */
export const RUN_TEXTS: CheckTexts<RunParams> = {
  node: (params) =>
    judged(
      params,
      `Computes ${params.kernel} of ${params.type}: of what is loaded, of one value twice, and of differences, products and quotients of it.`,
    ),
  constant: (params) =>
    judged(
      params,
      `Computes ${params.kernel} of ${params.type} and five constants, which nothing may fold away wrongly.`,
    ),
  'constant-first': (params) =>
    judged(
      params,
      `Computes ${params.kernel} of five constants and ${params.type}, which nothing may fold away wrongly.`,
    ),
  fold: (params) => judged(params, `Folds rows by ${params.kernel} of ${params.type}.`),
  kernel: (params) => judged(params, `Runs the kernel "${params.kernel}".`),
  narrowed: (params) =>
    judged(
      params,
      `Runs the kernel "${params.kernel}" on inputs of its own types, and stores its outputs in ${params.dtype}.`,
    ),
  gather: (params) => judged(params, `Runs the kernel "${params.kernel}", which reads a tensor by index.`),
  scatter: (params) => judged(params, `Runs the kernel "${params.kernel}", which writes a tensor by index.`),
  scan: (params) => judged(params, `Runs the kernel "${params.kernel}", which scans rows.`),
  maximal: (params) => judged(params, `Runs a kernel of ${params.seed} nodes and as many operands as there may be.`),
  long: (params) =>
    judged(
      params,
      `Runs the kernel "${params.kernel}" over more elements than one dimension of 65,535 workgroups holds, 1,021 values over and over.`,
    ),
  drawn: (params) => judged(params, `Runs a random kernel, drawn from ${params.seed} in the style ${params.style}.`),
  repeat: (params) => ({
    does: `Runs the kernel "${params.kernel}" twice. ${layoutOf(params)}`,
    inputs: DATA[params.data] ?? params.data,
    kind: 'property',
    passes: `Both calls give the same bits. ${UNTOUCHED}`,
  }),
};
