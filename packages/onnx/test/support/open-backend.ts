import type { BackendProvider, ComputeBackend } from '@concord/backend-core';

/** Backends by name; `CONCORD_ONNX_BACKENDS=webgpu` runs tests on another one, on a machine that has it. */
export function backendsOf(usual: string): string[] {
  return (process.env['CONCORD_ONNX_BACKENDS'] ?? usual).split(',');
}

/** The backend of `@concord/backend-NAME`, open. */
export async function openBackend(name: string): Promise<ComputeBackend> {
  const from = (await import(`@concord/backend-${name}`)) as Record<string, () => BackendProvider>;
  const provider = Object.entries(from).find(([each]) => each.toLowerCase() === name)?.[1] as () => BackendProvider;
  const backend = await provider().create();
  await backend.init();
  return backend;
}
