import { type BackendError, type ExplainedPass, isBackendError, selectBackend } from '@concord/backend-core';
import { checkKernel } from '@concord/backend-core/kernel';
import { explainRun } from '@concord/backend-webgpu';
import type { BackendName } from '../backend-names.ts';
import { providerOf } from '../backends.ts';
import { compute } from './compute.ts';
import type { AskedProgram } from './evaluation.ts';
import { type Fault, faultOf } from './fault.ts';
import { type GraphView, graphView } from './graph-view.ts';
import { type JudgedOutput, judge } from './judge.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import type { PlaygroundCall } from './program-api.ts';
import { numbersOf } from './stored.ts';

/** The run that a program asks for. The kernel and the call are checked here. */
export interface RunRequest extends AskedProgram {
  readonly backend: BackendName;
}

/** The WGSL that a run becomes. */
export interface WgslView {
  /** The device that it is for. */
  readonly device: string;
  readonly passes: readonly ExplainedPass[];
}

/** The numbers of an output, row-major. */
export interface OutputValues {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** One step of the progress of a run. */
export type RunProgress =
  | { readonly kind: 'graph'; readonly graph: GraphView }
  | { readonly kind: 'wgsl'; readonly wgsl: WgslView }
  | {
      readonly kind: 'values';
      readonly device: string;
      readonly firstMs: number;
      readonly bestMs: number;
      readonly outputs: readonly OutputValues[];
    };

/** The outputs of a run, or the fault that ended it. */
export type RunResult =
  | { readonly outputs: readonly JudgedOutput[]; readonly fault?: never }
  | { readonly fault: Fault; readonly outputs?: never };

/** Checks the kernel of a program and its call, shows the graph and the WGSL, runs it, and compares the outputs with the oracle. */
export async function runProgram(request: RunRequest, report: (progress: RunProgress) => void): Promise<RunResult> {
  try {
    const kernel = checkKernel(request.kernel);
    report({ kind: 'graph', graph: graphView(kernel) });
    // The types of a call are no promise: what is not one fails in the checks of its parts.
    const run = prepareRun({ kernel, call: request.call as PlaygroundCall });
    // The WGSL is shown also without a GPU.
    report({ kind: 'wgsl', wgsl: wgslWithoutDevice(run) });
    return { outputs: await runOn(request.backend, run, report) };
  } catch (error) {
    return { fault: isBackendError(error, 'BACKEND_UNAVAILABLE') ? unavailable(error) : faultOf(error, 1) };
  }
}

async function runOn(
  name: BackendName,
  run: PreparedRun,
  report: (progress: RunProgress) => void,
): Promise<readonly JudgedOutput[]> {
  const { backend } = await selectBackend([providerOf(name)], { prefer: [name] });
  try {
    const explained = name === 'webgpu' ? backend.explain?.(run.kernel, run.shape) : undefined;
    if (explained !== undefined) report({ kind: 'wgsl', wgsl: { device: backend.device.name, ...explained } });
    const { outputs, firstMs, bestMs } = await compute(backend, run);
    const values = run.geometry.outputs.map(({ name: output, shape, dtype }, index) => ({
      ...{ name: output, shape },
      values: numbersOf(dtype, outputs[index] as Float32Array),
    }));
    report({ kind: 'values', device: `${name} on ${backend.device.name}`, firstMs, bestMs, outputs: values });
    return judge(run, outputs, backend.capabilities.numerics);
  } finally {
    await backend.dispose().catch(() => undefined);
  }
}

function wgslWithoutDevice(run: PreparedRun): WgslView {
  return { device: "a GPU with WebGPU's default limits", ...explainRun(run.kernel, run.shape) };
}

function unavailable({ attempts = [], detail }: BackendError): Fault {
  const [{ message, hint } = { message: detail }] = attempts;
  return { message, ...(hint === undefined ? {} : { hint }) };
}
