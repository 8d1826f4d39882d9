import type { FloatDType } from '@concord/backend-core';
import type { Schedule } from '../turns.ts';
import type { Torch } from '../limits/torch.ts';
import { NotOffered } from '../peer.ts';
import { reasonOf } from '../reason.ts';
import {
  type Candidate,
  type CaseResult,
  contestantResult,
  type ContestantResult,
  type Entry,
  loadCandidates,
} from '../results.ts';
import { type GptCase, gptCases, type GptContestant, type GptModel, type GptSize } from './cases.ts';
import { measureModel } from '../models/measure.ts';
import { torchContestants, torchEntries } from '../models/torch.ts';
import { gptWeights, sizeOf } from './weights.ts';

/** A run of the model, with PyTorch's times for it. */
export interface GptRun {
  readonly size: GptSize;
  readonly dtypes: readonly FloatDType[];
  readonly schedule: Schedule;
  /** PyTorch's times, if it could be timed. */
  readonly torch: Torch | undefined;
  readonly ours: GptContestant;
  readonly peers: readonly Candidate<GptContestant>[];
  /** Told of each case when it is there. */
  readonly onCase: (result: CaseResult) => void;
}

type Reference = (gptCase: GptCase) => Promise<Float32Array>;

/** Times ours and the peers that are there. */
export async function runGpt(
  run: GptRun,
): Promise<{ readonly contestants: ContestantResult[]; readonly cases: CaseResult[] }> {
  const { present, contestants } = await loadCandidates(run.peers);
  const reference = await loadReference();
  const cases: CaseResult[] = [];
  for (const dtype of run.dtypes) cases.push(...(await runType(run, dtype, [run.ours, ...present], reference)));
  const unchecked =
    reference === undefined ? { remark: 'results not compared: onnxruntime-node is not installed' } : {};
  const ours = { ...contestantResult(run.ours), ...unchecked };
  return { contestants: [ours, ...contestants, ...(run.torch ? torchContestants(run.torch) : [])], cases };
}

async function runType(
  { size, schedule, torch, onCase }: GptRun,
  dtype: FloatDType,
  contestants: readonly GptContestant[],
  reference: Reference | undefined,
): Promise<CaseResult[]> {
  const models = new Map<string, GptModel>();
  const others: Entry[] = [];
  for (const { name, load } of contestants) {
    try {
      models.set(name, await load(size.config, dtype));
    } catch (error) {
      others.push({ name, [error instanceof NotOffered ? 'lacks' : 'failed']: reasonOf(error) });
    }
  }
  const results: CaseResult[] = [];
  const known = new Map<string, Float32Array>();
  for (const gptCase of gptCases(size, [dtype])) {
    const { op, name, limitName } = gptCase;
    const logits = known.get(limitName) ?? (await reference?.(gptCase));
    if (logits !== undefined) known.set(limitName, logits);
    const prepares = [...models].map(([who, model]) => [who, () => model.prepare(gptCase)] as const);
    const entries = await measureModel(dtype, new Map(prepares), logits, schedule);
    const result = {
      op,
      case: name,
      traffic: trafficOf(gptCase),
      entries: [...(torch === undefined ? [] : torchEntries(gptCase, torch)), ...entries, ...others],
    };
    onCase(result);
    results.push(result);
  }
  for (const model of models.values()) await model.close();
  return results;
}

/** Bytes of the weights, each once, and of the cache. */
function trafficOf({ config, dtype, batch, cached }: GptCase): number {
  const weights = gptWeights(config).reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  return (weights + 2 * config.n_layer * batch * cached * config.n_embd) * (dtype === 'f16' ? 2 : 4);
}

async function loadReference(): Promise<Reference | undefined> {
  try {
    return (await import('./onnxruntime.ts')).referenceLogits;
  } catch {
    return undefined;
  }
}
