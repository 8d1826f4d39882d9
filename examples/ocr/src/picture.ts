/** The pixels of a picture, four bytes each: red, green, blue and alpha, row by row. `ImageData` of a page is one. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** A point or a step, in pixels: x to the right, y down. */
export type Point = readonly [x: number, y: number];

/** A part of a picture: its first corner, and its sides along the rows and the columns of what is made of it. */
export interface Part {
  readonly corner: Point;
  readonly across: Point;
  readonly down: Point;
}

/** Values of a channel from 0 to 1 become `(value - mean) / deviation`, in the order of a model's channels: blue, green, red. */
export interface Normalization {
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
}

/**
 * Samples a part of a picture, on white where it is transparent.
 *
 * @param columns - of the planes that are filled, `of` as many; the others stay 0
 * @returns planes of blue, green and red, [3, rows, of]
 */
export function planesOf(
  { width, height, data }: Picture,
  { corner, across, down }: Part,
  [columns, rows, of]: readonly [columns: number, rows: number, of: number],
  { mean, deviation }: Normalization,
): Float32Array {
  const planes = new Float32Array(3 * rows * of);
  // Several samples a pixel where it covers several of the picture, or thin strokes would fall between them.
  const [right, below] = [across.map((each) => each / columns), down.map((each) => each / rows)] as [
    number[],
    number[],
  ];
  const samples = [right, below].map((step) => Math.max(1, Math.round(Math.hypot(...step)))) as [number, number];
  const sums = new Float64Array(3);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      sums.fill(0);
      for (let i = 0; i < samples[0] * samples[1]; i++) {
        const u = column + ((i % samples[0]) + 0.5) / samples[0];
        const v = row + (Math.floor(i / samples[0]) + 0.5) / samples[1];
        addSample(
          corner[0] + u * (right[0] as number) + v * (below[0] as number) - 0.5,
          corner[1] + u * (right[1] as number) + v * (below[1] as number) - 0.5,
        );
      }
      for (let channel = 0; channel < 3; channel++) {
        const value = (sums[channel] as number) / (255 * samples[0] * samples[1]);
        planes[(channel * rows + row) * of + column] =
          (value - (mean[channel] as number)) / (deviation[channel] as number);
      }
    }
  }
  return planes;

  /** Adds what lies between the four pixels around a point. */
  function addSample(x: number, y: number): void {
    const [left, top] = [Math.floor(x), Math.floor(y)];
    for (let i = 0; i < 4; i++) {
      const [dx, dy] = [i & 1, i >> 1];
      const share = Math.abs(1 - dx - (x - left)) * Math.abs(1 - dy - (y - top));
      const column = Math.min(Math.max(left + dx, 0), width - 1);
      const at = 4 * (Math.min(Math.max(top + dy, 0), height - 1) * width + column);
      const alpha = (data[at + 3] as number) / 255;
      for (let channel = 0; channel < 3; channel++)
        sums[channel]! += share * (alpha * (data[at + 2 - channel] as number) + 255 * (1 - alpha));
    }
  }
}
