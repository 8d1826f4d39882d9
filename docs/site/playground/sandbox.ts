/* oxlint-disable import/default -- lib/vite-for-pages.mjs gives the bundle of a file as text */
import evaluator from './kernel/evaluate.worker.ts?bundled';
import { type Evaluation, type EvaluationRequest, readEvaluation } from './kernel/evaluation.ts';
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
  { source, picture, backend }: ProgramRequest,
  onProgress: (progress: RunProgress) => void,
): Task<RunResult> {
  const sandbox = evaluateApart({ source, picture });
  let stop = (): void => sandbox.stop();
  const result = sandbox.result.then((evaluated): RunResult | Promise<RunResult> => {
    if (evaluated.fault !== undefined) return { fault: evaluated.fault };
    const { kernel, call } = evaluated;
    const task = startTask('program', { kernel, call, backend }, onProgress);
    stop = () => task.stop();
    return task.result;
  });
  return { result, cancel: () => stop(), stop: () => stop() };
}

function evaluateApart(request: EvaluationRequest): Pick<Task<Evaluation>, 'result' | 'stop'> {
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
      if (source === frame.contentWindow) end(() => resolve(readEvaluation(data)));
    };
    globalThis.addEventListener('message', take);
    frame.addEventListener('load', () => frame.contentWindow?.postMessage({ code: evaluator, request }, '*'));
    document.body.append(frame);
    stop = () => end(() => reject(new Stopped()));
  });
  return { result, stop: () => stop() };
}
