import type { NamedVariant, VariantTable } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { Launch, Recorder } from '../recorder.ts';
import { type Form, FORMS } from './form.wgsl.ts';

/** The facts that decide which kernel is chosen. */
export interface AttentionSizes {
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly headDim: number;
  readonly valueDim: number;
  readonly causal: boolean;
  readonly form: Form;
  /** Heads of Q that share keys. */
  readonly group: number;
  /** True if rows of Q, K and V begin and end at multiples of eight elements. Default: they do not. */
  readonly byEights?: boolean;
}

/** The work of a kernel's launch. */
export interface AttentionWork {
  readonly sizes: AttentionSizes;
  /** Parts that the keys are split into; more than one only where records are written. */
  readonly splits: number;
  /** Writes records instead of rows of O. */
  readonly partial: boolean;
  /** True if rows begin and end at multiples of four. */
  readonly wide: boolean;
  readonly launch: Pick<Launch, 'storage' | 'uniforms' | 'moving'>;
}

/** A variant, and into how many parts the keys should be split. */
export interface AttentionVariant extends NamedVariant {
  readonly splits: number;
}

/** Kernels that attend: all that the backend knows of them. */
export interface AttentionTable extends VariantTable<
  AttentionSizes,
  AttentionWork,
  Recorder,
  Kernel,
  AttentionVariant
> {
  /** Keys of a split are a multiple of this. */
  readonly splitKeys: (variant: AttentionVariant) => number;
  /**
   * Returns whether its kernels can write rows of O; else they write records, as those of every table can, and `combine` takes
   * them. Rows of `f16` are written by fours, or by `combine`: neighbours share words.
   */
  readonly writesRows: (form: Form, wide: boolean) => boolean;
  /** True if its kernels are for any call, also if one is plain. */
  readonly isForAny?: boolean;
}

/** Columns that a kernel has to have room for. */
export const columnsOf = ({ headDim, valueDim }: AttentionSizes): number => Math.max(headDim, valueDim);

/** Rows that only kernels with vectors of four write as `f16`. */
export const rowsByFours = (form: Form, wide: boolean): boolean => form !== 'f16' || wide;
/** Rows that are never written as `f16`. */
export const rowsOfFloats = (form: Form): boolean => form !== 'f16';

/** The forms of a kernel that can write rows as said, and records. */
export function formsOf(writesRows: (form: Form) => boolean): { readonly form: Form; readonly partial: boolean }[] {
  return FORMS.flatMap((form) => (writesRows(form) ? [false, true] : [true]).map((partial) => ({ form, partial })));
}

/** Form of a table's kernels for a call. */
export const formOf = ({ isForAny = false }: AttentionTable, form: Form): Form =>
  isForAny && form === 'plain' ? 'f32' : form;

/** Workgroups that keep a GPU busy. */
export const ENOUGH_WORKGROUPS = 128;
/** Fewest keys that are worth a separate split. */
const MIN_SPLIT_KEYS = 256;

/** Splits the keys if there are few queries and many keys. */
export function withSplits(id: string, block: number, { heads, queries, keys }: AttentionSizes): AttentionVariant {
  const groups = heads * Math.ceil(queries / block);
  const wanted = groups >= ENOUGH_WORKGROUPS ? 1 : Math.ceil(ENOUGH_WORKGROUPS / groups);
  return { id, splits: Math.max(1, Math.min(wanted, Math.floor(keys / MIN_SPLIT_KEYS))) };
}

/** Workgroups of kernels that have a block of queries of a head and a split each. */
export const groupsOf = ({ sizes: { heads, queries }, splits }: AttentionWork, block: number): number =>
  heads * Math.ceil(queries / block) * splits;
