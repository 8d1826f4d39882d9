import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { FloatDType } from '@concord/backend-core';
import { UsageError } from './exit.ts';
import { GPT_SIZES, type GptSize } from './gpt/cases.ts';
import { runGpt } from './gpt/run.ts';
import { finishModel } from './models/finish.ts';
import { startDevice } from './models/start.ts';
import { QUICK, WHOLE } from './models/schedules.ts';
import { torchTimes } from './models/torch.ts';
import { RESULTS } from './results.ts';

const DTYPES: readonly FloatDType[] = ['f32', 'f16'];

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
  const isWhole = values.size === 'small';
  const script = ['torch_gpt.py', '--size', values.size, '--dtype', dtypes.join(',')] as const;
  // By itself, before the others take the device.
  const torch = await torchTimes(script, values.torch, values.limit);
  const device = await startDevice(values.device);
  const schedule = isWhole ? WHOLE : QUICK;
  const found = await runGpt({
    size,
    dtypes,
    schedule,
    torch,
    onCase: (result) => (values.json ? console.log(JSON.stringify(result)) : console.error(result.case)),
  });
  const parent = values.out === undefined ? undefined : pathToFileURL(`${values.out}/`);
  return finishModel('gpt', {
    device,
    schedule,
    ...found,
    isPrinted: !values.json,
    parent: parent ?? (isWhole && values.dtype === undefined ? RESULTS : undefined),
  });
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
