/** A step for the worker of mode `worker`. Steps are taken in order. */
export type Step =
  | {
      readonly kind: 'run';
      readonly index: number;
      readonly version: number;
      /** The module, the first time that the worker hears of it. */
      readonly bytes: Uint8Array<ArrayBuffer> | undefined;
      readonly args: number;
      readonly words: Uint32Array;
      readonly tiles: number;
      readonly scratch: number;
    }
  | { readonly kind: 'grow'; readonly end: number }
  | { readonly kind: 'write'; readonly address: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'read'; readonly id: number; readonly address: number; readonly length: number };

/** An answer of the worker. */
export type Answer =
  | { readonly kind: 'ready' }
  /** The memory that a `read` asked for; none where it was for no bytes, which tells that all before is done. */
  | { readonly kind: 'read'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'fault'; readonly isMemory: boolean; readonly text: string };
