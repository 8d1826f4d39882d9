import { readFile } from 'node:fs/promises';
import type { ComputeBackend } from '@concord/backend-core';
import {
  type CommandContext,
  type CommonOptions,
  deviceText,
  EXIT,
  factLines,
  progressOn,
  UserError,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { cast, loadSafetensors, QuantizedTensor, type Tensor } from '@concord/ops';
import { fileSource, saveSafetensors } from '@concord/ops/node';
import { type Adapter, adapted, finetune } from './finetune.ts';
import type { ModelFiles } from './model.ts';
import type { NamedWeights } from './weights.ts';

/** Options of `--finetune`. */
interface Options extends CommonOptions {
  readonly adapter?: string;
  readonly steps: number;
  readonly seed: number;
}

const SHAPE = { rank: 8, rate: 5e-3, batch: 4, length: 64 };

/** Fits an adapter to a text, and writes it. */
export async function finetuneOn(
  path: string,
  files: ModelFiles,
  { backend: wanted, adapter: to, steps, seed, json = false }: Options,
  { stdout, stderr, signal }: CommandContext,
): Promise<number> {
  if (to === undefined) throw new UserError('NO_ADAPTER', '--finetune needs --adapter, the file to write');
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UserError('NO_TEXT', `cannot read ${path}`);
  });
  const { ids } = files.tokenizer.encode(text, { add_special_tokens: false });
  return withBackend(wanted, [{ op: 'gemm' }, { op: 'attention' }, { op: 'run' }], async (backend) => {
    const named = floats(await files.read(backend, { signal, onProgress: () => undefined }));
    const progress = progressOn(stderr, 'steps');
    const onStep = (step: number, loss: number): void => progress.update(step, steps, `loss ${loss.toFixed(4)}`);
    const options = { ...SHAPE, steps, seed, signal, onStep };
    try {
      const { adapter, losses } = await finetune(backend, files.config, named, ids, options);
      await saveSafetensors(to, adapter);
      dispose(adapter);
      writeResult(stdout, json, { adapter: to, ...SHAPE, steps, seed, tokens: ids.length, losses }, () =>
        factLines({
          Loss: `${losses[0]?.toFixed(3)} to ${losses.at(-1)?.toFixed(3)} in ${steps} steps over ${ids.length} tokens`,
          Adapter: to,
          Backend: deviceText(backend),
        }),
      );
      return EXIT.ok;
    } finally {
      progress.stop();
      dispose(named);
    }
  });
}

/** What adds an adapter of a file to weights, and disposes both. */
export async function adapterOf(backend: ComputeBackend, path: string): Promise<(named: NamedWeights) => NamedWeights> {
  // A plain object: that of a file throws for names that it lacks.
  const adapter: Adapter = { ...(await loadSafetensors(backend, fileSource(path))) };
  return (named) => {
    const own = adapted(named, adapter);
    dispose(adapter);
    for (const each of Object.values(named)) if (!(each instanceof QuantizedTensor)) each.dispose();
    return own;
  };
}

function floats(named: NamedWeights): NamedWeights {
  const entries = Object.entries(named).map(([name, weight]): [string, Tensor | QuantizedTensor] => {
    if (weight instanceof QuantizedTensor || weight.dtype === 'f32') return [name, weight];
    const wide = cast(weight, 'f32');
    weight.dispose();
    return [name, wide];
  });
  return Object.fromEntries(entries);
}

function dispose(named: NamedWeights): void {
  for (const each of Object.values(named)) each.dispose();
}
