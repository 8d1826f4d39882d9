/** The kernel variants of a backend, by whose name and version profiles and messages know them. */
export interface VariantSet {
  /** Name of the backend, such as `webgpu`. */
  readonly backend: string;
  /** Version of the backend. */
  readonly version: string;
  /** The ids of every variant of every family, such as `gemm/tiled-64x64x16`. */
  readonly ids: readonly string[];
}
