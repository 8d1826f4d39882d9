import { type Capabilities, type Limits, type Numerics, OP_NAMES, type OpName } from '../contract/capabilities.ts';
import type { DType } from '../contract/element-types.ts';
import { OPS } from '../ops/index.ts';
import type { CheckedCall, DerivedDefinition } from '../ops/op-definition.ts';
import { type AnyKernel, type PlannedKernels, kernelOf } from './backend-kernels.ts';

/** The capabilities of a backend with these kernels. */
export function capabilitiesOf(kernels: PlannedKernels<never>, limits: Limits, numerics: Numerics): Capabilities {
  const dtypes: Partial<Record<OpName, readonly DType[]>> = {};
  const features: Partial<Record<OpName, readonly string[]>> = {};
  for (const op of OP_NAMES) {
    const name = op === 'run' ? 'run' : OPS[op].kernel;
    const kernel = kernelOf(kernels, name);
    if (kernel === undefined || !covers(kernel, op)) continue;
    const own = op === 'run' ? kernel.dtypes : OPS[op].dtypes.filter((dtype) => kernel.dtypes.includes(dtype));
    if (own.length === 0) continue;
    dtypes[op] = [...own];
    // Other ops that are a run of their own kernel need nothing of it.
    const known = op !== 'run' && name === 'run' ? [] : (kernel.features ?? []);
    if (known.length > 0) features[op] = [...known];
  }
  const run = kernels.run === undefined ? {} : { run: kernels.run.covers ?? 'all' };
  return { ops: Object.keys(dtypes) as OpName[], dtypes, ...run, features, limits, numerics };
}

/** Returns whether a `run` that covers some kernels has one of an op's own. */
function covers(kernel: AnyKernel, op: OpName): boolean {
  if (op === 'run' || OPS[op].kernel !== 'run' || kernel.covers !== 'some') return true;
  const definition = OPS[op] as unknown as DerivedDefinition<object, CheckedCall>;
  return definition.functions.some((name) => {
    const checked = definition.check({ ...definition.sample.shape, op: name }, false);
    return checked !== null && kernel.refuse?.(definition.asRun(checked)) === undefined;
  });
}
