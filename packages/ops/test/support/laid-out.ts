import { concat, pack, permute, slice, tensor as dense, type Tensor, unsqueeze } from '../../src/index.ts';

/** Where the elements of an operand lie: the values of a test do not depend on it. */
export type Layout = keyof typeof LAYOUTS;

const last = (x: Tensor): number => x.shape.at(-1) as number;
const part = (x: Tensor, range: number | readonly [number, number]): Tensor =>
  slice(x, [...Array.from({ length: x.rank - 1 }, () => null), range]);

const LAYOUTS = {
  dense: (x: Tensor): Tensor => x,
  /** Each element is followed by one of another tensor. */
  spread: (x: Tensor): Tensor => part(concat([unsqueeze(x, x.rank), unsqueeze(x, x.rank)], { axis: x.rank }), 0),
  /** Each row is followed by one element that is not of it. */
  padded: (x: Tensor): Tensor => part(concat([x, part(x, [0, 1])], { axis: -1 }), [0, last(x)]),
  /** The first axis is the dense one. */
  reversed: (x: Tensor): Tensor => permute(pack(permute(x, axesOf(x).reverse())), axesOf(x).reverse()),
};
const axesOf = (x: Tensor): number[] => x.shape.map((_, axis) => axis);

let layout: Layout = 'dense';

/** Runs `work`, whose operands by {@link tensor} lie as `own` says. */
export function withLayout<T>(own: Layout, work: () => T): T {
  const before = layout;
  layout = own;
  try {
    return work();
  } finally {
    layout = before;
  }
}

/** `tensor`, in the layout of the test that runs. */
export const tensor: typeof dense = (...given) => {
  const x = dense(...given);
  return x.size === 0 || x.rank === 0 ? x : LAYOUTS[layout](x);
};
