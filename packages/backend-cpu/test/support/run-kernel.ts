import {
  type AskedRun,
  checkedRun,
  defineKernel,
  type InputSpecs,
  type KernelBuilder,
  type NumberType,
  type ParameterSpecs,
  type SymbolsOf,
  type Value,
} from '@concord/backend-core/kernel';
import { type OutputIntervals, type RunData, type RunRules, runReference } from '../../src/reference/index.ts';

/** The values that the one output of a kernel may have: the kernel is defined, called and evaluated at once. */
export function run<const Inputs extends InputSpecs, const Parameters extends ParameterSpecs = {}>(
  spec: { readonly inputs: Inputs; readonly params?: Parameters },
  compute: (symbols: SymbolsOf<Inputs, Parameters>, k: KernelBuilder) => Value<NumberType>,
  call: Partial<AskedRun> & Pick<AskedRun, 'shape'>,
  data: RunData,
  rules?: RunRules,
): OutputIntervals {
  const kernel = defineKernel('test', spec, (symbols: SymbolsOf<Inputs, Parameters>, k) => ({
    y: compute(symbols, k),
  }));
  const geometry = checkedRun(kernel, { inputs: {}, outputs: {}, ...call });
  return runReference(geometry, data, rules)[0] as OutputIntervals;
}
