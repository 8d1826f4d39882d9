import type { NamedVariant } from '@concord/variants';
import type { Recorder } from '../recorder.ts';
import { lanesToAskFor } from '../subgroups.ts';
import { direct, DIRECT_GROUP, type OperandFormats } from './direct.spv.ts';
import { flatGroups } from './flat-groups.ts';
import { local } from './local.spv.ts';
import { multiplyAddsOf, type Product, stepsOfA, stepsOfB } from './product.ts';
import { splitArguments, type Splits } from './splits.ts';
import { subgroup, type SubgroupTile, subgroupTile } from './subgroup.spv.ts';
import type { Tile } from './tile.ts';

/** Launches a product with one work-item for each entry. */
export function launchDirect(product: Product, { id }: NamedVariant, splits: Splits, recorder: Recorder): void {
  const { m, n, batchCount } = product;
  const all = m * n * batchCount * splits.count;
  recorder.launch({
    kernel: direct(formatsOf(product)),
    args: { ...operands(product, splits), ...steps(product), n, entries: m * n, all },
    groups: [...flatGroups(Math.ceil(all / DIRECT_GROUP), recorder.traits), 1],
    multiplyAdds: multiplyAddsOf(product),
    variant: id,
  });
}

/** Launches a product with a group for each tile. */
export function launchLocal(
  product: Product,
  { id, tile }: NamedVariant & { readonly tile: Tile },
  splits: Splits,
  recorder: Recorder,
): void {
  const { m, n, transA, transB, a, b, batchCount } = product;
  recorder.launch({
    kernel: local({ ...formatsOf(product), transA, transB, tile, lanes: lanesToAskFor(recorder.traits) }),
    args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
    groups: [Math.ceil(n / tile.n), Math.ceil(m / tile.m), batchCount * splits.count],
    multiplyAdds: multiplyAddsOf(product),
    variant: id,
  });
}

/** Launches a product with a sub-group for each tile. */
export function launchSubgroup(
  product: Product,
  { id, tile }: NamedVariant & { readonly tile: SubgroupTile },
  splits: Splits,
  recorder: Recorder,
): void {
  const { m, n, transA, a, b, batchCount } = product;
  const ofGroup = subgroupTile(tile);
  recorder.launch({
    kernel: subgroup({ ...formatsOf(product), ...tile, transA }),
    args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
    groups: [Math.ceil(n / ofGroup.n), Math.ceil(m / ofGroup.m), batchCount * splits.count],
    multiplyAdds: multiplyAddsOf(product),
    variant: id,
  });
}

const formatsOf = ({ a, c }: Product): OperandFormats => ({ input: a.dtype, output: c.dtype });

function operands({ a, b, c, k, alpha, beta }: Product, splits: Splits) {
  return {
    a: a.span,
    b: b.span,
    c: c.span,
    c_ld: c.ld,
    a_stride: a.stride,
    b_stride: b.stride,
    ...splitArguments(k, splits, c.stride),
    alpha,
    beta,
  };
}

function steps(product: Product) {
  const [a, b] = [stepsOfA(product), stepsOfB(product)];
  return { a_line: a.line, a_term: a.term, b_line: b.line, b_term: b.term };
}
