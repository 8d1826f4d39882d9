import { CpuBackend } from '@concord/backend-cpu';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WasmBackend } from '@concord/backend-wasm';
import { type DawnOptions, WebGpuBackend } from '@concord/backend-webgpu';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Arena, runArena } from './arena.ts';
import { checkDevice, installNavigator, readySoftwareDevices, slugOf, useDevice, useLevelZeroCpu } from './device.ts';
import { describeBackend } from './overhead.ts';
import { type CaseSet, casesOf, checkOps, type LimitCase, selectCases } from './limits/cases.ts';
import { readTorch, runTorch } from './limits/torch.ts';
import { CASE_OPTIONS, EXIT, oneOf, parseCeilings, positive } from './options.ts';
import { concord, type ConcordOptions } from './peers/concord.ts';
import { candidate, type Candidate, machine, type Results } from './results.ts';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));

/**
 * Everything that is there, each device in a separate process, so that one that crashes leaves the others alone: the
 * CPU, WebAssembly with one thread and with all, Level Zero on the CPU, WebGPU on the GPU of the machine and on the software devices that are set up, or on those that
 * `--device` names. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right; a machine without a GPU or Level Zero is no failure
 */
export async function benchAll(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...CASE_OPTIONS,
      device: { type: 'string' },
      limit: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const { quick, device, limit, ...rest } = values;
  if (limit !== undefined) readTorch(limit);
  checkOps(values.only);
  device?.split(',').forEach(checkDevice);
  const common = Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  if (quick) common.push('--quick');
  const devices = device?.split(',') ?? ['system', ...(await readySoftwareDevices())];
  const runs: string[][] = [
    ['cpu', ...common],
    ['wasm', '--threads', '1', ...common],
    ['wasm', ...common],
    ['level-zero', ...common],
    ...devices.map((name) => {
      const recorded = limit === undefined || name !== 'system' ? [] : ['--limit', limit];
      return ['webgpu', '--device', name, ...recorded, ...common];
    }),
  ];
  const codes: (number | null)[] = [];
  for (const run of runs) {
    console.error(`\n$ bench ${run.join(' ')}`);
    const child = spawn(process.execPath, [MAIN, ...run], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (signal !== null) console.error(`bench ${run[0]} was ended by ${signal}`);
    codes.push(code);
  }
  return codes.every((code) => code === 0 || code === EXIT.notHere);
}

const RUN_OPTIONS = { ...CASE_OPTIONS, out: { type: 'string' }, ceilings: { type: 'string' } } as const;
const QUICK = { rounds: 3, roundMs: 1 };

/** Commands that name a device. */
export type DeviceName = 'cpu' | 'wasm' | 'level-zero' | 'webgpu';

/** Options of a run; each device has some of them. */
interface Values {
  readonly quick: boolean;
  readonly only?: string;
  readonly case?: string;
  readonly out?: string;
  readonly ceilings?: string;
  readonly device?: string;
  readonly threads?: string;
  readonly limit?: string;
}

/** A device with its contestants; `cases` and ceilings follow from the options. */
interface Ground extends Omit<Arena, 'cases' | 'schedule' | 'ceilings'> {
  readonly set: CaseSet;
  /** But for `--quick`. */
  readonly schedule: Results['schedule'];
}

/**
 * Times the backends of a command that names a device beside others on it. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchDevice(name: DeviceName, args: readonly string[]): Promise<boolean> {
  const { own, ground } = GROUNDS[name];
  const options = { ...RUN_OPTIONS, ...Object.fromEntries(own.map((each) => [each, { type: 'string' as const }])) };
  const values = parseArgs({ args: [...args], options }).values as Values;
  const ceilings = parseCeilings(values.ceilings);
  const { set, schedule, ...arena } = await ground(values);
  const cases = selected(values, set);
  return runArena({ ...arena, cases, schedule: values.quick ? QUICK : schedule, ceilings }, values);
}

/** The commands: options besides those of all, and what they find. */
const GROUNDS: Readonly<
  Record<DeviceName, { readonly own: readonly string[]; readonly ground: (values: Values) => Promise<Ground> }>
> = {
  cpu: { own: [], ground: onCpu },
  wasm: { own: ['threads'], ground: onWasm },
  'level-zero': { own: ['device'], ground: onLevelZero },
  webgpu: { own: ['device', 'limit'], ground: onWebgpu },
};

function selected({ quick, only, case: name }: Values, set: CaseSet): LimitCase[] {
  return selectCases(casesOf(quick ? 'quick' : set), only, name);
}

/** One of our backends. */
function ours(backend: string, create: Parameters<typeof concord>[1], options: ConcordOptions = {}): Candidate {
  const make = () => concord(`@concord/backend-${backend}, this checkout`, create, options);
  return candidate(options.name ?? 'concord', make, options.name === undefined ? 'ours' : 'option');
}

const onnxruntimeCpu = (threads?: number): Candidate =>
  candidate('onnxruntime cpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeCpu(threads));

/** Other libraries that multiply matrices in Node without a GPU. */
async function onCpu(): Promise<Ground> {
  return {
    ...{ name: 'cpu', device: String(machine()['cpu']), set: 'cpu', schedule: { rounds: 7, roundMs: 20 } },
    candidates: [
      ours('cpu', () => new CpuBackend()),
      candidate('tfjs cpu', async () => (await import('./peers/tfjs.ts')).tfjsCpu()),
      candidate('tfjs wasm', async () => (await import('./peers/tfjs.ts')).tfjsWasm({ runsLast: true })),
      onnxruntimeCpu(),
    ],
  };
}

/** Others on WebAssembly, and native code, with as many threads each. */
async function onWasm(values: Values): Promise<Ground> {
  const threads = values.threads === undefined ? availableParallelism() : positive('--threads', values.threads);
  const { device, overhead } = await describeBackend(new WasmBackend({ threads }), values.quick, { onCpu: true });
  const relaxed = { name: 'concord relaxed', remark: 'with relaxed SIMD, which Node 20 has only when asked to' };
  return {
    ...{ name: `wasm-${threads}`, device: device.name, overhead, set: 'wasm' },
    schedule: { rounds: 11, roundMs: 20, pauseMs: 20, takes: 'least' },
    candidates: [
      ours('wasm', () => new WasmBackend({ threads, relaxedSimd: false })),
      ours('wasm', () => new WasmBackend({ threads, relaxedSimd: true }), relaxed),
      candidate('onnxruntime web', async () => (await import('./peers/onnxruntime-web.ts')).onnxruntimeWeb(threads)),
      candidate('onnxruntime web, fed', async () =>
        (await import('./peers/onnxruntime-web.ts')).onnxruntimeWebFed(threads),
      ),
      // In turns with the others: it slows JavaScript, and none of them computes in JavaScript.
      candidate('tfjs wasm', async () => (await import('./peers/tfjs.ts')).tfjsWasm({ runsLast: false })),
      onnxruntimeCpu(threads),
    ],
  };
}

/** On the CPU driver libraries that run on the CPU. */
async function onLevelZero({ device: given = 'cpu', quick }: Values): Promise<Ground> {
  const isCpu = oneOf('--device', given, ['cpu', 'system']) === 'cpu';
  if (isCpu) await useLevelZeroCpu();
  const { device, overhead } = await describeBackend(new LevelZeroBackend(), quick);
  return {
    ...{ name: `level-zero-${isCpu ? 'cpu' : slugOf(device.name)}`, device: device.name, driver: device.driver },
    ...{ overhead, set: isCpu ? 'levelZero' : 'gpu', schedule: { rounds: 15, roundMs: 100 } },
    candidates: [ours('levelzero', () => new LevelZeroBackend()), ...(isCpu ? [onnxruntimeCpu()] : [])],
  };
}

/** Peers in Node on the same device, and PyTorch where that has the device too. */
async function onWebgpu(values: Values): Promise<Ground> {
  const { quick, only } = values;
  const recorded = values.limit === undefined ? undefined : readTorch(values.limit);
  await useDevice(values.device);
  // On another Dawn than the peers: without `dawn` it would take the `navigator.gpu` that is there for them.
  const create = (dawn: DawnOptions = {}): WebGpuBackend => new WebGpuBackend({ dawn });
  const { device, overhead } = await describeBackend(create(), quick);
  const isSoftware = device.type === 'software' || device.type === 'cpu';
  const set = isSoftware ? 'software' : 'gpu';
  await installNavigator({ pauses: isSoftware });
  const unchecked = {
    name: 'concord, robustness off',
    remark: 'dawn: { robustness: false }, for products of f16',
    ops: ['gemm_f16'],
  } as const;
  return {
    ...{ name: `webgpu-${slugOf(device.name)}`, device: device.name, driver: device.driver, set, overhead },
    // Waits for a software device take milliseconds, so its rounds are longer. A GPU that had nothing to do runs at a
    // fraction of its clock for some tenths of a second. The wait at the end of a round takes up to half a millisecond,
    // which PyTorch's events do not see.
    schedule: isSoftware ? { rounds: 7, roundMs: 100 } : { rounds: 7, roundMs: 50, warmMs: 300 },
    torch:
      recorded ??
      (isSoftware
        ? { absent: 'a software device has no vendor' }
        : await runTorch(quick ? 'quick' : set, only, values.case)),
    // Peers look for a GPU when they are loaded, so that comes after the navigator is there.
    candidates: [
      ours('webgpu', () => create()),
      ...(isSoftware ? [] : [ours('webgpu', () => create({ robustness: false }), unchecked)]),
      candidate('jax-js', async () => (await import('./peers/jax-js.ts')).jaxJs),
      candidate('tfjs webgpu', async () => (await import('./peers/tfjs.ts')).tfjsWebgpu()),
      candidate('onnxruntime webgpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeWebgpu),
    ],
  };
}
