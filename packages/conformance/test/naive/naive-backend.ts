import type { BackendKernels, ResolvedRun } from '@concord/backend-core/implement';
import { DTYPES } from '@concord/backend-core/implement';
import { CpuBackend } from '@concord/backend-cpu';
import { naiveRun } from './naive-run.ts';
import { type Parts, RIGHT } from './parts.ts';

/** A backend that has `run` alone, computed one number at a time: what mutants of `run` mutate. */
export class NaiveBackend extends CpuBackend {
  protected override readonly kernels: BackendKernels<ArrayBuffer>;

  /**
   * @param parts - how it computes
   * @param adapt - changes a call before it is computed
   */
  constructor(
    parts: Parts = RIGHT,
    adapt: (call: ResolvedRun<ArrayBuffer>) => ResolvedRun<ArrayBuffer> = (call) => call,
  ) {
    super();
    this.kernels = {
      run: { dtypes: DTYPES, features: ['scatter', 'scan'], run: (call) => naiveRun(adapt(call), parts) },
    };
  }
}
