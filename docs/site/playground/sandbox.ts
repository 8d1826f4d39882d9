import { type Evaluation, type EvaluationRequest, readEvaluation, readOutput } from './kernel/evaluation.ts';
import type { Output } from './kernel/program-api.ts';
import { type RunProgress, type RunRequest, type RunResult } from './kernel/run-program.ts';
import { SANDBOX } from './sandbox-page.ts';
import { startTask, Stopped, type Task } from './task.ts';

/** A program to run, as the page has it. */
export interface ProgramRequest extends EvaluationRequest {
  readonly backend: RunRequest['backend'];
}

/**
 * Runs a program of a stranger: a sandbox evaluates it, and a worker that has nothing of the program but its kernel and
 * its call, as data that it checks, computes and judges.
 */
export function startProgram(
  request: ProgramRequest,
  onProgress: (progress: RunProgress | Output) => void,
): Task<RunResult> {
  const sandbox = evaluateApart(request, onProgress);
  let stop = (): void => sandbox.stop();
  const result = sandbox.result.then((evaluated): RunResult | Promise<RunResult> => {
    if (evaluated.fault !== undefined) return { fault: evaluated.fault };
    if (evaluated.kernel === undefined) return { outputs: [] };
    const { kernel, call } = evaluated;
    const task = startTask('program', { kernel, call, backend: request.backend }, onProgress);
    stop = () => task.stop();
    return task.result;
  });
  return { result, cancel: () => stop(), stop: () => stop() };
}

function evaluateApart(
  request: EvaluationRequest,
  onOutput: (output: Output) => void,
): Pick<Task<Evaluation>, 'result' | 'stop'> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.hidden = true;
  frame.srcdoc = SANDBOX;
  let stop = (): void => undefined;
  const result = new Promise<Evaluation>((resolve, reject) => {
    const end = (settle: () => void): void => {
      globalThis.removeEventListener('message', take);
      // Its worker ends with it.
      frame.remove();
      settle();
    };
    const take = ({ source, data }: MessageEvent<unknown>): void => {
      if (source !== frame.contentWindow) return;
      const output = readOutput(data);
      if (output === undefined) end(() => resolve(readEvaluation(data)));
      else onOutput(output);
    };
    globalThis.addEventListener('message', take);
    stop = () => end(() => reject(new Stopped()));
    const isFrame = request.backend === 'webgpu' && request.source.includes('@concord/backend-webgpu');
    // All packages in one text: loaded with the first run.
    const evaluator = import('./kernel/evaluate.worker.ts?bundled');
    frame.addEventListener('load', () => {
      evaluator.then(
        ({ default: code }) => frame.contentWindow?.postMessage({ code, request, isFrame }, '*'),
        (error: unknown) => end(() => reject(error)),
      );
    });
    document.body.append(frame);
  });
  return { result, stop: () => stop() };
}
