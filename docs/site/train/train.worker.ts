import { fit, SHAPE } from '@concord/example-train';
import { openBackend } from '../backend/open-backend.ts';
import type { TrainMessage, TrainRequest } from './messages.ts';

const scope = globalThis as unknown as {
  postMessage(message: TrainMessage): void;
  addEventListener(type: 'message', listener: (event: { readonly data: TrainRequest }) => void): void;
};

scope.addEventListener('message', ({ data }) => void train(data));

async function train({ backend: wanted, steps, seed }: TrainRequest): Promise<void> {
  try {
    const { backend: opened, ...ran } = await openBackend(wanted, [{ op: 'gemm' }, { op: 'run' }]);
    await using backend = opened;
    scope.postMessage({ kind: 'backend', ...ran });
    const started = performance.now();
    const onProgress = (losses: readonly number[]): void => scope.postMessage({ kind: 'losses', losses });
    const { accuracy, heldOut } = await fit(backend, { ...SHAPE, steps, seed, onProgress });
    scope.postMessage({ kind: 'end', accuracy, heldOut, seconds: (performance.now() - started) / 1000 });
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string };
    scope.postMessage({ kind: 'fault', message: hint === undefined ? message : `${message}; ${hint}` });
  }
}
