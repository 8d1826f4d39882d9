/** The backends that a browser may have, the fastest first. */
export const BACKEND_NAMES = ['webgpu', 'wasm', 'cpu'] as const;

/** One of {@link BACKEND_NAMES}. */
export type BackendName = (typeof BACKEND_NAMES)[number];
