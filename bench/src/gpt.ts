import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { DeviceInfo, FloatDType } from '@concord/backend-core';
import { WasmBackend } from '@concord/backend-wasm';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { deviceOf, slugOf, startDevice } from './device.ts';
import {
  GPT_SIZES,
  type GptCase,
  gptCases,
  type GptContestant,
  type GptModel,
  type GptSize,
  gptWeights,
  sizeOf,
} from './gpt/cases.ts';
import { concordGpt } from './gpt/concord.ts';
import { type Torch, torchContestants, torchEntries, torchTimes } from './limits/torch.ts';
import { finishModel, measureModel, QUICK, WHOLE, WHOLE_ON_CPU } from './models.ts';
import { MODEL_OPTIONS, oneOf, positive, reasonOf, UsageError } from './options.ts';
import { hostGpt } from './onnx/host.ts';
import { NotOffered } from './peer.ts';
import {
  type Candidate,
  candidate,
  type CaseResult,
  contestantResult,
  type Entry,
  loadCandidates,
  resultsParent,
} from './results.ts';
import type { Schedule } from './turns.ts';

const TORCH = ['torch graph', 'torch eager'] as const;
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
  const { present, contestants } = await loadCandidates(peers);
  const reference = await loadReference();
  const cases: CaseResult[] = [];
  for (const dtype of dtypes) {
    for await (const result of casesOfType({ size, dtype, schedule, torch, reference }, [ours, ...present])) {
      cases.push(result);
      if (values.json) console.log(JSON.stringify(result));
      else console.error(result.case);
    }
  }
  const remark = reference === undefined && { remark: 'results not compared: onnxruntime-node is not installed' };
  return finishModel('gpt', {
    ...{ arena, device, schedule, cases, isPrinted: !values.json },
    contestants: [{ ...contestantResult(ours), ...remark }, ...contestants, ...torchContestants(torch, ...TORCH)],
    parent: resultsParent(values.out, isWhole && values.dtype === undefined),
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
      candidate('onnxruntime web', async () => hostGpt((await import('./onnx/web-runtime.ts')).webRuntime(threads))),
      candidate('onnxruntime cpu', async () => hostGpt((await import('./onnx/sessions.ts')).nodeRuntime(threads))),
    ],
  };
}

type Reference = (gptCase: GptCase) => Promise<Float32Array>;

interface TypeRun {
  readonly size: GptSize;
  readonly dtype: FloatDType;
  readonly schedule: Schedule;
  /** PyTorch's times, if it could be timed. */
  readonly torch: Torch | undefined;
  readonly reference: Reference | undefined;
}

/** Times the contestants with all work in one type. */
async function* casesOfType(
  { size, dtype, schedule, torch, reference }: TypeRun,
  contestants: readonly GptContestant[],
): AsyncGenerator<CaseResult> {
  const models = new Map<string, GptModel>();
  const others: Entry[] = [];
  for (const { name, load } of contestants) {
    try {
      models.set(name, await load(size.config, dtype));
    } catch (error) {
      others.push({ name, [error instanceof NotOffered ? 'lacks' : 'failed']: reasonOf(error) });
    }
  }
  const known = new Map<string, Float32Array>();
  for (const gptCase of gptCases(size, [dtype])) {
    const { op, name, limitName } = gptCase;
    const logits = known.get(limitName) ?? (await reference?.(gptCase));
    if (logits !== undefined) known.set(limitName, logits);
    const prepares = [...models].map(([who, model]) => [who, () => model.prepare(gptCase)] as const);
    const entries = await measureModel(dtype, new Map(prepares), logits, schedule);
    const theirs = torchEntries(torch, { op, name: limitName }, ...TORCH);
    yield { op, case: name, traffic: trafficOf(gptCase), entries: [...theirs, ...entries, ...others] };
  }
  for (const model of models.values()) await model.close();
}

/** Bytes of the weights, each once, and of the cache. */
function trafficOf({ config, dtype, batch, cached }: GptCase): number {
  const weights = gptWeights(config).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return (weights + 2 * config.n_layer * batch * cached * config.n_embd) * (dtype === 'f16' ? 2 : 4);
}

async function loadReference(): Promise<Reference | undefined> {
  try {
    return (await import('./gpt/onnxruntime.ts')).referenceLogits;
  } catch {
    return undefined;
  }
}
