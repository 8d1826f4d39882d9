/** A cross-correlation, by its definition. */
export interface Convolution {
  readonly x: readonly number[];
  readonly xShape: readonly [n: number, c: number, h: number, w: number];
  readonly w: readonly number[];
  readonly wShape: readonly [k: number, c: number, r: number, s: number];
  readonly stride?: readonly [number, number];
  /** Top, left, bottom, right. */
  readonly padding?: readonly [number, number, number, number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
}

/** The transposed convolution, whose filter is `[c, k / groups, r, s]`: element by element of x, in float64. */
export function convolveTransposed(of: Convolution & { readonly outputPadding?: readonly [number, number] }): {
  readonly values: number[];
  readonly shape: number[];
} {
  const { x, w, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 1], groups = 1, outputPadding = [0, 0] } = of;
  const [n, c, height, width] = of.xShape;
  const [, kPerGroup, r, s] = of.wShape;
  const [top, left, bottom, right] = padding;
  const k = kPerGroup * groups;
  const p = (height - 1) * stride[0] - top - bottom + dilation[0] * (r - 1) + outputPadding[0] + 1;
  const q = (width - 1) * stride[1] - left - right + dilation[1] * (s - 1) + outputPadding[1] + 1;
  const values = Array.from({ length: n * k * p * q }, () => 0);
  for (const [at, value] of x.entries()) {
    const [column, row] = [at % width, Math.floor(at / width) % height];
    const [channel, image] = [Math.floor(at / width / height) % c, Math.floor(at / width / height / c)];
    for (let filter = 0; filter < kPerGroup; filter++)
      for (let i = 0; i < r; i++)
        for (let j = 0; j < s; j++) {
          const [y, z] = [row * stride[0] - top + i * dilation[0], column * stride[1] - left + j * dilation[1]];
          if (y < 0 || y >= p || z < 0 || z >= q) continue;
          const plane = image * k + Math.floor(channel / (c / groups)) * kPerGroup + filter;
          (values[(plane * p + y) * q + z] as number) +=
            value * (w[((channel * kPerGroup + filter) * r + i) * s + j] as number);
        }
  }
  return { values, shape: [n, k, p, q] };
}

/** Sum by sum, in float64. */
export function convolve(of: Convolution): { readonly values: number[]; readonly shape: number[] } {
  const { x, w, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 1], groups = 1 } = of;
  const [n, c, height, width] = of.xShape;
  const [k, cPerGroup, r, s] = of.wShape;
  const [top, left, bottom, right] = padding;
  const p = Math.floor((height + top + bottom - dilation[0] * (r - 1) - 1) / stride[0]) + 1;
  const q = Math.floor((width + left + right - dilation[1] * (s - 1) - 1) / stride[1]) + 1;
  const values: number[] = [];
  for (let image = 0; image < n; image++)
    for (let filter = 0; filter < k; filter++)
      for (let row = 0; row < p; row++)
        for (let column = 0; column < q; column++) {
          let sum = 0;
          for (let channel = 0; channel < cPerGroup; channel++)
            for (let i = 0; i < r; i++)
              for (let j = 0; j < s; j++) {
                const y = row * stride[0] - top + i * dilation[0];
                const z = column * stride[1] - left + j * dilation[1];
                if (y < 0 || y >= height || z < 0 || z >= width) continue;
                const group = Math.floor(filter / (k / groups));
                const at = ((image * c + group * cPerGroup + channel) * height + y) * width + z;
                sum += (x[at] as number) * (w[((filter * cPerGroup + channel) * r + i) * s + j] as number);
              }
          values.push(sum);
        }
  return { values, shape: [n, k, p, q] };
}
