import { fileURLToPath } from 'node:url';
import type { ComputeBackend } from '@concord/backend-core';
import { Batch } from './batch.ts';
import { tokensOf } from './model.ts';
import { openModel } from './program.ts';

const { LM_MODEL = fileURLToPath(new URL('../model', import.meta.url)), LM_TOKENS = '32' } = process.env;

/** Continues a text: what `concord profile examples/lm/dist/profile.js` runs. */
export default async function generate(backend: ComputeBackend): Promise<void> {
  const [files, { signal }] = [await openModel(LM_MODEL), new AbortController()];
  using model = await files.load(backend, { dtype: 'f32', signal, onProgress: () => undefined });
  const [prompt, tokens] = [tokensOf(files, 'The backend'), Number(LM_TOKENS)];
  await using batch = new Batch(model, { context: prompt.length + tokens });
  for await (const _ of batch.generate({ prompt, tokens, temperature: 0, seed: 1, signal }));
}
