import { floats, type Slot } from './slot.ts';

/** Computes `n` values of a node, one after the other in each of its slots, from those of its operands. */
export type Loop = (n: number, to: Slot, first: Slot, second: Slot, third: Slot) => void;

/** A loop for a function that takes longer than the call of it. */
export function mapped(compute: (x: number) => number): Loop {
  return (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = compute(x[i]!);
  };
}
