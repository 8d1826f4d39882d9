// @ts-check
// `check-spirv [--list]`: every SPIR-V module that the Level Zero backend can emit, for every kind of device: is it valid,
// and has it run? Runs a part of the conformance cases on the CPU driver as each kind of device, and counts which kernels
// ran; for those that did not, cases are drawn until one is planned with them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { allKernels, SAMPLES } from '../packages/backend-levelzero/test/support/run-samples.mjs';
import { drawCase, MAX_WORK, seeded } from './lib/draw-cases.mjs';
import { root } from './lib/paths.mjs';
import { softwareLevelZero } from './lib/software-devices.mjs';

/** OpenCL 2.2's rules, but for arithmetic on 16-bit floats, which OpenCL has as an extension. */
const environmentOf = (/** @type {Uint32Array} */ module) => (usesFloat16(module) ? 'spv1.2' : 'opencl2.2');

/** @typedef {{ name: string, words(): Uint32Array }} Kernel */
/** Of the cases, as on each kind of device; of kinds that share most kernels with another, fewer. */
const [SAMPLE, SMALL_SAMPLE] = [0.04, 0.02];
/** Cases that are drawn and planned for each kind of device, with at most this much work: small ones first. */
const DRAWS = 30_000;
const WORK = [MAX_WORK / 50, MAX_WORK / 10, MAX_WORK];

/** @typedef {{ kind: string, change: Record<string, unknown>, sample: number }} Device */

/** Kinds of device that plans tell apart. @type {readonly Device[]} */
const DEVICES = [
  { kind: 'a CPU', change: {}, sample: SAMPLE },
  { kind: 'a GPU', change: { isCpuLike: false }, sample: SAMPLE },
  {
    kind: 'a GPU without sub-groups',
    change: { isCpuLike: false, subgroupSizes: [], computeUnits: 32 },
    sample: SMALL_SAMPLE,
  },
  {
    kind: 'a GPU with matrix engines for 8 lanes',
    change: { isCpuLike: false, hasLargeRegisterFile: true, matrixEngine: 8 },
    sample: SMALL_SAMPLE,
  },
  {
    kind: 'a GPU with matrix engines for 16 lanes',
    change: { isCpuLike: false, hasLargeRegisterFile: true, matrixEngine: 16, subgroupSizes: [16, 32] },
    sample: SMALL_SAMPLE,
  },
];

const built = (/** @type {string} */ file) => import(pathToFileURL(join(root, 'packages', file)).href);

Object.assign(process.env, softwareLevelZero({ isWanted: true }));
const { LevelZeroBackend } = await built('backend-levelzero/dist/index.js');
const { LevelZeroClient } = await built('backend-levelzero/dist/device/level-zero-client.js');
const { CommandStream } = await built('backend-levelzero/dist/device/command-stream.js');
const { BYTES_OF } = await built('backend-core/dist/implement/index.js');
const { runConformance } = await built('conformance/dist/index.js');

/** @type {Map<string, Kernel>} */
const emitted = new Map();
/** Names of kernels that were launched by cases that passed. @type {Set<string>} */
const ran = new Set();
let failures = 0;
let slowest = { name: 'none', ms: 0 };

/** Notes a launch. @param {Kernel} kernel */
function launched(kernel) {
  // There is no list of the graphs that cases draw: their kernels are added when they are launched.
  if (kernel.name.startsWith('run/')) emit(kernel);
  if (!emitted.has(kernel.name)) throw new Error(`${kernel.name} is not among allKernels`);
  ran.add(kernel.name);
}

// Checks launches by plans, and launches that are recorded without a kept plan.
const { launch, run: runPlan } = CommandStream.prototype;
CommandStream.prototype.launch = function countedLaunch(/** @type {{ kernel: Kernel }} */ given) {
  launched(given.kernel);
  return launch.call(this, given);
};
CommandStream.prototype.run = function countedRun(
  /** @type {string} */ op,
  /** @type {{ steps: readonly { kernel?: Kernel }[] }} */ plan,
  /** @type {unknown[]} */ ...rest
) {
  for (const { kernel } of plan.steps) if (kernel !== undefined) launched(kernel);
  return runPlan.call(this, op, plan, ...rest);
};

for (const device of DEVICES) await runAs(device);
const invalid = validate();

const names = [...emitted.keys()];
const notRun = names.filter((name) => !ran.has(name));
if (process.argv.includes('--list')) for (const name of [...names].sort()) console.log(`  ${name}`);
for (const message of invalid) console.error(message);
for (const name of notRun) console.error(`${name}: emitted, never run`);
console.log(`slowest to emit: ${slowest.name}, ${slowest.ms.toFixed(1)} ms`);
console.log(`${names.length} emitted, ${names.length - invalid.length} valid, ${names.length - notRun.length} run`);
if (invalid.length > 0 || notRun.length > 0 || failures > 0) process.exitCode = 1;

/** Runs every case as on one kind of device. @param {Device} device */
async function runAs({ kind, change, sample }) {
  const open = LevelZeroClient.open;
  LevelZeroClient.open = async (/** @type {unknown} */ options) => {
    const client = await open.call(LevelZeroClient, options);
    Object.assign(client.traits, change);
    for (const kernel of allKernels(client.traits)) emit(kernel);
    return client;
  };
  try {
    const listed = await run({ sample });
    await runSamples();
    const { found, ids } = await findCases();
    const drawn = [];
    for (const id of ids) drawn.push(await run({ filter: id }));
    const passed = [listed, ...drawn].reduce((sum, report) => sum + report.passed, 0);
    console.log(`as ${kind}: ${passed} cases passed, ${ids.length} of them drawn for ${found} more kernels`);
  } finally {
    LevelZeroClient.open = open;
  }
}

/** Runs the calls that `run`'s kernels are listed by. What they give is for the cases to judge. */
async function runSamples() {
  if ([...emitted.keys()].every((name) => !name.startsWith('run/') || ran.has(name))) return;
  const backend = new LevelZeroBackend();
  await backend.init();
  for (const { kernel, shape, folded, inputs = {}, outputs = {} } of SAMPLES) {
    const points = shape.reduce((/** @type {number} */ product, /** @type {number} */ size) => product * size, 1);
    /** @type {number[]} */
    const pointers = [];
    const operand = (/** @type {any} */ { name, type }, /** @type {any} */ view) => {
      const elements = view?.shape?.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1) ?? points;
      const ptr = backend.alloc(elements * BYTES_OF[view?.dtype ?? type]);
      backend.fill(ptr, 0, elements * BYTES_OF[view?.dtype ?? type]);
      pointers.push(ptr);
      return [name, { ...view, ptr }];
    };
    const params = kernel.params.map((/** @type {any} */ { name }) => [name, 1]);
    backend.run(kernel, {
      shape,
      ...(folded === undefined ? {} : { folded }),
      inputs: Object.fromEntries(kernel.inputs.map((/** @type {any} */ each) => operand(each, inputs[each.name]))),
      outputs: Object.fromEntries(kernel.outputs.map((/** @type {any} */ each) => operand(each, outputs[each.name]))),
      params: Object.fromEntries(params),
    });
    await backend.synchronize();
    for (const ptr of pointers) backend.free(ptr);
  }
  await backend.dispose();
}

/** Runs cases, and says which did not pass. @param {object} selection */
async function run(selection) {
  const report = await runConformance(() => new LevelZeroBackend(), selection);
  if (report.notRun !== undefined) throw new Error(`there is no device to run on: ${report.notRun}`);
  for (const { id, status, detail } of report.cases) {
    if (status === 'passed') continue;
    failures++;
    console.error(`${status}: ${id}: ${detail}`);
  }
  return report;
}

/** Cases whose plans have kernels that have not run, found by planning drawn cases without building or running them. */
async function findCases() {
  /** @type {string[]} */
  let planned = [];
  const { compile } = LevelZeroClient.prototype;
  LevelZeroClient.prototype.compile = async (/** @type {Kernel} */ { name }) => void planned.push(name);
  const backend = new LevelZeroBackend();
  await backend.init();
  const wanted = new Set([...emitted.keys()].filter((name) => !ran.has(name)));
  const before = wanted.size;
  const ids = [];
  const random = seeded(2026);
  for (let draw = 0; draw < DRAWS && wanted.size > 0; draw++) {
    const rooms = [...new Set([...wanted].map((name) => name.split('/')[0] ?? ''))];
    const drawn = drawCase(random, rooms, WORK[Math.floor((draw * WORK.length) / DRAWS)] ?? MAX_WORK);
    if (drawn === undefined) continue;
    planned = [];
    await backend.prepare([{ op: drawn.op, call: drawn.call }]);
    if (!planned.some((name) => wanted.has(name))) continue;
    for (const name of planned) wanted.delete(name);
    ids.push(drawn.id);
  }
  await backend.dispose();
  LevelZeroClient.prototype.compile = compile;
  return { found: before - wanted.size, ids };
}

/** Emits a kernel, before anything else does, and takes the time. @param {Kernel} kernel */
function emit(kernel) {
  if (emitted.has(kernel.name)) return;
  emitted.set(kernel.name, kernel);
  const start = performance.now();
  kernel.words();
  const ms = performance.now() - start;
  if (ms > slowest.ms) slowest = { name: kernel.name, ms };
}

/** @returns {string[]} what `spirv-val` says against modules */
function validate() {
  const folder = mkdtempSync(join(tmpdir(), 'concord-spirv-'));
  try {
    return [...emitted.values()].flatMap((kernel, index) => {
      const file = join(folder, `${index}.spv`);
      const module = kernel.words();
      writeFileSync(file, new Uint8Array(module.buffer, module.byteOffset, module.byteLength));
      const { status, stderr, error } = spawnSync('spirv-val', ['--target-env', environmentOf(module), file], {
        encoding: 'utf8',
      });
      if (error) throw new Error(`spirv-val cannot be run (Debian: apt-get install spirv-tools): ${error.message}`);
      return status === 0 ? [] : [`${kernel.name}: ${stderr.trim()}`];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns whether a module declares the capability Float16: capabilities come first. @param {Uint32Array} module */
function usesFloat16(module) {
  const [OP_CAPABILITY, FLOAT16] = [17, 9];
  const word = (/** @type {number} */ at) => module[at] ?? 0;
  for (let at = 5; (word(at) & 0xffff) === OP_CAPABILITY; at += word(at) >>> 16) {
    if (word(at + 1) === FLOAT16) return true;
  }
  return false;
}
