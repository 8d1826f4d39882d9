import type { ConformanceCase } from '../harness/case.ts';
import type { Params } from '../harness/case-id.ts';
import type { Random } from '../harness/random.ts';
import { sequenceCase, type SequenceEntry, type SequenceSubject } from './sequence-case.ts';

/** The alignment of the bases of allocations. */
const ALIGNMENT = 256;
/** No vector of a kernel is longer: within these, one operand alone is moved. */
const LONGEST_VECTOR = 32;

/** The subject of {@link offsetCases}. */
export interface OffsetsOf<P extends Params> {
  readonly name: string;
  /** Each is called at all offsets. */
  readonly shapes: readonly Partial<P>[];
  readonly operands: number;
  /** Bytes of an element. */
  readonly size: number;
}

/** Each operand at each offset modulo 256 that its elements allow, in one case: all moved at once, and each of them alone. */
export function offsetCases<P extends Params>(subject: SequenceSubject<P>, of: OffsetsOf<P>): ConformanceCase {
  const { name, shapes, operands, size } = of;
  return sequenceCase(
    subject,
    `${name}: every operand at every offset`,
    `Makes calls with each of ${operands} operands at each multiple of ${size} bytes modulo 256, before anything is read.`,
    'pooled',
    ({ random }) => shapes.flatMap((params): SequenceEntry<P>[] => residuesOf(random, operands, size, params)),
  );
}

function residuesOf<P extends Params>(
  random: Random,
  operands: number,
  size: number,
  params: Partial<P>,
): SequenceEntry<P>[] {
  const count = ALIGNMENT / size;
  const orders = Array.from({ length: operands }, () => random.permutation(count));
  const together = Array.from({ length: count }, (_, i) => orders.map((order) => (order[i] as number) * size));
  const steps = Array.from({ length: LONGEST_VECTOR / size - 1 }, (_, i) => (i + 1) * size);
  const alone = orders.flatMap((_, moved) =>
    [...steps, 64, 128].map((step) => orders.map((_own, operand) => (operand === moved ? step : 0))),
  );
  return [...together, ...alone].map((residues) => ({ params, residues }));
}
