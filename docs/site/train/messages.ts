import type { BackendName } from '../playground/backend-names.ts';
import type { Ran } from '../backend/open-backend.ts';

/** A training; undefined: on the first backend that works. */
export interface TrainRequest {
  readonly backend: BackendName | undefined;
  readonly steps: number;
  readonly seed: number;
}

/** A message of the worker: the losses of some steps, and at the end the shares of points whose class is found. */
export type TrainMessage =
  | ({ readonly kind: 'backend' } & Ran)
  | { readonly kind: 'losses'; readonly losses: readonly number[] }
  | { readonly kind: 'end'; readonly accuracy: number; readonly heldOut: number; readonly seconds: number }
  | { readonly kind: 'fault'; readonly message: string };
