/**
 * What the reductions do to elements, as WGSL functions on one element and (`...4`) on four at once:
 *
 * - `lift` makes a summand, or a key to compare, of an element;
 * - `fold` joins two of those; `NOTHING` changes nothing when folded;
 * - `lower` makes an element of the result.
 *
 * **sum** is a float32 sum. `u.scale`, a power of two, is applied to every element in the first pass, and `u.divisor` to
 * the result of the last: the mean of n elements is the sum of x / 2^s over n / 2^s, with 2^s the power of two from n on,
 * so that it is finite wherever the elements are. Otherwise both are 1. Of `x * s + y * s` compilers make `(x + y) * s`,
 * which overflows; that the products go through `u.zero`, of whose value they do not know, keeps them from it. An `fma` for
 * each element into one of four totals does so too, but was up to 10 % slower on an H200.
 *
 * **max** and **min** compare bits, since WGSL's own `max` may drop a NaN and comparing floats may flush subnormals. A
 * float's bits, read as an integer, are in the order of the floats once the lower 31 of negative ones are inverted; NaN
 * gets the key at the end of the order that wins.
 */

/** What kernels fold: `mean` is `sum` with another scale and divisor. */
export type Fold = 'sum' | 'max' | 'min';

/** Every {@link Fold}. */
export const FOLDS: readonly Fold[] = ['sum', 'max', 'min'];

/** Uniforms of the functions of {@link foldWgsl}. */
export const FOLD_UNIFORMS = { scale: 'f32', divisor: 'f32' } as const;

/** How a kernel sees the elements in memory: by their bits where it compares them. */
export function elementType(fold: Fold): 'f32' | 'i32' {
  return fold === 'sum' ? 'f32' : 'i32';
}

/** The functions, for `width` elements at once. */
export function foldWgsl(fold: Fold, width: 1 | 4): string {
  return fold === 'sum' ? sumWgsl(width) : orderWgsl(fold, width);
}

function sumWgsl(width: 1 | 4): string {
  const [suffix, type, words] = width === 1 ? ['', 'f32', 'u32'] : ['4', 'vec4f', 'vec4u'];
  return /* wgsl */ `
const NOTHING${suffix} = ${type}(0);
fn lift${suffix}(x: ${type}) -> ${type} {
  return bitcast<${type}>(bitcast<${words}>(x * u.scale) ^ ${words}(u.zero));
}
fn fold${suffix}(a: ${type}, b: ${type}) -> ${type} { return a + b; }
fn lower${suffix}(total: ${type}) -> ${type} {
  // A division may be inexact even by 1.
  return select(total / u.divisor, total, u.divisor == 1.0);
}`;
}

function orderWgsl(fold: 'max' | 'min', width: 1 | 4): string {
  const [suffix, type, shift] = width === 1 ? ['', 'i32', 'u32(31)'] : ['4', 'vec4i', 'vec4u(31)'];
  const [nothing, nan] = fold === 'max' ? ['-2147483648', '2147483647'] : ['2147483647', '-2147483648'];
  return /* wgsl */ `
const NOTHING${suffix} = ${type}(${nothing});
// Its own inverse: the sign, which decides, stays.
fn reorder${suffix}(bits: ${type}) -> ${type} {
  return bits ^ ((bits >> ${shift}) & ${type}(0x7fffffff));
}
fn lift${suffix}(bits: ${type}) -> ${type} {
  return select(reorder${suffix}(bits), ${type}(${nan}), (bits & ${type}(0x7fffffff)) > ${type}(0x7f800000));
}
fn fold${suffix}(a: ${type}, b: ${type}) -> ${type} { return ${fold}(a, b); }
fn lower${suffix}(key: ${type}) -> ${type} { return reorder${suffix}(key); }`;
}
