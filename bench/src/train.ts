import { parseArgs } from 'node:util';
import type { ComputeBackend } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { adamW, valueAndGrad } from '@concord/grad';
import { record, type Tensor, tidy } from '@concord/ops';
import { slugOf, startDevice } from './device.ts';
import { torchContestants, torchEntries, torchTimes } from './limits/torch.ts';
import { finishModel, hostMsOf, measureModel, type PreparedModel, QUICK, WHOLE } from './models.ts';
import { MODEL_OPTIONS, oneOf } from './options.ts';
import { candidate, type Candidate, type CaseResult, loadCandidates, resultsParent } from './results.ts';
import type { TrainPeer } from './train/peers.ts';
import { ADAM_W, mlpNumbers, type NewWork, type Work, WORKS } from './train/works.ts';

/** As in limits/torch_train.py. */
const CHECKED_STEPS = 4;

/** Those that train the MLP too, loaded when their GPU is there. */
const MLP_PEERS: readonly Candidate<TrainPeer>[] = [
  candidate('jax-js', async () => (await import('./train/peers.ts')).jaxJsTrain),
  candidate('tfjs webgpu', async () => (await import('./train/peers.ts')).tfjsTrain()),
];

/**
 * Times steps of training on the WebGPU backend, each recorded whole: loss, gradients and AdamW. Beside eager PyTorch on the same
 * device, whose losses of the first steps ours must be, and for the MLP beside jax-js and TensorFlow.js. Options: see the help in main.ts.
 *
 * @returns whether all ran and were right
 */
export async function benchTrain(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...MODEL_OPTIONS,
      size: { type: 'string', default: 'whole' },
      only: { type: 'string' },
    },
  });
  const size = oneOf('--size', values.size, ['whole', 'tiny']);
  const names = values.only === undefined ? Object.keys(WORKS) : values.only.split(',');
  for (const name of names) oneOf('--only', name, Object.keys(WORKS));
  const script = ['torch_train.py', '--size', size, '--only', names.join(',')] as const;
  const torch = await torchTimes(script, values.torch, values.limit);
  const device = await startDevice(values.device);
  const schedule = size === 'whole' ? WHOLE : QUICK;
  const peers = await loadCandidates(names.includes('mlp') ? MLP_PEERS : []);
  const cases: CaseResult[] = [];
  for (const name of names) {
    const backend = new WebGpuBackend({ dawn: {} });
    await backend.init();
    const work = (WORKS[name] as NewWork)(backend, size);
    const { op, name: what, traffic } = work;
    const line = 'absent' in torch ? undefined : torch.lines.find((each) => each.op === op && each.case === what);
    const contestants = new Map([['concord', () => concordSteps(backend, work)]]);
    if (name === 'mlp')
      for (const { name: peer, prepare } of peers.present)
        contestants.set(peer, () => prepare(mlpNumbers(size), CHECKED_STEPS));
    const reference = line?.losses && Float32Array.from(line.losses);
    const entries = await measureModel('f32', contestants, reference, schedule);
    const theirs = torchEntries(torch, { op, name: what }, 'torch eager');
    cases.push({ op, case: what, traffic, entries: [...theirs, ...entries] });
    if (values.json) console.log(JSON.stringify(cases.at(-1)));
  }
  return finishModel('train', {
    ...{ arena: `webgpu-${slugOf(device.name)}`, device, schedule, cases, isPrinted: !values.json },
    contestants: [
      { name: 'concord', role: 'ours', version: '@concord/backend-webgpu and @concord/grad, this checkout' },
      ...peers.contestants,
      ...torchContestants(torch, 'torch eager'),
    ],
    parent: resultsParent(values.out, size === 'whole' && values.only === undefined),
  });
}

/**
 * Steps of a work on a backend that closes with them.
 *
 * @throws {Error} where the first steps do not lessen the loss
 */
async function concordSteps(backend: ComputeBackend, work: Work): Promise<PreparedModel> {
  const { params, batch } = work;
  const optimizer = adamW(params, ADAM_W);
  const lossAndGradient = valueAndGrad((own: unknown, ...given: readonly Tensor[]) => work.lossOf(own, ...given));
  const step = record(backend, () =>
    tidy(() => {
      const { value, gradient } = lossAndGradient(params, ...batch);
      optimizer.step(gradient);
      return value;
    }),
  );
  const losses = new Float32Array(CHECKED_STEPS);
  for (let at = 0; at < losses.length; at++) {
    if (at > 0) step.replay();
    losses[at] = await step.result.item();
  }
  const close = async (): Promise<void> => {
    step.dispose();
    await backend.dispose();
  };
  if (!((losses.at(-1) as number) < (losses[0] as number))) {
    await close();
    throw new Error(`the losses of the first steps are ${losses.join(', ')}`);
  }
  return {
    async calls(count) {
      const hostMs = await hostMsOf(count, () => step.replay());
      await backend.synchronize();
      return hostMs;
    },
    outputs: async () => losses,
    close,
  };
}
