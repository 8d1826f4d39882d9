import { Part } from '../run/part.ts';
import { chain } from './chain.ts';
import { CONVOLUTION } from './convolution.ts';
import { CONTROL_FLOW } from './control-flow.ts';
import { CREATE } from './create.ts';
import { HOST } from './host.ts';
import { INDEXING } from './indexing.ts';
import { LOSSES } from './losses.ts';
import { MICROSOFT } from './microsoft.ts';
import { NORMS } from './norms.ts';
import type { Operator, Operators } from './operator.ts';
import { POINTWISE } from './pointwise.ts';
import { PRODUCTS } from './products.ts';
import { QUANTISED } from './quantised.ts';
import { RECURRENT } from './recurrent.ts';
import { REDUCE } from './reduce.ts';
import { RESIZE } from './resize.ts';
import { SHAPE } from './shape.ts';
import { SPECTRAL } from './spectral.ts';
import { STANDARD_ATTENTION } from './standard-attention.ts';

const DEVICE: Operators = {
  'concord.Chain': { flow: chain },
  'concord.Part': { flow: (call) => call.keep(() => new Part()).run(call) },
  ...CONTROL_FLOW,
  ...CONVOLUTION,
  ...CREATE,
  ...INDEXING,
  ...LOSSES,
  ...MICROSOFT,
  ...NORMS,
  ...POINTWISE,
  ...PRODUCTS,
  ...QUANTISED,
  ...RECURRENT,
  ...REDUCE,
  ...RESIZE,
  ...SHAPE,
  ...SPECTRAL,
  ...STANDARD_ATTENTION,
};

/** All operators. */
export const OPERATORS: Readonly<Record<string, Operator>> = Object.fromEntries(
  Object.keys({ ...DEVICE, ...HOST }).map((name): [string, Operator] => {
    const onDevice = DEVICE[name];
    const host = HOST[name];
    return [name, { ...(typeof onDevice === 'function' ? { run: onDevice } : onDevice), ...(host && { host }) }];
  }),
);
