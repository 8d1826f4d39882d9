import type { OperandSpec } from './operand-spec.ts';
import { offsetName, type RunSpec, strideName } from './run-spec.ts';

/** Where the elements of an operand lie. */
export interface Address {
  /** Of the first one, in units of the operand's access: vectors or elements. */
  readonly place: string;
  /** Elements from one of a vector to the next, where they are strided. */
  readonly step: string;
}

/**
 * The address of an operand at a point. The strides of an operand that is reached by vectors count vectors, its stride
 * along the vectors is 1.
 *
 * @param coordinates - along the first axes of the domain, in vectors along the vector axis
 * @param base - the address of what the other coordinates tell; default: the operand's offset
 */
export function addressOf(
  spec: RunSpec,
  operand: number,
  coordinates: readonly (string | undefined)[],
  base = `u.${offsetName(operand)}`,
): Address {
  const { access, level, axis: vectorAxis = spec.vectorAxis } = spec.operands[operand] as OperandSpec;
  const terms = coordinates.flatMap((coordinate, axis) => {
    // A separate row has no axis: the one that stands for it takes no uniforms.
    if (spec.unfolded === 0 && axis < spec.rowRank) return [];
    if (coordinate === undefined || coordinate === '0u' || (level === 'row' && axis >= spec.rowRank)) return [];
    const stride = `u.${strideName(operand, axis)}`;
    if (axis !== vectorAxis) return [`${coordinate} * ${stride}`];
    if (access === 'constant') return [];
    if (access === 'vector') return [coordinate];
    const first = spec.width === 1 ? coordinate : `(${coordinate} * ${spec.width}u)`;
    return [access === 'dense' ? first : `${first} * ${stride}`];
  });
  return { place: [base, ...terms].join(' + '), step: `u.${strideName(operand, vectorAxis)}` };
}
