/** An affine function of the points of a domain, such as an element's place in its operand. */
export class View {
  /** The axes without those of size 1, neighbours that lie in one piece made into one. */
  readonly #axes: { readonly size: number; readonly stride: number }[] = [];

  /** @param strides - of each axis */
  constructor(shape: readonly number[], strides: readonly number[]) {
    for (const [axis, size] of shape.entries()) {
      const stride = strides[axis] as number;
      const last = this.#axes.at(-1);
      if (size === 1) continue;
      if (last?.stride === size * stride) this.#axes[this.#axes.length - 1] = { size: last.size * size, stride };
      else this.#axes.push({ size, stride });
    }
  }

  /**
   * Goes through `count` points from `first` on, row-major, in lines of neighbours along the last axis.
   *
   * @param visit - gets the number of points before a line, the function's value at its first point, what it grows by from one
   *   point to the next, and how many they are
   */
  lines(
    first: number,
    count: number,
    visit: (before: number, value: number, stride: number, length: number) => void,
  ): void {
    const { size, stride } = this.#axes.at(-1) ?? { size: 1, stride: 0 };
    for (let before = 0, length = 0; before < count; before += length) {
      const place = (first + before) % size;
      let value = place * stride;
      let rest = Math.floor((first + before) / size);
      for (let axis = this.#axes.length - 2; axis >= 0 && rest > 0; axis--) {
        const outer = this.#axes[axis]!;
        value += (rest % outer.size) * outer.stride;
        rest = Math.floor(rest / outer.size);
      }
      length = Math.min(size - place, count - before);
      visit(before, value, stride, length);
    }
  }
}
