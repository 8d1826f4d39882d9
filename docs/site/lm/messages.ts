import type { BackendName } from '../playground/backend-names.ts';
import type { Ran } from '../backend/open-backend.ts';

/** A model, and what it is to run on. */
export interface ModelRequest {
  /** A URL of a folder or a GGUF file, or files that were dropped. */
  readonly from: string | readonly File[];
  /** Undefined: the first that works. */
  readonly backend: BackendName | undefined;
  readonly quantize: 'i8' | 'i4' | undefined;
  /** Keep the files of a URL in this browser. */
  readonly keep: boolean;
}

/** A text to be continued. */
export interface PromptRequest {
  readonly prompt: string;
  /** Write it as the model's chats are written. */
  readonly chat: boolean;
  readonly tokens: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
}

/** A message to the worker: a model that it keeps from then on, and a text of it; or the end of that. */
export type LmRequest = { readonly model: ModelRequest; readonly text: PromptRequest } | 'stop';

/** A message of the worker. */
export type LmMessage =
  | ({ readonly kind: 'backend' } & Ran)
  | { readonly kind: 'loading'; readonly done: number; readonly total: number }
  | { readonly kind: 'text'; readonly piece: string; readonly tokens: number; readonly rate: number | undefined }
  | { readonly kind: 'end'; readonly wasStopped: boolean }
  | { readonly kind: 'fault'; readonly message: string };
