import { madeOnce } from '@concord/kernel';
import type { Kernel as KernelGraph } from '@concord/backend-core/kernel';
import type { RunSpec } from './run/run-spec.ts';

/** Type of a scalar in a kernel's uniforms. */
export type UniformType = 'u32' | 'i32' | 'f32';

/** A storage binding: its access and the WGSL type of the variable. */
export interface StorageBinding {
  readonly access: 'read' | 'read_write';
  /** The WGSL type, such as `array<f32>` or `array<vec4f>`. */
  readonly type: string;
}

/** An optional feature of the device that a kernel's source enables. */
export type KernelFeature = 'f16' | 'subgroups' | 'chromium_experimental_subgroup_matrix';

/** A storage binding of a kernel as its layout knows it. */
export interface KernelBinding {
  readonly name: string;
  readonly access: StorageBinding['access'];
  /** The minimum that may be bound: one element of the array. Left out where the type does not tell. */
  readonly minBytes?: number;
}

/** A WGSL module with one entry point, `main`: the unit that is compiled and cached. */
export interface Kernel {
  /** The name for messages: family, variant and parameters, such as `gemm/tiled f32 128x128x8`. */
  readonly name: string;
  /** The whole module. */
  readonly code: string;
  /** Bindings 0, 1, ... of group 0, in this order; the uniforms come right after them. */
  readonly storage: readonly KernelBinding[];
  /** The kernel's own uniforms, after `first_group`, `group_count` and `zero`. */
  readonly uniforms: readonly { readonly name: string; readonly type: UniformType }[];
  readonly features: readonly KernelFeature[];
  /** The word of the first parameter that a call may change, if there is one; the others lie after it. */
  readonly paramsAt?: number;
}

/** The definition of a kernel for {@link defineKernel}. */
export interface KernelSource {
  readonly name: string;
  /** Storage variables by name, in binding order. */
  readonly storage: Readonly<Record<string, StorageBinding>>;
  /** Scalars by name; in the shader `u.<name>`. */
  readonly uniforms: Readonly<Record<string, UniformType>>;
  /** Scalars that each call gives anew, whatever was planned; in the shader `u.<name>` too. */
  readonly params?: Readonly<Record<string, UniformType>>;
  readonly features?: readonly KernelFeature[];
  /** Diagnostics that are switched off, such as `chromium.subgroup_matrix_uniformity`. */
  readonly silenced?: readonly string[];
  /** Functions and the entry point `main`. Storage variables, `u` and `group_index` are declared in front of it. */
  readonly code: string;
}

/** Uniforms that every kernel has, filled in when it is launched. */
const LAUNCH_UNIFORMS = ['first_group', 'group_count', 'zero'];

/** Bytes that a kernel's uniforms take. */
export function uniformBytes(kernel: Kernel): number {
  return (LAUNCH_UNIFORMS.length + kernel.uniforms.length) * 4;
}

/** The word of a uniform of a kernel among those of a dispatch. */
export function wordOf(kernel: Kernel, uniform: string): number {
  const index = kernel.uniforms.findIndex(({ name }) => name === uniform);
  if (index < 0) throw new TypeError(`${kernel.name}: there is no uniform ${uniform}`);
  return LAUNCH_UNIFORMS.length + index;
}

/** The uniforms of one dispatch as the device reads them. */
export function uniformWords(
  kernel: Kernel,
  firstGroup: number,
  groupCount: number,
  values: Readonly<Record<string, number>>,
): Uint32Array {
  const words = new Uint32Array(LAUNCH_UNIFORMS.length + kernel.uniforms.length);
  const floats = new Float32Array(words.buffer);
  words[0] = firstGroup;
  words[1] = groupCount;
  for (const [index, { name, type }] of kernel.uniforms.entries()) {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${kernel.name}: uniform ${name} is not given`);
    (type === 'f32' ? floats : words)[LAUNCH_UNIFORMS.length + index] = value;
  }
  return words;
}

/**
 * Completes a WGSL module with the declarations of its bindings.
 *
 * Work is numbered by workgroup, from 0 to `group_count - 1`. `group_index(workgroup_id, num_workgroups)` gives the
 * number of a workgroup, whatever grid the launch was split into; it may be `group_count` or more in the last row of a
 * grid, and then the workgroup has nothing to do: `if (group >= u.group_count) { return; }`.
 *
 * `u.zero` is 0, which a compiler does not know: see `softmax.wgsl.ts`.
 */
export function defineKernel(source: KernelSource): Kernel {
  const storage = Object.entries(source.storage);
  const params = Object.entries(source.params ?? {});
  const uniforms = [...Object.entries(source.uniforms), ...params];
  const features = source.features ?? [];
  const code = [
    ...(source.silenced ?? []).map((rule) => `diagnostic(off, ${rule});`),
    ...features.map((feature) => `enable ${feature};`),
    ...storage.map(
      ([name, { access, type }], index) => `@group(0) @binding(${index}) var<storage, ${access}> ${name}: ${type};`,
    ),
    'struct Uniforms {',
    ...LAUNCH_UNIFORMS.map((name) => `  ${name}: u32,`),
    ...uniforms.map(([name, type]) => `  ${name}: ${type},`),
    '}',
    `@group(0) @binding(${storage.length}) var<uniform> u: Uniforms;`,
    'fn group_index(id: vec3u, count: vec3u) -> u32 {',
    '  return u.first_group + id.x + count.x * (id.y + count.y * id.z);',
    '}',
    source.code.trim(),
    '',
  ].join('\n');
  return {
    name: source.name,
    code,
    storage: storage.map(([name, { access, type }]) => ({ name, access, ...leastOf(type) })),
    uniforms: uniforms.map(([name, type]) => ({ name, type })),
    features,
    ...(params.length === 0 ? {} : { paramsAt: LAUNCH_UNIFORMS.length + uniforms.length - params.length }),
  };
}

/** WGSL: where the code of a kernel begins that looks at the number of its workgroup, from {@link defineKernel}, and its lane. */
export const mainOf = (lanes: number): string => /* wgsl */ `@compute @workgroup_size(${lanes})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {`;

const SCALAR_BYTES: Readonly<Record<string, number>> = { f16: 2, f32: 4, i32: 4, u32: 4 };
/** Scalars of a vector by the letter at the end of its short name: `vec4f`. */
const SCALARS: Readonly<Record<string, string>> = { f: 'f32', h: 'f16', i: 'i32', u: 'u32' };

/** The minimal size of an array of scalars or vectors. */
function leastOf(type: string): Pick<KernelBinding, 'minBytes'> {
  const [, count, full, letter = '', scalar] =
    /^array<(?:vec([234])(?:<(\w+)>|([fhiu]))|(\w+))>$/.exec(type.replaceAll(' ', '')) ?? [];
  const bytes = SCALAR_BYTES[scalar ?? full ?? SCALARS[letter] ?? ''];
  // A vector of three takes the room of four.
  return bytes === undefined ? {} : { minBytes: bytes * (count === '3' ? 4 : Number(count ?? 1)) };
}

/** Makes `define` give the same kernel object for the same parameters, so that compiled pipelines are found by it. */
export function variants<Params extends object>(define: (params: Params) => Kernel): (params: Params) => Kernel {
  const made = new Map<string, Kernel>();
  return (params) => {
    const key = JSON.stringify(params);
    return madeOnce(made, key, () => define(params));
  };
}

const made = new WeakMap<KernelGraph, Map<string, Kernel>>();

/** The kernel that is generated for a graph, the same for the same specification. */
export function kernelOfGraph<Spec extends RunSpec>(
  family: string,
  { kernel: graph, ...spec }: Spec,
  generate: (name: string, spec: Spec) => Kernel,
): Kernel {
  const kernels = madeOnce(made, graph, () => new Map<string, Kernel>());
  const key = family + JSON.stringify(spec);
  return madeOnce(kernels, key, () => generate(`${family} ${graph.name}`, { kernel: graph, ...spec } as Spec));
}
