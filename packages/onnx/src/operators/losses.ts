import { div, gather, logSoftmax, mean, reshape, sum, takeAlongAxis, type Tensor } from '@concord/ops';
import type { Call, Results } from '../run/call.ts';
import { elements } from './elements.ts';
import type { Operators } from './operator.ts';

/** Returns the loss at each target, of logarithms of shares `[batch, classes, ...]`; the mean is one by weights. */
function lossOf(call: Call, logs: Tensor): Tensor {
  const target = call.x(1);
  const [batch = 1, , ...places] = logs.shape;
  const hit = takeAlongAxis(logs, reshape(target, [batch, 1, ...places]), 1);
  const ignored = call.attribute('ignore_index') === undefined ? undefined : call.int('ignore_index');
  const given = call.maybe(2);
  const reduction = call.choice('reduction', 'mean', 'sum', 'none');
  const counted = elements(
    `Counted ${ignored} ${given === undefined}`,
    (k, at, weight) => {
      const own = given === undefined ? k.f32(1) : weight;
      return ignored === undefined ? k.select(k.eq(at, at), own, 0) : k.select(k.eq(at, ignored), k.f32(0), own);
    },
    given ? [target, gather(given, target)] : [target],
    logs.dtype,
  );
  const losses = elements(
    'Lost',
    // An ignored target may name a class that is none, or one of a share of 0.
    (k, log, weight) => k.select(k.eq(weight, 0), k.f32(0), k.neg(k.mul(log, weight))),
    [reshape(hit, target.shape), counted],
    logs.dtype,
  );
  if (reduction === 'none') return losses;
  if (reduction === 'sum') return sum(losses);
  const isPlain = given === undefined && ignored === undefined;
  return isPlain ? mean(losses) : div(sum(losses), sum(counted));
}

/** Losses of classes. */
export const LOSSES: Operators = {
  NegativeLogLikelihoodLoss: (call) => lossOf(call, call.x(0)),
  SoftmaxCrossEntropyLoss: (call): Results => {
    call.floats(0);
    const logs = logSoftmax(call.x(0), { axis: 1 });
    return [lossOf(call, logs), logs];
  },
};
