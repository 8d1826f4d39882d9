import type { CaseResult, ConformanceReport } from '@concord/conformance';
import type { BackendRun, ConformanceRun, VariantFailure } from './backend-run.ts';

/** The JSON that `--json` writes for one backend; for several it is a list of these, in the order of `--backend`. */
export interface ConformanceJson extends Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'variants'> {
  /** The options, where they were given: these are not all cases. */
  readonly filter?: string;
  readonly sample?: number;
  readonly cases: readonly CaseResult[];
  /** With `--each-variant`: what failed in the runs with variants forced. `variants` counts those runs too. */
  readonly variantFailures?: readonly VariantFailure[];
  /** Why there are no cases. */
  readonly notRun?: { readonly message: string; readonly hint: string | null; readonly isFailure: boolean };
}

/** The run without what only people need: one object, or a list of them where a list of backends was asked for. */
export function toConformanceJson(run: ConformanceRun): ConformanceJson | ConformanceJson[] {
  const all = run.backends.map((backend) => backendJson(backend, run));
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : all;
}

function backendJson(
  { backend, device, versions, cases, notRun, variants, variantFailures }: BackendRun,
  { filter, sample }: ConformanceRun,
): ConformanceJson {
  return {
    ...{ backend, device, versions },
    ...(filter === undefined ? {} : { filter }),
    ...(sample === undefined ? {} : { sample }),
    cases,
    ...(variants === undefined ? {} : { variants }),
    ...(variantFailures === undefined ? {} : { variantFailures }),
    ...(notRun === undefined
      ? {}
      : { notRun: { message: notRun.message, hint: notRun.hint, isFailure: notRun.isFailure } }),
  };
}
