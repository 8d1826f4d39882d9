import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { slugOf, startDevice } from './device.ts';
import { finishModel, hostMsOf, measureModel, type PreparedModel, QUICK, WHOLE } from './models.ts';
import { torchContestants, torchEntries, torchTimes } from './limits/torch.ts';
import { MODEL_OPTIONS, oneOf } from './options.ts';
import { RESNET_18 } from './resnet/architecture.ts';
import { checkScores } from './resnet/check.ts';
import { classify, noiseImages, untrainedWeights } from './resnet/network.ts';
import { resultsParent } from './results.ts';

/** Bytes of the weights of ResNet-18 without those of its norms, which are folded into the convolutions. */
const RESNET_BYTES: number = 4 * 11_684_712;

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
  const theirs = torchEntries(torch, { op, name }, 'torch eager');
  const result = { op, case: name, traffic: RESNET_BYTES, entries: [...theirs, ...entries] };
  if (values.json) console.log(JSON.stringify(result));
  return finishModel('resnet', {
    ...{ arena: `webgpu-${slugOf(device.name)}`, device, schedule, cases: [result], isPrinted: !values.json },
    contestants: [
      { name: 'concord', role: 'ours', version: '@concord/backend-webgpu and @concord/ops, this checkout' },
      ...torchContestants(torch, 'torch eager'),
    ],
    parent: resultsParent(values.out, size === 'whole'),
  });
}

/**
 * ResNet-18 on the WebGPU backend.
 *
 * @throws {Error} where the scores of an image are not those of the float64 reference
 */
async function concordResnet(batch: number, pixels: number): Promise<PreparedModel> {
  const backend = new WebGpuBackend({ dawn: {} });
  await backend.init();
  const weights = untrainedWeights(backend, RESNET_18);
  const images = noiseImages(backend, batch, pixels);
  const close = async (): Promise<void> => {
    for (const each of [...Object.values(weights), images]) each.dispose();
    await backend.dispose();
  };
  const { passed, difference } = await checkScores(backend, RESNET_18, weights, new AbortController().signal);
  if (!passed) {
    await close();
    throw new Error(`the scores are ${difference} from the reference`);
  }
  return {
    async calls(count) {
      const hostMs = await hostMsOf(count, () => classify(RESNET_18, weights, images).dispose());
      await backend.synchronize();
      return hostMs;
    },
    async outputs() {
      using scores = classify(RESNET_18, weights, images);
      return (await scores.toArray()) as Float32Array;
    },
    close,
  };
}
