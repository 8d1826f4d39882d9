import type { BinaryWork, CopyWork, UnaryWork } from '../work.ts';
import { defineCase, type LimitCase } from './limit-case.ts';

/** The sum of two arrays. */
export function add(work: BinaryWork): LimitCase {
  const { n } = work;
  return defineCase({
    work,
    name: `${n}`,
    bytes: 12 * n,
    inputs: [n, n],
    length: n,
    expected: ([a, b], index) => ({ value: a.at(index) + b.at(index), magnitude: 1 }),
    call: (backend, [a, b], output) => backend.binary({ op: 'add', n, a, b, output }),
  });
}

/** An array in another place. One of 1.5 n elements moves as many bytes as the sum of two arrays of n. */
export function copy(work: CopyWork): LimitCase {
  const { n } = work;
  return defineCase({
    work,
    name: `${n}`,
    bytes: 8 * n,
    inputs: [n],
    length: n,
    expected: ([input], index) => ({ value: input.at(index), magnitude: 0 }),
    call: (backend, [input], output) => backend.copyDtod(output, input, 4 * n),
  });
}

const FUNCTIONS = { exp: Math.exp, tanh: Math.tanh, relu: (x: number) => Math.max(0, x) };

/** A function of an array. */
export function unary(work: UnaryWork): LimitCase {
  const { n } = work;
  const op = work.op.slice('unary_'.length) as keyof typeof FUNCTIONS;
  return defineCase({
    work,
    name: `${n}`,
    bytes: 8 * n,
    inputs: [n],
    length: n,
    expected: ([input], index) => {
      const value = FUNCTIONS[op](input.at(index));
      return { value, magnitude: Math.abs(value) };
    },
    call: (backend, [input], output) => backend.unary({ op, n, input, output }),
  });
}
