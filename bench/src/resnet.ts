import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { slugOf } from './device.ts';
import { finishModel } from './models/finish.ts';
import { measureModel, QUICK, WHOLE } from './models/measure.ts';
import { startDevice } from './models/start.ts';
import { EAGER, torchContestants, torchEntries, torchTimes } from './models/torch.ts';
import { concordResnet, RESNET_BYTES } from './resnet/concord.ts';
import { MODEL_OPTIONS, oneOf } from './options.ts';
import { RESULTS } from './results.ts';

/** Values of `--size`: how many images, and how wide and high they are. The second one is for a software device. */
const SIZES = { whole: { batch: 16, pixels: 224 }, tiny: { batch: 1, pixels: 64 } } as const;

/**
 * Times ResNet-18 in float32 on the WebGPU backend, beside eager PyTorch on the same device. Options: see the help in
 * main.ts.
 *
 * @returns whether it ran and was right
 */
export async function benchResnet(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...MODEL_OPTIONS, size: { type: 'string', default: 'whole' } },
  });
  const size = oneOf('--size', values.size, ['whole', 'tiny']);
  const { batch, pixels } = SIZES[size];
  const script = ['torch_resnet.py', '--batch', `${batch}`, '--pixels', `${pixels}`] as const;
  const torch = await torchTimes(script, values.torch, values.limit);
  const device = await startDevice(values.device);
  const schedule = size === 'whole' ? WHOLE : QUICK;
  const [op, name] = ['resnet18', `f32 ${batch}x3x${pixels}x${pixels}`];
  const contestants = new Map([['concord', () => concordResnet(batch, pixels)]]);
  const entries = await measureModel('f32', contestants, undefined, schedule);
  const result = {
    op,
    case: name,
    traffic: RESNET_BYTES,
    entries: [...torchEntries({ op, limitName: name }, torch), ...entries],
  };
  if (values.json) console.log(JSON.stringify(result));
  const parent = values.out === undefined ? undefined : pathToFileURL(`${values.out}/`);
  return finishModel('resnet', {
    arena: `webgpu-${slugOf(device.name)}`,
    device,
    schedule,
    contestants: [
      { name: 'concord', role: 'ours', version: '@concord/backend-webgpu and examples/resnet, this checkout' },
      ...torchContestants(torch, [EAGER]),
    ],
    cases: [result],
    isPrinted: !values.json,
    parent: parent ?? (size === 'whole' ? RESULTS : undefined),
  });
}
