import type { Kernel } from '../../src/kernels/kernel.ts';
import type { DeviceTraits, Recorder } from '../../src/kernels/recorder.ts';
import { pretending } from './device-values.ts';

// Software devices have no matrix units. Here their kernels run all the same, with the operations of WGSL's sub-group matrices
// replaced by loops: each of 32 invocations has eight of the 256 sums, and matrices of inputs stay where they are until they are
// multiplied, which is before the next barrier.

const UNITS = /* wgsl */ `
struct Loaded { block: u32, at: u32, line: u32, by_columns: bool }
fn half_of(x: Loaded, row: u32, column: u32) -> f32 {
  let major = select(row, column, x.by_columns);
  let minor = select(column, row, x.by_columns);
  let vector = strips[x.block][x.at + major * x.line + minor / 8u];
  return unpack2x16float(vector[minor / 2u % 4u])[minor % 2u];
}
fn multiplied(a: Loaded, b: Loaded, c: array<f32, 8>, lane: u32) -> array<f32, 8> {
  var sums = c;
  for (var p = 0u; p < 16u; p++) {
    let left = half_of(a, lane % 32u / 2u, p);
    for (var i = 0u; i < 8u; i++) { sums[i] += left * half_of(b, p, lane % 2u * 8u + i); }
  }
  return sums;
}
fn stored(block: u32, at: u32, c: array<f32, 8>, line: u32, lane: u32) {
  for (var four = 0u; four < 2u; four++) {
    let sums = vec4f(c[four * 4u], c[four * 4u + 1u], c[four * 4u + 2u], c[four * 4u + 3u]);
    strips[block][at + lane % 32u / 2u * line + lane % 2u * 2u + four] = bitcast<vec4u>(sums);
  }
}
`;

const LOAD =
  /subgroupMatrixLoad<subgroup_matrix_(?:left|right)<f16, 16, 16>, (row|col)_major>\(&strips\[(.+?)\], (\w+), (\w+)\)/g;
const STORE = /subgroupMatrixStore<row_major>\(&strips\[(.+?)\], (\w+), (\w+), (\w+)\)/g;
const NAMES = ['subgroups', 'chromium_experimental_subgroup_matrix'];

const known = new Map<Kernel, Kernel>();

/** The kernel without sub-group matrices; itself where it has none. */
export function withoutUnits(kernel: Kernel): Kernel {
  if (!kernel.features.includes('chromium_experimental_subgroup_matrix')) return kernel;
  const made = known.get(kernel) ?? {
    ...kernel,
    features: kernel.features.filter((name) => !NAMES.includes(name)),
    code: kernel.code
      .replaceAll(/^(diagnostic\(off, chromium|enable (subgroups|chromium)).*$/gm, '')
      .replaceAll(/subgroup_matrix_result<f32, 16, 16>/g, 'array<f32, 8>')
      .replaceAll(LOAD, (_, major, block, at, line) => `Loaded(${block}, ${at}, ${line}, ${major === 'col'})`)
      .replaceAll(/subgroupMatrixMultiplyAccumulate\((.+?)\)/g, 'multiplied($1, lane)')
      .replaceAll(STORE, 'stored($1, $2, $3, $4, lane)')
      .replace('@compute', `${UNITS}@compute`),
  };
  known.set(kernel, made);
  return made;
}

/** Traits of a device with matrix units that another does not contradict: its memory and its type `f16` are its own. */
export const UNITS_TRAITS: Partial<DeviceTraits> = {
  isSoftware: false,
  subgroupSize: 32,
  matrixUnits: [{ m: 16, n: 16, k: 16 }],
};

/** The recorder, as that of a device with matrix units. */
export function emulatingUnits(recorder: Recorder, traits: Partial<DeviceTraits> = {}): Recorder {
  const { traits: own } = recorder;
  const emulating: Recorder = {
    traits: own,
    launch: (launch) => recorder.launch({ ...launch, kernel: withoutUnits(launch.kernel) }),
    scratch: (bytes) => recorder.scratch(bytes),
    copy: (dst, src) => recorder.copy(dst, src),
  };
  return pretending(emulating, { ...UNITS_TRAITS, ...traits });
}
