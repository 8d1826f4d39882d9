import * as ops from '@concord/ops';
import type { Tensor } from '@concord/ops';
import type { Call, Results } from '../run/call.ts';
import { elements } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

function layer(call: Call): Results {
  call.floats(0);
  const x = call.x(0);
  const axis = call.axis(call.int('axis', -1));
  const eps = call.float('epsilon', 1e-5);
  const y = ops.layerNorm(x, { axis, eps, weight: call.maybe(1), bias: call.maybe(2) });
  const [, wantsMean, wantsDeviation] = call.node.outputs;
  const rows = { axis: x.shape.map((_, each) => each).slice(axis), keepDims: true };
  const spread = (): Tensor => ops.rsqrt(ops.add(ops.variance(x, { ...rows, correction: 0 }), eps));
  return [y, wantsMean ? ops.mean(x, rows) : undefined, wantsDeviation ? spread() : undefined];
}

function batch(call: Call): Tensor {
  call.floats(0);
  if (call.int('training_mode', 0) === 1 || call.node.outputs.length > 1) return call.refuse('training');
  if (call.int('spatial', 1) === 0) return call.refuse('spatial 0');
  const [x, weight, bias, known, spread] = call.all() as [Tensor, Tensor, Tensor, Tensor, Tensor];
  return ops.batchNorm(x, { weight, bias, mean: known, variance: spread, eps: call.float('epsilon', 1e-5) });
}

function group(call: Call): Tensor {
  call.floats(0);
  const x = call.x(0);
  const groups = call.int('num_groups');
  const channels = x.shape[1] as number;
  // Before operator set 21 there is a factor for each group.
  const all = (given: Tensor): Tensor => {
    if (given.size === channels) return given;
    const repeated = ops.expand(ops.reshape(given, [groups, 1]), [groups, channels / groups]);
    return ops.reshape(repeated, [channels]);
  };
  return ops.groupNorm(x, groups, { eps: call.float('epsilon', 1e-5), weight: all(call.x(1)), bias: all(call.x(2)) });
}

const rms: Operator = {
  run: (call) =>
    ops.rmsNorm(call.x(0), {
      axis: call.axis(call.int('axis', -1)),
      eps: call.float('epsilon', 1e-5),
      weight: call.x(1),
    }),
};

/** Operators that normalize to a mean and a size. */
export const NORMS: Operators = {
  LayerNormalization: layer,
  SimplifiedLayerNormalization: rms,
  RMSNormalization: rms,
  BatchNormalization: batch,
  InstanceNormalization: (call) =>
    ops.instanceNorm(call.x(0), { eps: call.float('epsilon', 1e-5), weight: call.x(1), bias: call.x(2) }),
  GroupNormalization: group,
  MeanVarianceNormalization: (call) =>
    ops.layerNorm(call.x(0), { axis: (call.list('axes') ?? [0, 2, 3]).map((axis) => call.axis(axis)), eps: 1e-9 }),
  LpNormalization: (call) => {
    const [x, axis] = [call.x(0), call.axis(call.int('axis', -1))];
    const p = call.int('p', 2);
    if (p === 2) return ops.l2Normalize(x, { axis, eps: 1e-30 });
    if (p !== 1) return call.refuse(`p ${p}`);
    return elements('Part', (k, v, n) => k.select(k.eq(n, 0), k.f32(0), k.div(v, n)), [
      x,
      ops.norm(x, { axis, ord: 1, keepDims: true }),
    ]);
  },
};
