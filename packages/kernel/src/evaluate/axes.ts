/** An axis of a domain: its size, and for each operand how far it is from one index to the next. */
export interface Axis {
  readonly size: number;
  readonly strides: readonly number[];
}

/**
 * The axes of a domain without those of size 1, neighbours that every operand has in one piece made into one. Axes from
 * `split` on are kept apart from those before.
 *
 * @param strides - of each operand, one per axis of the domain
 */
export function coalesced(
  shape: readonly number[],
  strides: readonly (readonly number[])[],
  split: number,
): { readonly before: readonly Axis[]; readonly behind: readonly Axis[] } {
  const axes = shape.map((size, axis) => ({ size, strides: strides.map((own) => own[axis] as number) }));
  return { before: joined(axes.slice(0, split)), behind: joined(axes.slice(split)) };
}

function joined(axes: readonly Axis[]): readonly Axis[] {
  const result: Axis[] = [];
  for (const axis of axes) {
    if (axis.size === 1) continue;
    const last = result.at(-1);
    const isOnePiece = last?.strides.every(
      (stride, operand) => stride === axis.size * (axis.strides[operand] as number),
    );
    if (last !== undefined && isOnePiece === true) {
      result[result.length - 1] = { size: last.size * axis.size, strides: axis.strides };
    } else result.push(axis);
  }
  return result;
}

/** Walks some axes of a domain: gives each operand's offset for each combination of their indices. */
export class Walk {
  readonly count: number;
  readonly #axes: readonly Axis[];

  constructor(axes: readonly Axis[]) {
    this.#axes = axes;
    this.count = axes.reduce((product, { size }) => product * size, 1);
  }

  /** Writes the offsets of combination `index`. */
  offsets(offsets: number[], index: number): void {
    for (let view = 0; view < offsets.length; view++) offsets[view] = 0;
    let rest = index;
    for (let a = this.#axes.length - 1; rest > 0; a--) {
      const { size, strides } = this.#axes[a] as Axis;
      const at = rest % size;
      rest = (rest - at) / size;
      if (at > 0) for (let view = 0; view < strides.length; view++) offsets[view]! += at * strides[view]!;
    }
  }
}
