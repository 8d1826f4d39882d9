import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { DeviceInfo, FloatDType } from '@concord/backend-core';
import { WasmBackend } from '@concord/backend-wasm';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { slugOf } from './device.ts';
import { UsageError } from './exit.ts';
import { GPT_SIZES, type GptContestant, type GptSize } from './gpt/cases.ts';
import { concordGpt } from './gpt/concord.ts';
import { runGpt } from './gpt/run.ts';
import { finishModel } from './models/finish.ts';
import { deviceOf, startDevice } from './models/start.ts';
import { QUICK, WHOLE, WHOLE_ON_CPU } from './models/measure.ts';
import { torchTimes } from './models/torch.ts';
import { MODEL_OPTIONS, oneOf, positive } from './options.ts';
import { type Candidate, candidate, RESULTS } from './results.ts';

const DTYPES: readonly FloatDType[] = ['f32', 'f16'];

/** A backend that the model runs on, beside whom. */
interface Ground {
  readonly arena: string;
  readonly device: DeviceInfo;
  readonly ours: GptContestant;
  readonly peers: readonly Candidate<GptContestant>[];
}

/** Loaded when the peers' GPU is there. */
const WEBGPU_PEERS: readonly Candidate<GptContestant>[] = [
  candidate('tfjs webgpu', async () => (await import('./gpt/tfjs.ts')).tfjsGpt),
  candidate('onnxruntime webgpu', async () => (await import('./gpt/onnxruntime.ts')).onnxruntimeGpt),
];

/** The size whose results are kept, and all types that are timed with it, by the names of backends. */
const WHOLES = { webgpu: { size: 'small', dtypes: DTYPES }, wasm: { size: 'example', dtypes: ['f32'] } } as const;

/**
 * Times GPT-2 with random weights on a backend, beside PyTorch and the peers that run it on the same device. Options: see the
 * help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchGpt(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...MODEL_OPTIONS,
      backend: { type: 'string', default: 'webgpu' },
      size: { type: 'string' },
      dtype: { type: 'string' },
      threads: { type: 'string' },
    },
  });
  const backend = oneOf('--backend', values.backend, ['webgpu', 'wasm']);
  const [whole, isWasm] = [WHOLES[backend], backend === 'wasm'];
  if (isWasm && (values.torch || values.limit !== undefined || values.device !== undefined))
    throw new UsageError('--torch, --limit and --device are for WebGPU');
  if (!isWasm && values.threads !== undefined) throw new UsageError('--threads is for --backend wasm');
  const sizeName = oneOf('--size', values.size ?? whole.size, Object.keys(GPT_SIZES));
  const size = GPT_SIZES[sizeName] as GptSize;
  const dtypes = values.dtype === undefined ? whole.dtypes : [oneOf('--dtype', values.dtype, DTYPES)];
  const isWhole = sizeName === whole.size;
  const script = ['torch_gpt.py', '--size', sizeName, '--dtype', dtypes.join(',')] as const;
  // By itself, before the others take the device.
  const torch = isWasm ? undefined : await torchTimes(script, values.torch, values.limit);
  const { arena, device, ours, peers } = isWasm ? await wasmGround(values.threads) : await webgpuGround(values.device);
  const schedule = isWhole ? (isWasm ? WHOLE_ON_CPU : WHOLE) : QUICK;
  const found = await runGpt({
    size,
    dtypes,
    schedule,
    torch,
    ours,
    peers,
    onCase: (result) => (values.json ? console.log(JSON.stringify(result)) : console.error(result.case)),
  });
  const parent = values.out === undefined ? undefined : pathToFileURL(`${values.out}/`);
  return finishModel('gpt', {
    arena,
    device,
    schedule,
    ...found,
    isPrinted: !values.json,
    parent: parent ?? (isWhole && values.dtype === undefined ? RESULTS : undefined),
  });
}

async function webgpuGround(name: string | undefined): Promise<Ground> {
  const device = await startDevice(name);
  // On another Dawn than the peers.
  const ours = concordGpt('@concord/backend-webgpu', () => new WebGpuBackend({ dawn: {} }));
  return { arena: `webgpu-${slugOf(device.name)}`, device, ours, peers: WEBGPU_PEERS };
}

async function wasmGround(text: string | undefined): Promise<Ground> {
  const threads = text === undefined ? availableParallelism() : positive('--threads', text);
  const device = await deviceOf(new WasmBackend({ threads }));
  return {
    arena: `wasm-${threads}`,
    device,
    ours: concordGpt('@concord/backend-wasm', () => new WasmBackend({ threads })),
    peers: [
      candidate('onnxruntime web', async () => (await import('./gpt/onnxruntime-web.ts')).onnxruntimeWebGpt(threads)),
      candidate('onnxruntime cpu', async () => (await import('./gpt/onnxruntime.ts')).onnxruntimeCpuGpt(threads)),
    ],
  };
}
