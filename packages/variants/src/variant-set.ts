/** The kernel variants of a backend, by whose name and version profiles and messages know them. */
export interface VariantSet {
  /** Name of the backend, such as `webgpu`. */
  readonly backend: string;
  /** Version of the backend. */
  readonly version: string;
  /** The ids of every variant of every family, such as `gemm/tiled-64x64x16`. */
  readonly ids: readonly string[];
  /** The findings of `concord tune` on devices that the backend's authors have measured. */
  readonly shipped?: readonly ShippedProfile[];
}

/** Choices that come with a backend. A user's own profile goes first. */
export interface ShippedProfile {
  /** As the backend names the device; with any driver. */
  readonly device: { readonly vendor: string; readonly name: string };
  /** The driver that they were measured with. */
  readonly driver: string;
  /** The day, as `2026-01-31`. */
  readonly tunedAt: string;
  /** The fastest variant by shape class, where it is not the plan's own choice. */
  readonly choices: Readonly<Record<string, string>>;
}
