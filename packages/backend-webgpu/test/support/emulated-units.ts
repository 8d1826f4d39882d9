import type { Kernel } from '../../src/kernels/kernel.ts';
import type { DeviceTraits, Recorder } from '../../src/kernels/recorder.ts';
import { pretending } from './device-values.ts';

// Software devices have no matrix units. Here their kernels run all the same, with the operations of WGSL's sub-group matrices
// replaced by loops: each of 32 invocations has a row of a left matrix and eight of the 256 sums, and right matrices stay where
// they are until they are multiplied, which is before the next barrier. What a sub-group asks costs barriers: one that the
// kernel forgot there is not missed.

/** WGSL: the operations on matrices in workgroup memory, of which `vector` is vector `at` of a block. */
const unitsOf = (vector: string): string => /* wgsl */ `
// Loops that are not unrolled: a kernel has hundreds. They are short: lavapipe ends loops after 65,535 turns of all together.
fn at_run_time(count: u32, lane: u32) -> u32 { return select(count, 0u, lane == 0xffffffffu); }
fn vector_at(block: u32, at: u32) -> vec4u { return ${vector}; }
fn first_of(x: vec4u) -> vec4f { return vec4f(unpack2x16float(x.x), unpack2x16float(x.y)); }
struct Loaded { block: u32, at: u32, line: u32, by_columns: bool }
fn row_of(x: Loaded, lane: u32) -> array<vec4f, 4> {
  var row: array<vec4f, 4>;
  for (var p = 0u; p < at_run_time(16u, lane); p++) {
    let major = select(lane % 32u / 2u, p, x.by_columns);
    let minor = select(p, lane % 32u / 2u, x.by_columns);
    let word = vector_at(x.block, x.at + major * x.line + minor / 8u)[minor / 2u % 4u];
    row[p / 4u][p % 4u] = unpack2x16float(word)[minor % 2u];
  }
  return row;
}
fn multiplied(a: array<vec4f, 4>, b: Loaded, c: array<vec4f, 2>, lane: u32) -> array<vec4f, 2> {
  var left = a;
  var sums = c;
  let eight = lane % 2u;
  for (var turn = 0u; turn < at_run_time(16u, lane); turn++) {
    if (b.by_columns) {
      let column = turn / 2u;
      let part = turn % 2u * 2u;
      let x = vector_at(b.block, b.at + (8u * eight + column) * b.line + turn % 2u);
      sums[column / 4u][column % 4u] += dot(left[part], first_of(x)) + dot(left[part + 1u], first_of(x.zwxy));
    } else {
      let x = vector_at(b.block, b.at + turn * b.line + eight);
      let factor = left[turn / 4u][turn % 4u];
      sums[0] += factor * first_of(x);
      sums[1] += factor * first_of(x.zwxy);
    }
  }
  return sums;
}
fn place_of(first: u32, line: u32, lane: u32) -> u32 { return first + lane % 32u / 2u * line + lane % 2u * 2u; }
fn stored(block: u32, first: u32, sums: array<vec4f, 2>, line: u32, lane: u32) {
  var at = place_of(first, line, lane);
  ${vector} = bitcast<vec4u>(sums[0]);
  at++;
  ${vector} = bitcast<vec4u>(sums[1]);
}
fn sums_of(block: u32, first: u32, line: u32, lane: u32) -> array<vec4f, 2> {
  let at = place_of(first, line, lane);
  return array<vec4f, 2>(bitcast<vec4f>(vector_at(block, at)), bitcast<vec4f>(vector_at(block, at + 1u)));
}
`;

/** WGSL: `any_of(condition, lane)`, whether an invocation of the sub-group says so. */
const ANY_OF = /* wgsl */ `
var<workgroup> votes: array<atomic<u32>, 32>;
fn any_of(condition: bool, lane: u32) -> bool {
  atomicStore(&votes[lane / 32u], 0u);
  workgroupBarrier();
  if (condition) { atomicStore(&votes[lane / 32u], 1u); }
  workgroupBarrier();
  return atomicLoad(&votes[lane / 32u]) != 0u;
}
`;

const PLACE = String.raw`\(&(?:strips\[(.+?)\]|memory), (.+?), `;
const LOAD_LEFT = new RegExp(
  String.raw`subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, (row|col)_major>${PLACE}(\w+)\)`,
  'g',
);
const LOAD_RIGHT = new RegExp(LOAD_LEFT.source.replace('left', 'right'), 'g');
const LOAD_SUMS = new RegExp(
  String.raw`subgroupMatrixLoad<subgroup_matrix_result<f32, 16, 16>, row_major>${PLACE}(\w+)\)`,
  'g',
);
const STORE = new RegExp(String.raw`subgroupMatrixStore<row_major>${PLACE}(\w+), (\w+)\)`, 'g');
const NAMES = ['subgroups', 'chromium_experimental_subgroup_matrix'];

const known = new Map<Kernel, Kernel>();

const vectorIn = ({ code }: Kernel): string => (code.includes('strips:') ? 'strips[block][at]' : 'memory[at]');
const loaded = (major: string, block = '0u', at: string, line: string): string =>
  `Loaded(${block}, ${at}, ${line}, ${major === 'col'})`;

/** The kernel without sub-group matrices; itself where it has none. */
export function withoutUnits(kernel: Kernel): Kernel {
  if (!kernel.features.includes('chromium_experimental_subgroup_matrix')) return kernel;
  const made = known.get(kernel) ?? {
    ...kernel,
    features: kernel.features.filter((name) => !NAMES.includes(name)),
    code: kernel.code
      .replaceAll(/^(diagnostic\(off, chromium|enable (subgroups|chromium)).*$/gm, '')
      .replaceAll(LOAD_LEFT, (_, major, block, at, line) => `row_of(${loaded(major, block, at, line)}, lane)`)
      .replaceAll(LOAD_RIGHT, (_, major, block, at, line) => loaded(major, block, at, line))
      .replaceAll(LOAD_SUMS, (_, block = '0u', at, line) => `sums_of(${block}, ${at}, ${line}, lane)`)
      .replaceAll(/subgroup_matrix_result<f32, 16, 16>/g, 'array<vec4f, 2>')
      .replaceAll(/subgroupMatrixMultiplyAccumulate\((.+)\);/g, 'multiplied($1, lane);')
      .replaceAll(STORE, (_, block = '0u', at, sums, line) => `stored(${block}, ${at}, ${sums}, ${line}, lane)`)
      .replaceAll(/subgroupAny\((.+)\);/g, 'any_of($1, lane);')
      .replace('@compute', `${kernel.code.includes('subgroupAny(') ? ANY_OF : ''}${unitsOf(vectorIn(kernel))}@compute`),
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

/** The recorder for a variant: of one on matrix units as that of a device that has them. */
export const recorderFor = ({ id }: { readonly id: string }, recorder: Recorder): Recorder =>
  id.includes('/matrix-') ? emulatingUnits(recorder) : recorder;

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
