import type { DType } from '@concord/backend-core';
import type { Params } from '../harness/case-id.ts';
import type { WriteData } from './write-data.ts';

/** A place in memory: so many bytes after the start of the allocation with that number. */
export interface Place {
  readonly id: number;
  readonly at: number;
}

/** A kind of call that programs make, as `program-calls.ts` lists them. */
export type CallKind =
  | 'gemm'
  | 'gemmF16'
  | 'batchedGemm'
  | 'conv2dForward'
  | 'attention'
  | 'topK'
  | 'reduce'
  | 'unary'
  | 'binary'
  | 'kernel'
  | 'drawn';

/** Copies bytes to the device, which follow from the seed. */
export interface WriteStep {
  readonly do: 'write';
  readonly to: Place;
  readonly bytes: number;
  readonly dtype: DType;
  readonly data: WriteData;
  readonly seed: number;
  /** Bytes before the source in its buffer. */
  readonly shift: number;
}

/** Makes a call whose operands begin at the places, in the order of its regions. */
export interface CallStep {
  readonly do: 'call';
  readonly kind: CallKind;
  readonly params: Params;
  readonly places: readonly Place[];
}

/** A step that may stand in a recording. */
export type RecordableStep =
  | { readonly do: 'alloc'; readonly id: number; readonly bytes: number }
  | { readonly do: 'free'; readonly id: number }
  | { readonly do: 'fill'; readonly to: Place; readonly bytes: number; readonly value: number }
  | { readonly do: 'copy'; readonly to: Place; readonly from: Place; readonly bytes: number }
  | WriteStep
  | CallStep;

/**
 * One step of a program. Each is plain data, and each subset of a program's steps is a program: a step that the ones before it
 * leave no memory for is passed over.
 */
export type Step =
  | RecordableStep
  /** A read that is left open until a wait for reads, or the end; one that is given up is aborted at once. */
  | {
      readonly do: 'read';
      readonly from: Place;
      readonly bytes: number;
      readonly shift: number;
      readonly givenUp?: boolean;
    }
  /** `others`: lets the event loop turn, and does not wait for the device. */
  | { readonly do: 'wait'; readonly for: 'reads' | 'device' | 'nothing' | 'others' }
  /** `slotBytes`: of its slot, as `slotOf` names it; known once it is planned. */
  | {
      readonly do: 'record';
      readonly id: number;
      readonly body: readonly RecordableStep[];
      readonly slotBytes?: number | undefined;
    }
  /** `to`: memory in the place of that of its slot. */
  | { readonly do: 'replay'; readonly id: number; readonly to?: Place | undefined }
  | { readonly do: 'release'; readonly id: number };

/** A program for one backend object. */
export type Program = readonly Step[];
