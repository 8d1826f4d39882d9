import { cast, expand, matmul, permute, reshape, sum, type Tensor } from '@concord/ops';
import { refuse } from '../errors.ts';
import { sizeOf } from '../graph/host-tensor.ts';
import type { Call } from '../run/call.ts';
import { elements } from './elements.ts';

/** A tensor whose axes have letters. */
interface Term {
  readonly x: Tensor;
  readonly letters: readonly string[];
}

/** Letters of an operand; those of an ellipsis are digits, counted from the last axis on. */
function lettersOf(text: string, rank: number): string[] {
  const [before, after] = text.split('...') as [string, string | undefined];
  if (after === undefined) return before.split('');
  const hidden = rank - before.length - after.length;
  return [...before.split(''), ...Array.from({ length: hidden }, (_, i) => String(hidden - 1 - i)), ...after.split('')];
}

/** The elements where two axes of one letter agree, as one axis. */
function diagonal({ x, letters }: Term): Term {
  const first = letters.findIndex((letter, axis) => letters.indexOf(letter, axis + 1) >= 0);
  if (first < 0) return { x, letters };
  const second = letters.indexOf(letters[first] as string, first + 1);
  const kept = elements(
    `Diagonal ${first} ${second}`,
    (k, v) => k.select(k.eq(k.index(first), k.index(second)), v, 0 as never),
    [x],
  );
  return diagonal({ x: sum(kept, { axis: second }), letters: letters.filter((_, axis) => axis !== second) });
}

/** Sums over the letters that nothing else has, and puts the rest in order; a letter that is missing becomes an axis of 1. */
function ordered({ x, letters }: Term, order: readonly string[]): Tensor {
  const gone = letters.flatMap((letter, axis) => (order.includes(letter) ? [] : [axis]));
  const left = letters.filter((letter) => order.includes(letter));
  const rest = gone.length === 0 ? x : sum(x, { axis: gone });
  const there = order.filter((letter) => left.includes(letter));
  const moved = permute(
    rest,
    there.map((letter) => left.indexOf(letter)),
  );
  return reshape(
    moved,
    order.map((letter) => (there.includes(letter) ? (moved.shape[there.indexOf(letter)] as number) : 1)),
  );
}

/** Two operands as one batched product. */
function multiply(a: Term, b: Term, wanted: ReadonlySet<string>): Term {
  const has = ({ letters }: Term, letter: string): boolean => letters.includes(letter);
  const batch = a.letters.filter((letter) => has(b, letter) && wanted.has(letter));
  const inner = a.letters.filter((letter) => has(b, letter) && !wanted.has(letter));
  const rows = a.letters.filter((letter) => !has(b, letter) && wanted.has(letter));
  const columns = b.letters.filter((letter) => !has(a, letter) && wanted.has(letter));
  const size = new Map<string, number>();
  for (const { x, letters } of [a, b])
    letters.forEach((letter, axis) => size.set(letter, Math.max(size.get(letter) ?? 1, x.shape[axis] as number)));
  const sizes = (list: readonly string[]): number[] => list.map((letter) => size.get(letter) as number);
  const flat = (term: Term, order: readonly string[], parts: readonly (readonly string[])[]): Tensor =>
    reshape(
      expand(ordered(term, order), sizes(order)),
      parts.map((part) => sizeOf(sizes(part))),
    );
  const left = flat(a, [...batch, ...rows, ...inner], [batch, rows, inner]);
  const right = flat(b, [...batch, ...inner, ...columns], [batch, inner, columns]);
  const letters = [...batch, ...rows, ...columns];
  return { x: reshape(productOf(left, right), sizes(letters)), letters };
}

/** A product of matrices; of bfloat16 in float32, since no kernel has it. */
export function productOf(a: Tensor, b: Tensor): Tensor {
  return a.dtype === 'bf16' ? cast(matmul(cast(a, 'f32'), cast(b, 'f32')), 'bf16') : matmul(a, b);
}

/** Sums of products by letters, with ellipses and repeated letters: products of two at a time, from the left. */
export function einsum(call: Call): Tensor {
  call.floats(...call.inputs.keys());
  const equation = call.text('equation').replace(/\s/g, '');
  const [left, right] = equation.split('->') as [string, string | undefined];
  const texts = left.split(',');
  if (texts.length !== call.inputs.length) throw refuse(`${equation} has ${texts.length} operands`);
  const terms = texts.map((text, i): Term => {
    const x = call.x(i);
    const letters = lettersOf(text, x.rank);
    if (letters.length !== x.rank) throw refuse(`${text} does not name the ${x.rank} axes of operand ${i}`);
    return diagonal({ x, letters });
  });
  const all = terms.flatMap(({ letters }) => letters);
  const hidden = [...new Set(all.filter((letter) => /\d/.test(letter)))].sort().reverse();
  const once = [...new Set(all)].filter((letter) => !/\d/.test(letter) && left.split(letter).length === 2).sort();
  const result =
    right === undefined ? [...hidden, ...once] : lettersOf(right, hidden.length + right.replace('...', '').length);
  const unknown = result.find((letter) => !all.includes(letter));
  if (unknown !== undefined) throw refuse(`no operand of ${equation} has the axis ${unknown}`);
  const [first, ...others] = terms as [Term, ...Term[]];
  let product = first;
  for (const [i, term] of others.entries()) {
    product = multiply(product, term, new Set([...result, ...others.slice(i + 1).flatMap(({ letters }) => letters)]));
  }
  return ordered(product, result);
}
