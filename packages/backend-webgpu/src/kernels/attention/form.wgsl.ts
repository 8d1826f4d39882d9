import { ofType } from '@concord/variants';
import { BYTES_OF, type StoredFloatDType } from '@concord/backend-core';
import { tanh } from '@concord/kernel';
import { wgslFunction } from '../arithmetic/wgsl-arithmetic.ts';
import type { KernelSource, UniformType } from '../kernel.ts';
import { halfBitsOfFour } from '../wgsl/half.wgsl.ts';
import { isSet } from '../wgsl/snippets.ts';
import { attentionUniforms, maskFunction, softmaxFunctions, weightFunctions } from './softmax.wgsl.ts';

/**
 * The calls that a kernel is for. `plain`: packed float32, each head its own keys, causal from the first key on or not at all.
 * By storage, and that of K and V where it is another: any call.
 */
export type Form = 'plain' | OutputForm | `f32 ${'f16' | 'bf16'}`;

/** The forms of what depends on O alone. */
export type OutputForm = 'f32' | 'f16';

/** Every form. */
export const FORMS: readonly Form[] = ['plain', 'f32', 'f16', 'f32 f16', 'f32 bf16'];

/** Storage of an operand. */
export function storageOf(form: Form, name: 'q' | 'k' | 'v' | 'o'): StoredFloatDType {
  if (form === 'plain') return 'f32';
  return form.split(' ').at(name === 'q' || name === 'o' ? 0 : -1) as StoredFloatDType;
}

/** The form by O. */
export const outputForm = (form: Form): 'plain' | OutputForm =>
  form === 'plain' ? form : (storageOf(form, 'o') as OutputForm);

/** Returns a suffix for the name of a kernel. */
export const formName = (form: Form, partial: boolean): string =>
  `${form === 'plain' ? '' : ` any ${form}`}${partial ? ' partial' : ''}`;

/** Bytes of an element of an operand. */
export const elementBytes = (form: Form, name: 'q' | 'k' | 'v' | 'o'): number => BYTES_OF[storageOf(form, name)];

/** Uniforms of {@link sightFunctions}, beside {@link paramsOf}, `queries` and `batch_heads`. */
export const sightUniforms: Readonly<Record<string, UniformType>> = {
  /** Query i sees the keys from i + see_begin to before i + see_end. */
  see_begin: 'i32',
  /** The queries from seeing_begin to before this one see a key, as far as causal and window say. */
  seeing_end: 'u32',
  /** 0: there is no mask. 1: of f32, 2: of f16, 3: of u8, where 0 hides a key. */
  ...ofType('u32', 'masked causal'),
  /** 1: lengths are in memory, 2: starts are, 3: both. The rest is for these. */
  ...ofType('u32', 'placed lengths_at lengths_step starts_at starts_step all_queries all_keys first_query'),
  ...ofType('u32', 'first_key'),
  /** Distances from the place of query 0: back to the first key that it sees, and on to the end of those. */
  ...ofType('i32', 'hidden seen'),
};

/**
 * Uniforms of any call. Heads of all batches are numbered as one; `group` neighbours share keys. Starts and distances
 * are in elements of their operand, queries and keys counted from the window's first.
 */
const anyUniforms: Readonly<Record<string, UniformType>> = {
  ...ofType('u32', 'heads queries head_dim value_dim batch_heads group'),
  scale: 'f32',
  ...ofType('u32', 'q_at q_batch q_head q_row k_at k_batch k_head k_row v_at v_batch v_head v_row o_at'),
  ...ofType('u32', 'o_batch o_head'),
  /** Distance from a row, or record, of the output to the next. */
  o_row: 'u32',
  ...sightUniforms,
  capped: 'u32',
  ...ofType('f32', 'softcap softcap_inverse'),
  ...ofType('u32', 'mask_at mask_batch mask_head mask_query mask_key'),
};

/** Uniforms of the kernels that attend. */
export const uniformsOf = (form: Form): Readonly<Record<string, UniformType>> =>
  form === 'plain' ? attentionUniforms : anyUniforms;

/** The values that grow with the keys, in this order: the rest of a plan serves calls over a cache until they are many more. */
export const CACHED_PARAMS = ['keys', 'see_end', 'seeing_begin'] as const;

const cached: Readonly<Record<(typeof CACHED_PARAMS)[number], UniformType>> = {
  keys: 'u32',
  see_end: 'i32',
  seeing_begin: 'u32',
};

/** Uniforms of each kernel of an attention that each call may give anew. */
export const paramsOf = (form: Form): Readonly<Record<string, UniformType>> => (form === 'plain' ? {} : cached);

/** Bindings of {@link sightFunctions}. */
export const PLACES = {
  lengths: { access: 'read', type: 'array<u32>' },
  starts: { access: 'read', type: 'array<i32>' },
} as const;

/** WGSL type of Q, K or V; `wide` counts in vectors of four. */
function inputType(form: Form, name: 'q' | 'k' | 'v', wide: boolean): string {
  if (storageOf(form, name) !== 'f32') return wide ? 'array<vec2u>' : 'array<u32>';
  return wide ? 'array<vec4f>' : 'array<f32>';
}

/** WGSL type of the rows of O, or of records. f16 rows of no multiple of four go through records. */
export function outputType(form: Form, wide: boolean): string {
  if (!wide) return 'array<f32>';
  return form === 'f16' ? 'array<vec2u>' : 'array<vec4f>';
}

/**
 * Bindings, uniforms and parameters of a kernel that attends. Without a mask, `mask` is bound to something that is not read.
 *
 * @param type - WGSL type of Q, K and V; `true` and `false` say whether they are read by fours
 * @param o - WGSL type of the output
 */
export function attentionInterface(
  form: Form,
  type: boolean | string,
  o: string = 'array<f32>',
): Pick<KernelSource, 'storage' | 'uniforms' | 'params'> {
  const input = (name: 'q' | 'k' | 'v') =>
    ({ access: 'read', type: typeof type === 'string' ? type : inputType(form, name, type) }) as const;
  const mask = { access: 'read', type: 'array<u32>' } as const;
  const any = { mask, ...PLACES };
  return {
    storage: {
      ...{ q: input('q'), k: input('k'), v: input('v'), ...(form === 'plain' ? {} : any) },
      o: { access: 'read_write', type: o },
    },
    uniforms: {
      ...uniformsOf(form),
      ...ofType('u32', 'splits split_keys'),
      ...(form === 'plain' ? {} : { split_step: 'u32' }),
    },
    params: paramsOf(form),
  };
}

/** WGSL: element `at` of an input that is not wide. */
export function elementAt(form: Form, name: 'q' | 'k' | 'v', at: string): string {
  const storage = storageOf(form, name);
  if (storage === 'f32') return `${name}[${at}]`;
  if (storage === 'bf16') return `bitcast<f32>((${name}[(${at}) >> 1u] >> (16u * ((${at}) & 1u))) << 16u)`;
  return `unpack2x16float(${name}[(${at}) >> 1u] >> (16u * ((${at}) & 1u))).x`;
}

/** WGSL: the numbers of two words of a wide input of halves. */
export function numbersOf(form: Form, name: 'q' | 'k' | 'v', words: string): string {
  if (storageOf(form, name) === 'bf16') return `four_upper_halves(${words})`;
  return `vec4f(unpack2x16float(${words}.x), unpack2x16float(${words}.y))`;
}

/** WGSL: columns of an input. */
export const widthOf = (name: 'q' | 'k' | 'v'): string => (name === 'v' ? 'u.value_dim' : 'u.head_dim');

/** WGSL: elements from one row of an input to the next. */
export const rowOf = (form: Form, name: 'q' | 'k' | 'v'): string => (form === 'plain' ? 'u.head_dim' : `u.${name}_row`);

/** WGSL: where a head of an input begins. */
export function headOf(form: Form, name: 'q' | 'k' | 'v'): string {
  if (form !== 'plain') return `${name}_start(head)`;
  return name === 'q' ? 'u.q_at + head * u.queries * u.head_dim' : `u.${name}_at + head * u.kv_head`;
}

/** WGSL: the expression of a wide value as O stores it. */
export const storedVector = (form: Form, value: string): string =>
  form === 'f16' ? `halves_of_four(${value})` : value;

/** WGSL: the sum of weights that `quotient` is given for a query. */
export const totalOf = (form: Form, total: string, query: string): string =>
  form === 'plain' ? total : `finished_total(sight, ${total}, ${query})`;

/** WGSL: the argument of functions that ask what a query sees, and its declaration after that of `head`. */
export const sightArgument = (form: Form): string => (form === 'plain' ? '' : 'sight, ');
export const sightParameter = (form: Form): string => (form === 'plain' ? '' : 'sight: Sight, ');
export const sightOfHead = (form: Form): string => (form === 'plain' ? '' : '\n  let sight = sight_of(head);');

/** WGSL: keys of a split; of lengths in memory those that there are go on all splits, not those that there could be. */
export const SPLIT_KEYS: string = /* wgsl */ `
  let split_unit = u.splits * u.split_step;
  let split_keys = select(u.split_keys, max(1u, (sight.keys + split_unit - 1u) / split_unit) * u.split_step, u.placed != 0u);`;

/**
 * WGSL: what the queries of a head see, `sight_of`. As it is no uniform where places are in memory, it is handed on: a workgroup
 * reads it once. Places are within 2^30, and there are fewer than 2^29 queries and keys.
 */
export const sightFunctions: string = /* wgsl */ `
struct Sight {
  // Query i sees the keys of the window from i + begin to before i + end, as far as there are any.
  begin: i32,
  end: i32,
  keys: u32,
  // The queries from here to there see a key.
  seeing_begin: u32,
  seeing_end: u32,
}

fn sight_of(head: u32) -> Sight {
  if (!is_set(u.placed, head)) { return Sight(u.see_begin, u.see_end, u.keys, u.seeing_begin, u.seeing_end); }
  const FAR = 1 << 30u;
  let batch = parts_of(head, u.batch_heads);
  let length = select(u.all_keys, min(lengths[u.lengths_at + batch * u.lengths_step], u.all_keys), (u.placed & 1u) != 0u);
  let start = clamp(starts[u.starts_at + batch * u.starts_step], -FAR, FAR);
  let place = select(i32(length) - i32(u.all_queries), start, u.placed > 1u);
  let first = min(max(place, u.hidden - FAR) - u.hidden, FAR);
  let end = select(FAR, min(place + u.seen, FAR), u.causal != 0u);
  let query = i32(u.first_query);
  let queries = i32(u.queries);
  let shift = query - i32(u.first_key);
  let keys = min(max(length, u.first_key) - u.first_key, u.keys);
  let seeing_begin = u32(clamp(1 - end - query, 0, queries));
  let seeing_end = u32(clamp(i32(length) - first - query, 0, queries));
  return Sight(first + shift, end + shift, keys, seeing_begin, select(seeing_end, 0u, length == 0u));
}`;

const upperHalves: string = /* wgsl */ `
fn four_upper_halves(words: vec2u) -> vec4f {
  return bitcast<vec4f>(vec4u(words.x << 16u, words.x & 0xffff0000u, words.y << 16u, words.y & 0xffff0000u));
}`;

/** WGSL: what every kernel that attends is made of. */
export function attentionFunctions(form: Form): string {
  if (form === 'plain') return `${softmaxFunctions}\n${maskFunction}`;
  const start = (name: string, head: string): string => `
fn ${name}_start(head: u32) -> u32 {
  let batch = parts_of(head, u.batch_heads);
  return u.${name}_at + batch * u.${name}_batch + ${head} * u.${name}_head;
}`;
  return /* wgsl */ `
${anySoftmaxFunctions(form)}
${wgslFunction('hyperbolic_tangent', tanh)}${storageOf(form, 'k') === 'bf16' ? upperHalves : ''}
${isSet}
${partsOf}
${sightFunctions}

// How many of the window's keys a query could see if none were hidden in front.
fn visible_keys(sight: Sight, query: u32) -> u32 { return u32(clamp(i32(query) + sight.end, 0, i32(sight.keys))); }

// The first of the window's keys that a query sees.
fn first_visible(sight: Sight, query: u32) -> u32 { return u32(clamp(i32(query) + sight.begin, 0, i32(sight.keys))); }
${start('q', '(head - batch * u.batch_heads)')}
${start('o', '(head - batch * u.batch_heads)')}
${start('k', 'parts_of(head - batch * u.batch_heads, u.group)')}
${start('v', 'parts_of(head - batch * u.batch_heads, u.group)')}

// Where the row of the mask of a query begins; of one beyond the last query it is the last.
fn mask_row(head: u32, query: u32) -> u32 {
  let in_batch = head / u.batch_heads * u.mask_batch + head % u.batch_heads * u.mask_head;
  return u.mask_at + in_batch + min(query, u.queries - 1u) * u.mask_query;
}

fn capped_score(score: f32) -> f32 { return u.softcap * hyperbolic_tangent(score * u.softcap_inverse); }

fn mask_of(row: u32, key: u32) -> f32 {
  let at = row + min(key, u.keys - 1u) * u.mask_key;
  let shift = u.masked - 1u;
  let word = mask[at >> shift];
  let half = unpack2x16float(word >> (16u * (at & 1u))).x;
  let is_hidden = ((word >> (8u * (at & 3u))) & 0xffu) == 0u;
  let narrow = select(bitcast<u32>(half), select(0u, SIGN | INFINITY, is_hidden), shift == 2u);
  // No branch: see is_set.
  return bitcast<f32>(select(narrow, word, shift == 0u) ^ u.zero);
}

// A scaled score by softcap and mask.
fn finish_score(scaled: f32, row: u32, key: u32) -> f32 {
  var score = scaled;
  if (is_set(u.capped, key)) { score = capped_score(score); }
  if (is_set(u.masked, key)) { score += mask_of(row, key); }
  return score;
}`;
}

/**
 * WGSL: `parts_of(a, b)` is a / b, without a division where there is nothing to divide: one takes as long as a read of memory. `a`
 * is a number of the workgroup's or invocation's own, for the reason of {@link isSet}.
 */
export const partsOf: string = /* wgsl */ `
fn parts_of(a: u32, b: u32) -> u32 {
  if (b == select(1u, 0u, a == 0xffffffffu)) { return a; }
  if (a < b) { return 0u; }
  return a / b;
}`;

/** WGSL: the softmax where a query may see no key and so gives 0; needs {@link sightFunctions}. */
export function anySoftmaxFunctions(form: Exclude<Form, 'plain'>): string {
  return /* wgsl */ `
${weightFunctions}
const BLIND = 0xbf800000u;

// The sum of the weights, or -1 for a query that sees no key: with a mask, one that has hidden them all.
fn finished_total(sight: Sight, total: f32, query: u32) -> f32 {
  let is_blind = (u.masked != 0u) | (query < sight.seeing_begin) | (query >= sight.seeing_end);
  return select(total, -1.0, is_blind & (total == 0.0));
}

// The end of the softmax. Without any weight it is NaN, or 0 where no key is seen.
fn quotient(sum: f32, total: f32) -> f32 {
  let bits = select(bitcast<u32>(sum / total), NAN, total == 0.0);
  return bitcast<f32>(select(bits, 0u, bitcast<u32>(total) == BLIND));
}
${
  form === 'f16'
    ? `${halfBitsOfFour}
fn halves_of_four(value: vec4f) -> vec2u {
  let bits = half_bits_of_four(value, u.zero);
  return bits.xz | (bits.yw << vec2u(16u));
}`
    : ''
}`;
}
