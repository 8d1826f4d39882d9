/** The work of a model made ready on a device. */
export interface PreparedModel {
  /** Does the work so many times and waits for all of it. @returns milliseconds of handing it over, where they are known */
  readonly calls: (count: number) => Promise<number | undefined>;
  /** Does it once more, for what is compared with the reference, row-major. */
  readonly outputs: () => Promise<Float32Array>;
  readonly close: () => Promise<void>;
}
