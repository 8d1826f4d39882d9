import { ofType, type WeightForm } from '@concord/variants';
import { type FloatDType, type StoredFloatDType, WEIGHT_BITS } from '@concord/backend-core';
import { mainOf, type StorageBinding, type UniformType } from '../kernel.ts';
import { decoderOf, integerZero, scaledWeight } from './integer-words.wgsl.ts';
import { repeat, storeC } from '../wgsl/snippets.ts';
import { inPairs, MATVEC_EACH, MATVEC_PLACE, MATVEC_UNIFORMS, type MatvecGroup } from './matvec.wgsl.ts';
import { type ProductKernel, productKernel } from './product-kernel.ts';
import {
  featuresFor,
  inputType,
  type OutputFormat,
  outputType,
  readFunction,
  storeFunction,
} from './storage-formats.ts';

/** The parameters that distinguish the kernels of a product of few rows and weights of a type of their own. */
export interface WeightRowsParams extends WeightForm {
  /** Storage of A. */
  readonly input: FloatDType;
  /** Storage of the result, or of the sums that stand in for it. */
  readonly output: Exclude<OutputFormat, 'half-words'>;
  /** Rows of A that an invocation has sums for: 1, 2, 4 or 8. */
  readonly lines: number;
  /** A, and weights of floats, are read by vectors. */
  readonly wide: boolean;
  /** Words of B that are read at once; one where it is not wide. */
  readonly words: 1 | 2 | 4;
  /** Rows of B that an invocation has sums for. */
  readonly each: 2 | 4;
  readonly group: MatvecGroup;
}

/** The most rows of A. */
export const MOST_LINES = 8;

/** Uniforms of the integers of a matrix. */
export const BLOCK_UNIFORMS: Readonly<Record<string, UniformType>> = {
  // Turns the sign bits of signed integers, and what is subtracted from all integers then.
  flip: 'u32',
  zero_of_all: 'f32',
  // log2 of the units of a block.
  ...ofType('u32', 'block_shift s_start s_batch s_row s_block z_start z_batch z_row z_block'),
  // Whether zeros that are floats are f16.
  z_halves: 'u32',
};

/** Uniforms of these kernels beside those of a matrix and a vector: `a` is B by its words, `b` is A. */
export const WEIGHT_UNIFORMS: Readonly<Record<string, UniformType>> = {
  ...MATVEC_UNIFORMS,
  // Rows of A, elements between them and between those of C.
  ...ofType('u32', 'lines b_ld c_ld'),
  ...BLOCK_UNIFORMS,
};

/** The parameters that tell how B is read. */
type Reading = Pick<WeightRowsParams, 'weights' | 'lines'>;

/**
 * Words of B that are read at once by kernels that are wide, the most first: all that one read can bring, if its elements do not take
 * too many registers, and for rows that are no whole number of those half of them.
 */
export function wordsOf({ weights, lines }: Reading): readonly [most: 2 | 4, ...fewer: (1 | 2)[]] {
  if (weights === 'f32') return [4];
  return weights === 'u4' && lines > 1 ? [2, 1] : [4, 2];
}

/** Elements of B in a unit: what is read at once. */
export function unitOf({ weights, words }: Pick<WeightRowsParams, 'weights' | 'words'>): number {
  return (words * 32) / WEIGHT_BITS[weights];
}

/** Elements of A that are read at once by a kernel that is wide. */
export function aAtOnce(input: FloatDType, unit: number): 4 | 8 {
  return input === 'f16' && unit % 8 === 0 ? 8 : 4;
}

/** WGSL: four of the eight elements in four words of A. */
const HALVES = /* wgsl */ `
fn halves(words: vec2u) -> vec4f { return vec4f(unpack2x16float(words.x), unpack2x16float(words.y)); }`;

/** Units of a row that an invocation asks for before it uses the first: where one has the most elements, no more of them. */
function unrollOf({ weights, lines }: Reading): 1 | 2 {
  return weights === 'u4' || (weights === 'u8' && lines > 1) ? 1 : 2;
}

/** Rows of B that an invocation may have sums for, the fewest first: more where B has so many that enough invocations remain. */
export function eachOf({ weights, lines }: Reading): readonly [fewest: 2 | 4, ...more: 4[]] {
  if (lines > 1) return [MATVEC_EACH];
  return weights === 'u4' ? [2, MATVEC_EACH] : [2];
}

const inTwos = (words: readonly string[]): readonly (readonly string[])[] =>
  words.flatMap((_, at) => (at % 2 === 0 ? [words.slice(at, at + 2)] : []));

/** WGSL: the words of a unit. */
const wordsIn = (count: number, unit: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => (count === 1 ? unit : `${unit}[${at}]`));

/** WGSL: the elements of a unit of floats, four at a time where there are four, of the word or vector `unit`. */
function floats(weights: StoredFloatDType, { wide, words: count }: WeightRowsParams, unit: string): readonly string[] {
  const words = wordsIn(count, unit);
  const two = (word: string): string => `${word} << 16u, ${word} & 0xffff0000u`;
  switch (weights) {
    case 'f32':
      return [`bitcast<${wide ? 'vec4f' : 'f32'}>(${unit})`];
    case 'f16':
      return inTwos(words).map(
        (both) => `${wide ? 'vec4f' : ''}(${both.map((word) => `unpack2x16float(${word})`).join(', ')})`,
      );
    case 'bf16':
      return inTwos(words).map(
        (both) => `bitcast<vec${2 * both.length}f>(vec${2 * both.length}u(${both.map(two).join(', ')}))`,
      );
  }
}

/** WGSL: an element of A; 0 beyond its end. */
const xOf = /* wgsl */ `
fn x_of(first: u32, at: u32, end: u32) -> f32 {
  return select(0.0, read_b(first + min(at, end - 1u) * u.b_step), at < end);
}`;

/** WGSL: reads a number of a block by its index: `<name>_at`. */
function blockFunction(name: string, isHalf: string): string {
  return /* wgsl */ `
fn ${name}_at(at: u32) -> f32 {
  if (${isHalf}) { return unpack2x16float(${name}[at >> 1u] >> (16u * (at & 1u))).x; }
  return bitcast<f32>(${name}[at]);
}`;
}

const BLOCKS = { access: 'read', type: 'array<u32>' } as const;

/** The bindings of what blocks of integers have. */
export function blockStorage({ scales, zeros }: WeightForm): Readonly<Record<string, StorageBinding>> {
  if (scales === undefined) return {};
  return zeros === 'one' ? { scales: BLOCKS } : { scales: BLOCKS, zeros: BLOCKS };
}

/** WGSL: the word of a scale by its index. */
const scaleWordAt = (scales: WeightForm['scales'], at: string): string => (scales === 'f16' ? `(${at}) >> 1u` : at);

/** WGSL: `scales_at`, `scales_of` a word, and `zeros_at`, as far as there are any. */
export function blockFunctions({ weights, scales, zeros }: WeightForm): string {
  if (scales === undefined) return '';
  const isHalf = scales === 'f16';
  const own = /* wgsl */ `
fn scales_of(word: u32, at: u32) -> f32 {
  return ${isHalf ? 'unpack2x16float(word >> (16u * (at & 1u))).x' : 'bitcast<f32>(word)'};
}
fn scales_at(at: u32) -> f32 { return scales_of(scales[${scaleWordAt(scales, 'at')}], at); }`;
  if (zeros === 'one') return own;
  return `${own}\n${zeros === 'own' ? integerZero(WEIGHT_BITS[weights]) : blockFunction('zeros', 'u.z_halves != 0u')}`;
}

/**
 * `C = alpha A B^T + beta C` for few rows of A, where B is of a type of its own and the elements of its rows are neighbours along
 * k. A team of invocations computes a few columns of C, all rows of each; its members take turns along k by
 * units of B, which they decode in registers, so that B is read once and A once for a team.
 *
 * Of integers with a zero of their own type `(q - zero) x` is summed up over a unit and multiplied by the scale then. If a
 * sum is not finite all is done again with the scale first, since `(q - zero) x` may overflow where `w x` does not.
 */
export const weightRows: ProductKernel<WeightRowsParams> = productKernel('gemm/weight-rows', (params, epilogue) => {
  const { input, output, weights, scales, zeros, lines, wide, words, each, group } = params;
  const { lanes, team } = group;
  const unit = unitOf(params);
  const vector = `vec${each}f`;
  // On the devices where teams are single invocations nothing is waited for.
  const unroll = team === 1 ? 1 : unrollOf(params);
  const width = Math.min(unit, 4);
  const vectors = unit / width;
  const isScaledLast = zeros === 'one' || zeros === 'own';
  const isInteger = scales !== undefined;
  const features = featuresFor(output, false);
  const decoder = weights === 'u8' || weights === 'u4' ? decoderOf(weights, features.includes('f16')) : undefined;
  const bType = words === 1 ? 'u32' : `vec${words}u`;
  // Of several rows of A there are no registers for it.
  const isAhead = lines === 1 && unroll === 1 && team > 1;
  const atOnce = wide ? aAtOnce(input, unit) : 1;

  const readX = (line: number, v: number): string => {
    if (atOnce === 4) return `read_b(x${line}_at + p * ${vectors}u + ${v}u)`;
    if (atOnce === 8) return `halves(x${line}_${v >> 1}_of.${v % 2 === 0 ? 'xy' : 'zw'})`;
    const one = (j: number): string => `x_of(x${line}_at, p * ${unit}u + ${4 * v + j}u, end)`;
    return width === 1 ? one(0) : `vec${width}f(${Array.from({ length: width }, (_, j) => one(j)).join(', ')})`;
  };
  const readEights = (line: number): string =>
    atOnce < 8
      ? ''
      : repeat(vectors / 2, (e) => `      let x${line}_${e}_of = b[x${line}_at + p * ${vectors / 2}u + ${e}u];`);
  // One sum is the faster form, but for one row of A with floats, where memory bounds it.
  const isOneSum = isInteger || lines > 1;
  const products = (i: number, line: number): string => {
    const parts = Array.from({ length: vectors }, (_, v): string => {
      const [w, x] = [`w${i}_${v}`, `x${line}_${v}`];
      if (width === 1) return `${w} * ${x}`;
      if (!isOneSum) return `dot(${w}, ${x})`;
      const components = ['x', 'y', 'z', 'w'].slice(0, width);
      return components.map((c) => `${w}.${c} * ${x}.${c}`).join(' + ');
    });
    return parts.join(' + ');
  };
  const decoded = (i: number, t: number, scaleFirst: boolean): string => {
    const applied = (text: string): string =>
      isInteger && (scaleFirst || !isScaledLast) ? scaledWeight(zeros, text, `s${i}`, `z${i}`) : text;
    // What pads a row of floats may be anything.
    const masked = (text: string): string =>
      width === 2 ? `select(vec2f(), ${text}, vec2<bool>(true, p * 2u + 1u < end))` : text;
    const zero = zeros === 'own' ? `zero${i}` : 'zero';
    const inWords = wordsIn(words, `unit${i}_${t}`).flatMap(
      (word, w) => decoder?.integers(`word${i}_${w}`, word, zero) ?? [],
    );
    const values =
      weights === 'u8' || weights === 'u4'
        ? inWords.flatMap(({ fours }) => fours)
        : floats(weights, params, `unit${i}_${t}`);
    return [
      ...(zeros === 'own' ? [decoder?.zero(zero, `z${i}`)] : []),
      ...inWords.map(({ declared }) => declared),
      ...values.map((text, v) => `      let w${i}_${v} = ${masked(applied(text))};`),
    ].join('\n');
  };
  const add = (line: number, scaleFirst: boolean): string => {
    const columns = Array.from({ length: each }, (_, i) => {
      const sum = products(i, line);
      return isScaledLast && !scaleFirst ? `s${i} * (${sum})` : sum;
    });
    return `      sum${line} += ${vector}(${columns.join(', ')});`;
  };
  const scalePlace = (i: number, block: string): string => `s_row${i} + ${block} * u.s_block`;
  const scaleWord = (i: number, block: string): string => `scales[${scaleWordAt(scales, scalePlace(i, block))}]`;
  // As if the place depended on what was read before: see `matrix-units.wgsl.ts`.
  const fetch = (at: string): string =>
    repeat(
      each,
      (i) => `      next${i} = a[row${i} + ${at} + (${wordsIn(words, `next${i}`)[0]} & u.zero)];
      s_next${i} = ${scaleWord(i, `(${at} >> u.block_shift)`)};`,
    );
  const units = (count: number, scaleFirst: boolean, ahead = false): string => /* wgsl */ `
${repeat(count, (t) => repeat(each, (i) => `      let unit${i}_${t} = ${ahead ? `next${i}` : `a[row${i} + first + ${t * team}u]`};`))}
${ahead ? repeat(each, (i) => `      let s_word${i} = s_next${i};`) : ''}
${repeat(
  count,
  (t) => `      {
      let p = first + ${t * team}u;
${isInteger ? '      let block = p >> u.block_shift;' : ''}
${repeat(lines, readEights)}
${ahead ? `      let after = min(first + ${team}u, last_unit - 1u);\n${fetch('after')}` : ''}
${isInteger ? repeat(each, (i) => `      let s${i} = scales_of(${ahead ? `s_word${i}` : scaleWord(i, 'block')}, ${scalePlace(i, 'block')});`) : ''}
${isInteger && zeros !== 'one' ? repeat(each, (i) => `      let z${i} = zeros_at(z_row${i} + block * u.z_block);`) : ''}
${repeat(each, (i) => decoded(i, t, scaleFirst))}
${repeat(lines, (line) => repeat(vectors, (v) => `      let x${line}_${v} = ${readX(line, v)};`))}
${repeat(lines, (line) => add(line, scaleFirst))}
      }`,
)}`;
  const loop = (count: number, scaleFirst: boolean, ahead = false): string => /* wgsl */ `
    for (; first + ${(count - 1) * team}u < last_unit; first += ${count * team}u) {
${units(count, scaleFirst, ahead)}
    }`;
  // As if what was read last were needed: else compilers read only where another unit follows, and wait for it there.
  const useOfLast = /* wgsl */ `
  if (u.zero != 0u) {
${repeat(each, (i) => `    sum0[${i}] += bitcast<f32>(${[...wordsIn(words, `next${i}`), `s_next${i}`].join(' ^ ')});`)}
  }`;
  const again = /* wgsl */ `
  if (${Array.from({ length: lines }, (_, line) => `is_lost(sum${line})`).join(' || ')}) {
${repeat(lines, (line) => `    sum${line} = ${vector}();`)}
    first = first_unit;
${loop(1, true)}
  }`;
  const rowOf = (i: number): string => `min(row + ${i}u, u.rows - 1u)`;

  const invocations = lanes * team;
  const left = team / 8;
  const total = (count: number, at: (j: number) => string): string =>
    inPairs(Array.from({ length: count }, (_, j) => `partial[${at(j)}]`));
  const store = (line: string, sums: string): string =>
    repeat(each, (i) => {
      const place = epilogue === undefined ? [] : ['batch', line, `row + ${i}u`];
      const checks = [`${line} < u.lines`, `row + ${i}u < u.rows`];
      const at = `c_first + ${line} * u.c_ld + row + ${i}u`;
      return `  ${storeC({ by: 'store_c', at, place, acc: `${sums}[${i}]`, checks })}`;
    });
  // Members add up what they alone read afterwards, as in `combine` of a matrix and a vector.
  const combine = (): string => /* wgsl */ `
${repeat(lines, (line) => `  partial[${line * invocations}u + lane] = sum${line};`)}
  workgroupBarrier();
  if (member < ${lines * left}u) {
    let at = member / ${left}u * ${invocations}u + lane - member + member % ${left}u;
    partial[at] = ${total(8, (j) => `at + ${j * left}u`)};
  }
  workgroupBarrier();
  if (member >= ${lines}u) { return; }
  let line = member;
  let sums_at = line * ${invocations}u + lane - member;
  let sums = ${total(left, (j) => `sums_at + ${j}u`)};
${store('line', 'sums')}`;

  const formats = input === output ? input : `${input}-${output}`;
  const blocks = isInteger ? ` ${scales} ${zeros}` : '';
  return {
    name: `gemm/weight-rows ${formats} ${weights}${blocks} ${lines}x${each} by ${lanes}x${team}${wide ? ` wide ${words}` : ''}`,
    storage: {
      a: { access: 'read', type: `array<${bType}>` },
      b: { access: 'read', type: atOnce === 8 ? 'array<vec4u>' : inputType(input, wide) },
      ...blockStorage(params),
      c: { access: 'read_write', type: outputType(output, false) },
    },
    uniforms: WEIGHT_UNIFORMS,
    features,
    code: /* wgsl */ `
${atOnce === 8 ? HALVES : readFunction('b', input, wide)}
${storeFunction(output, false, epilogue)}
${blockFunctions(params)}
${wide ? '' : xOf}
fn is_lost(sums: ${vector}) -> bool {
  return any((bitcast<vec${each}u>(sums) & vec${each}u(0x7f800000u)) == vec${each}u(0x7f800000u));
}
${team === 1 ? '' : `var<workgroup> partial: array<${vector}, ${lines * invocations}>;`}

${mainOf(invocations)}
${MATVEC_PLACE}
  let member = lane % ${team}u;
  let row = (tile * ${lanes}u + lane / ${team}u) * ${each}u;
${repeat(each, (i) => `  let row${i} = a_first + ${rowOf(i)} * u.a_ld;`)}
${isInteger ? repeat(each, (i) => `  let s_row${i} = u.s_start + batch * u.s_batch + ${rowOf(i)} * u.s_row;`) : ''}
${isInteger && zeros !== 'one' ? repeat(each, (i) => `  let z_row${i} = u.z_start + batch * u.z_batch + ${rowOf(i)} * u.z_row;`) : ''}
${repeat(lines, (line) => `  let x${line}_at = (b_first + min(${line}u, u.lines - 1u) * u.b_ld)${atOnce > 1 ? ` / ${atOnce}u` : ''};`)}
${repeat(lines, (line) => `  var sum${line} = ${vector}();`)}
${decoder?.constants ?? ''}
${zeros === 'own' ? '' : (decoder?.zero('zero', 'u.zero_of_all') ?? '')}
  let first_unit = begin / ${unit}u + member;
  let last_unit = (end + ${unit - 1}u) / ${unit}u;
  var first = first_unit;
${
  isAhead
    ? `${repeat(each, (i) => `  var next${i} = ${bType}();\n  var s_next${i} = 0u;`)}
  let nearest = min(first, last_unit - 1u);
${fetch('nearest')}`
    : ''
}
${unroll > 1 ? loop(unroll, false) : ''}
${loop(1, false, isAhead)}
${isAhead ? useOfLast : ''}
${isScaledLast ? again : ''}
${team === 1 ? repeat(lines, (line) => store(`${line}u`, `sum${line}`)) : combine()}
}`,
  };
});
