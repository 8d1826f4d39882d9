/**
 * The part of an image that a block of output pixels needs, copied to float64 with zeros where it hangs over the
 * border, so that its readers need no checks.
 */

/** Size of a window; its columns always span all that a row of output needs. */
export interface WindowShape {
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
}

/** Scratch above this many elements is not kept for the next call. */
const KEPT_ELEMENTS = 2 ** 18;

let kept = new Float64Array(0);

function scratch(length: number): Float64Array {
  if (length <= kept.length) return kept;
  const fresh = new Float64Array(length);
  if (length <= KEPT_ELEMENTS) kept = fresh;
  return fresh;
}

/**
 * `window[c, y, x] = input[start + (c * height + top + y) * width + left + x]`, 0 outside of the image. The result is
 * shared scratch, valid until the next call.
 */
export function fillWindow(
  input: Float32Array,
  start: number,
  height: number,
  width: number,
  shape: WindowShape,
  top: number,
  left: number,
): Float64Array {
  const { channels, rows, columns } = shape;
  const window = scratch(channels * rows * columns);
  const firstColumn = Math.min(columns, Math.max(0, -left));
  const endColumn = Math.max(firstColumn, Math.min(columns, width - left));
  for (let c = 0, to = 0; c < channels; c++) {
    for (let y = 0; y < rows; y++, to += columns) {
      const inside = top + y >= 0 && top + y < height;
      const first = inside ? firstColumn : columns;
      const end = inside ? endColumn : columns;
      const from = start + (c * height + top + y) * width + left;
      for (let x = 0; x < first; x++) window[to + x] = 0;
      for (let x = first; x < end; x++) window[to + x] = input[from + x] as number;
      for (let x = end; x < columns; x++) window[to + x] = 0;
    }
  }
  return window;
}
