import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { DeviceInfo, FloatDType } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { loadTargets } from './arena.ts';
import { installNavigator } from './dawn.ts';
import { slugOf, useDevice } from './device.ts';
import { UsageError } from './exit.ts';
import { GPT_SIZES, type GptSize } from './gpt/cases.ts';
import { concordGpt } from './gpt/concord.ts';
import { GPT_FILES } from './gpt/files.ts';
import { runGpt } from './gpt/run.ts';
import { formatGpt } from './gpt/table.ts';
import { readTorch, runTorchScript, type TorchLimits } from './limits/torch.ts';
import { machine } from './machine.ts';
import { reasonOf } from './reason.ts';
import { newResults, type Results, RESULTS, saveResults, saveText } from './results.ts';

const DTYPES: readonly FloatDType[] = ['f32', 'f16'];
const QUICK = { rounds: 3, roundMs: 20 };
/** See GPU_ROUNDS in webgpu.ts. */
const WHOLE = { rounds: 7, roundMs: 100, warmMs: 300 };

/**
 * `[--size small|tiny] [--dtype f32|f16] [--device D] [--torch] [--limit FILE] [--json] [--out FOLDER]`: times GPT-2 with
 * random weights on the WebGPU backend, beside PyTorch and the peers that run it on the same device.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchGpt(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: 'small' },
      dtype: { type: 'string' },
      device: { type: 'string' },
      torch: { type: 'boolean', default: false },
      limit: { type: 'string' },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const size = sizeNamed(values.size);
  const dtypes = typesNamed(values.dtype);
  const recorded = values.limit === undefined ? undefined : readTorch(values.limit);
  const isWhole = values.size === 'small';
  // By itself, before the others take the device.
  const torch = recorded ?? (await tryTorch(values.torch, values.size, dtypes));
  await useDevice(values.device);
  const device = await describeDevice();
  await installNavigator({ pauses: device.type === 'software' || device.type === 'cpu' });
  const schedule = isWhole ? WHOLE : QUICK;
  const results = newResults({
    arena: `webgpu-${slugOf(device.name)}`,
    device: device.name,
    ...(device.driver !== undefined && { driver: device.driver }),
    machine: machine(),
    date: new Date().toISOString().slice(0, 10),
    schedule,
    ...(await runGpt({
      size,
      dtypes,
      schedule,
      torch,
      onCase: (result) => (values.json ? console.log(JSON.stringify(result)) : console.error(result.case)),
    })),
  });
  const parent = values.out === undefined ? undefined : pathToFileURL(`${values.out}/`);
  report(results, values.json, parent ?? (isWhole && values.dtype === undefined ? RESULTS : undefined));
  return results.cases.every(({ entries }) =>
    entries.some(({ name, ms }) => name === concordGpt.name && ms !== undefined),
  );
}

function report(results: Results, isJson: boolean, parent: URL | undefined): void {
  const text = formatGpt(results, loadTargets());
  if (!isJson) console.log(text);
  if (parent === undefined) return;
  const folder = new URL(`${results.arena}/`, parent);
  saveResults(folder, results, GPT_FILES.results);
  saveText(new URL(GPT_FILES.table, folder), `${text}\n`);
}

function sizeNamed(name: string): GptSize {
  const size = Object.hasOwn(GPT_SIZES, name) ? GPT_SIZES[name] : undefined;
  if (size === undefined) throw new UsageError(`--size takes ${Object.keys(GPT_SIZES).join(' or ')}, not ${name}`);
  return size;
}

function typesNamed(name: string | undefined): readonly FloatDType[] {
  if (name === undefined) return DTYPES;
  const found = DTYPES.filter((dtype) => dtype === name);
  if (found.length === 0) throw new UsageError(`--dtype takes ${DTYPES.join(' or ')}, not ${name}`);
  return found;
}

async function tryTorch(
  isAsked: boolean,
  size: string,
  dtypes: readonly FloatDType[],
): Promise<TorchLimits | { readonly absent: string }> {
  if (!isAsked) return { absent: 'without --torch' };
  try {
    return await runTorchScript('torch_gpt.py', ['--size', size, '--dtype', dtypes.join(',')]);
  } catch (error) {
    return { absent: reasonOf(error) };
  }
}

async function describeDevice(): Promise<DeviceInfo> {
  const backend = new WebGpuBackend({ dawn: {} });
  await backend.init();
  const { device } = backend;
  await backend.dispose();
  return device;
}
