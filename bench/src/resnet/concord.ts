import { WebGpuBackend } from '@concord/backend-webgpu';
import { checkScores, classify, noiseImages, RESNET_18, untrainedWeights } from '@concord/example-resnet';
import type { PreparedModel } from '../models/measure.ts';

/** Bytes of the weights of ResNet-18 without those of its norms, which are folded into the convolutions. */
export const RESNET_BYTES: number = 4 * 11_684_712;

/**
 * The ResNet-18 of `examples/resnet` on the WebGPU backend.
 *
 * @throws {Error} where the scores of an image are not those of the example's float64 reference
 */
export async function concordResnet(batch: number, pixels: number): Promise<PreparedModel> {
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
      let hostMs = 0;
      for (let call = 0; call < count; call++) {
        const start = performance.now();
        classify(RESNET_18, weights, images).dispose();
        hostMs += performance.now() - start;
      }
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
