import { BackendError } from '@concord/backend-core';
import { BYTES_OF, type ResolvedAttention } from '@concord/backend-core/implement';
import { apartFrom, bindable, bindingSlack, slice } from '../operands.ts';
import { maxLoopIterations, type Recorder, type Span, type StorageBuffer } from '../recorder.ts';
import { type Family, MAX_PLACED } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import { cached } from './cached.ts';
import { directKeys } from './direct.wgsl.ts';
import { attentionTables } from './all-tables.ts';
import { type AttentionSizes, type AttentionVariant, type AttentionWork, formOf } from './table.ts';
import { combine, COMBINE_LANES, combineTable, slotsAtOnce } from './combine.wgsl.ts';
import { elementBytes, outputForm, type OutputForm } from './form.wgsl.ts';
import {
  anyUniforms,
  cutCall,
  type Geometry,
  geometryOf,
  groupOf,
  keyHull,
  keysOf,
  maskHull,
  queryHull,
  type QueryWindow,
  sightUniforms,
  type Window,
} from './geometry.ts';

/** attention. */
export const attentionFamily: Family<'attention', StorageBuffer, Recorder, Kernel> = {
  kernel: 'attention',
  dtypes: ['f32', 'f16'],
  features: ['lengths', 'starts', 'mask u8', 'mask f16', 'valueDim', 'lse', 'dtypeKv f16', 'dtypeKv bf16'],
  canonical: cached,
  plan: planAttention,
  tables: [attentionTables, combineTable],
};

/** Numbers after the sums in a record: the largest score, and the sum of the weights. */
const RECORD_EXTRA = 2;
/** Queries and keys are numbered by 31 bits. */
const MAX_ROWS = 2 ** 31;

/**
 * attention: `softmax(scale * Q K^T) V` per batch and head, in as many launches as it takes for each piece of an operand
 * to fit a binding. When not even the keys of one head fit, when they are too many for a software device, or to keep a GPU
 * busy when there are few queries, the keys are taken in parts whose outcomes are merged.
 *
 * @param choose - gives the kernel for a window; tests and measurements have their own
 * @throws {BackendError} UNSUPPORTED when two records of a row, of valueDim + 2 numbers, do not fit a binding
 */
export function planAttention(
  call: ResolvedAttention<StorageBuffer>,
  recorder: Recorder,
  choose: Chooser = chooseOnce(),
): void {
  const geometry = geometryOf(call);
  const { headDim, valueDim, form, seqQ, seqKv } = geometry;
  const { maxBindingBytes, storageAlignment } = recorder.traits;
  const bytes = maxBindingBytes - bindingSlack(storageAlignment);
  const room = {
    operand: Math.floor(bytes / elementBytes(form, 'q')),
    numbers: Math.floor(bytes / 4),
    keys: recorder.traits.isSoftware
      ? directKeys(Math.max(headDim, valueDim), maxLoopIterations(recorder.traits))
      : Infinity,
  };
  const record = valueDim + RECORD_EXTRA;
  const recordRows = (inParts: boolean): number => (inParts ? 2 * record : form === 'f16' || call.hasLse ? record : 0);
  const cut = cutCall(geometry, room, recordRows);
  const rowSize = Math.max(headDim, valueDim, recordRows(cut.keysPerPart < keysOf(geometry, whole(geometry)).keys));
  if (rowSize > room.numbers) {
    throw new BackendError(
      'UNSUPPORTED',
      `attention with head_dim ${Math.max(headDim, valueDim)} needs a binding of ${4 * rowSize} bytes, this device binds at most ${4 * room.numbers}`,
    );
  }
  const maxRows = geometry.placed === undefined ? MAX_ROWS : MAX_PLACED;
  if (Math.max(seqQ, seqKv) >= maxRows) {
    throw new BackendError(
      'UNSUPPORTED',
      `attention of ${seqQ} queries and ${seqKv} keys: they are numbered by ${Math.log2(maxRows)} bits`,
    );
  }
  const plan = new AttentionPlan(call, geometry, room.numbers, recorder, choose);
  for (const window of cut.windows) plan.attend(window, cut.keysPerPart);
  plan.finish();
}

const whole = ({ batch, heads, seqQ }: Geometry): QueryWindow => ({
  ...{ batch: 0, batches: batch, head: 0, heads, query: 0, queries: seqQ },
});

/** The windows of a call may be hundreds, and are mostly alike. */
function chooseOnce(): Chooser {
  const chosen = new Map<string, AttentionVariant>();
  return (sizes, recorder) => {
    const key = Object.values(sizes).join();
    let variant = chosen.get(key);
    if (variant === undefined) chosen.set(key, (variant = attentionTables.choose(sizes, recorder)));
    return variant;
  };
}

/** Chooses the kernel for a window. */
type Chooser = (sizes: AttentionSizes, recorder: Recorder) => AttentionVariant;

interface Inputs {
  readonly q: Span;
  readonly k: Span;
  readonly v: Span;
  /** Anything if there is none. */
  readonly mask: Span;
  readonly lengths: Span;
  readonly starts: Span;
}

/** The launches of one call. */
class AttentionPlan {
  /** The maximum number of float32 numbers that fit a binding wherever they begin. */
  readonly #room: number;
  readonly #call: ResolvedAttention<StorageBuffer>;
  readonly #geometry: Geometry;
  readonly #inputs: Inputs;
  readonly #recorder: Recorder;
  readonly #chooser: Chooser;
  /** The memory for the sums of exp(score); scratch memory beside what is bound with them. */
  readonly #lse: Span | undefined;

  constructor(
    call: ResolvedAttention<StorageBuffer>,
    geometry: Geometry,
    room: number,
    recorder: Recorder,
    chooser: Chooser,
  ) {
    const [q, k, v] = [call.q, call.k, call.v].map((input) => apartFrom(call.o, input, recorder)) as [Span, Span, Span];
    const given = (span: Span | undefined): Span => (span === undefined ? k : apartFrom(call.o, span, recorder));
    this.#inputs = { q, k, v, mask: given(call.mask), lengths: given(call.lengths), starts: given(call.starts) };
    this.#room = room;
    this.#call = call;
    this.#geometry = geometry;
    this.#recorder = recorder;
    this.#chooser = chooser;
    const { lse, o, lengths, starts } = call;
    const isUnshared = [o, lengths, starts].every((each) => each?.buffer !== lse?.buffer);
    this.#lse = lse === undefined || isUnshared ? lse : recorder.scratch(lse.byteLength);
  }

  finish(): void {
    const { lse } = this.#call;
    if (lse !== undefined && this.#lse !== undefined && this.#lse !== lse) this.#recorder.copy(lse, this.#lse);
  }

  /** A window of queries and all that they see. */
  attend(queries: QueryWindow, keysPerPart: number): void {
    const window: Window = { ...queries, ...keysOf(this.#geometry, queries) };
    if (window.keys > keysPerPart) {
      this.#attendInParts(window, keysPerPart);
      return;
    }
    const variant = this.#choose(window);
    const table = attentionTables.tableOf(variant);
    const rows = rowsOf(window);
    const splits = Math.min(variant.splits, Math.floor(this.#room / (rows * this.#record)));
    if (splits <= 1 && this.#lse === undefined && table.writesRows(this.#geometry.form, this.#isWide(window))) {
      this.#launch(variant, window, this.#rows(window), { partial: false, splits: 1 });
      return;
    }
    const records = this.#recorder.scratch(4 * Math.max(1, splits) * rows * this.#record);
    const slots = this.#launch(variant, window, records, { partial: true, splits: Math.max(1, splits) });
    this.#combine(records, slots, window, this.#rows(window), {
      partial: false,
      form: outputForm(formOf(table, this.#geometry.form)),
    });
  }

  /** All keys of a window's queries, some at a time. What the parts so far came to is kept as a record per row. */
  #attendInParts(window: Window, keysPerPart: number): void {
    const end = window.key + window.keys;
    const slotBytes = 4 * rowsOf(window) * this.#record;
    let records = this.#recorder.scratch(2 * slotBytes);
    let merged = this.#recorder.scratch(2 * slotBytes);
    for (let key = window.key; key < end; key += keysPerPart) {
      const part = { ...window, key, keys: Math.min(keysPerPart, end - key) };
      const isFirst = key === window.key;
      const isLast = key + keysPerPart >= end;
      const slot = slice(records, isFirst ? 0 : slotBytes, slotBytes);
      this.#launch(this.#choose(part), part, slot, { partial: true, splits: 1 });
      if (isFirst) continue;
      const to = isLast ? this.#rows(window) : slice(merged, 0, slotBytes);
      this.#combine(records, 2, window, to, { partial: !isLast });
      [records, merged] = [merged, records];
    }
  }

  get #record(): number {
    return this.#geometry.valueDim + RECORD_EXTRA;
  }

  /** The rows of O of a window, from the first to the last. */
  #rows(window: QueryWindow): Span {
    const bytes = elementBytes(this.#geometry.form, 'o');
    return this.#piece(this.#call.o, queryHull(this.#geometry, 'o', window), bytes);
  }

  /** The rows of an input of a window, likewise. */
  #input(name: 'q' | 'k' | 'v', window: Window): Span {
    const hull = name === 'q' ? queryHull(this.#geometry, name, window) : keyHull(this.#geometry, name, window);
    return this.#piece(this.#inputs[name], hull, elementBytes(this.#geometry.form, name));
  }

  #piece(operand: Span, { first, elements }: { first: number; elements: number }, bytes: number): Span {
    return slice(operand, bytes * first, bytes * elements);
  }

  #choose(window: Window): AttentionVariant {
    const { headDim, valueDim, form } = this.#geometry;
    const { causal } = this.#call;
    return this.#chooser(
      {
        ...{ ...sizesOf(window), headDim, valueDim, causal, form },
        ...{ group: groupOf(this.#geometry, window), byEights: this.#readsBy(8, window) },
      },
      this.#recorder,
    );
  }

  /** Returns whether each row begins and ends at a multiple of four elements. */
  #isWide(window: Window, { partial = false } = {}): boolean {
    return this.#readsBy(4, window) && (partial || this.#isBy(4, 'o', this.#rows(window)));
  }

  /** Returns whether each row of Q, K and V begins and ends at a multiple of a number of elements. */
  #readsBy(count: number, window: Window): boolean {
    const { headDim, valueDim } = this.#geometry;
    const areRows = headDim % count === 0 && valueDim % count === 0;
    return areRows && (['q', 'k', 'v'] as const).every((name) => this.#isBy(count, name, this.#input(name, window)));
  }

  #isBy(count: number, name: 'q' | 'k' | 'v' | 'o', { byteOffset }: Span): boolean {
    const bytes = elementBytes(this.#geometry.form, name);
    return byteOffset % (count * bytes) === 0 && this.#geometry[name].every((stride) => stride % count === 0);
  }

  /** Gives the number of splits, which is at most what was asked for. */
  #launch(
    variant: AttentionVariant,
    window: Window,
    output: Span,
    { partial, splits }: { readonly partial: boolean; readonly splits: number },
  ): number {
    const geometry = this.#geometry;
    const { headDim, valueDim, mask } = geometry;
    const { causal, scale } = this.#call;
    const maskBytes = BYTES_OF[geometry.maskDtype];
    const table = attentionTables.tableOf(variant);
    const form = formOf(table, geometry.form);
    const bind = (span: Span) => bindable(span, this.#recorder.traits.storageAlignment);
    const q = bind(this.#input('q', window));
    const k = bind(this.#input('k', window));
    const v = bind(this.#input('v', window));
    const o = bind(output);
    const masking = mask === undefined ? k : bind(this.#piece(this.#inputs.mask, maskHull(mask, window), maskBytes));
    const group = groupOf(this.#geometry, window);
    const sizes = sizesOf(window);
    const splitKeys = multipleOf(table.splitKeys(variant), sizes.keys / splits);
    const used = Math.ceil(sizes.keys / splitKeys);
    const begins = {
      q_at: q.byteOffset / elementBytes(form, 'q'),
      k_at: k.byteOffset / elementBytes(form, 'k'),
      v_at: v.byteOffset / elementBytes(form, 'v'),
      o_at: o.byteOffset / (partial ? 4 : elementBytes(form, 'o')),
    };
    const common = { ...sizes, head_dim: headDim, value_dim: valueDim, causal: causal ? 1 : 0, scale, ...begins };
    const rest = { splits: used, split_keys: splitKeys, split_step: table.splitKeys(variant) };
    const places = this.#places(window, k.span);
    const own =
      form === 'plain'
        ? {
            first_query: window.query,
            first_key: window.key,
            kv_head: window.heads > 1 ? geometry.k[1] : 0,
            o_row: headDim + (partial ? RECORD_EXTRA : 0),
          }
        : anyUniforms(geometry, window, {
            softcap: this.#call.softcap,
            maskAt: mask === undefined ? 0 : masking.byteOffset / maskBytes,
            sight: sightUniforms(geometry, window, places.at),
            ...(partial ? { record: this.#record } : {}),
          });
    const work: AttentionWork = {
      sizes: { ...sizes, headDim, valueDim, causal, form: geometry.form, group },
      ...{ splits: used, partial, wide: this.#isWide(window, { partial }) },
      launch: {
        storage: {
          q: q.span,
          k: k.span,
          v: v.span,
          ...(form === 'plain' ? {} : { mask: masking.span, ...places.spans }),
          o: o.span,
        },
        moving: { q: ['q_at', elementBytes(form, 'q')] },
        uniforms: { ...common, ...own, ...rest },
      },
    };
    table.launch(work, variant, this.#recorder);
    return used;
  }

  /** Places in memory of the batches of a window, and where they begin in their bindings; another span if there are none. */
  #places({ batch, batches }: Window, none: Span) {
    const bound = (name: 'lengths' | 'starts', step: number | undefined): { span: Span; at: number } => {
      if (step === undefined) return { span: none, at: 0 };
      const own = slice(this.#inputs[name], 4 * batch * step, 4 * ((batches - 1) * step + 1));
      const { span, byteOffset } = bindable(own, this.#recorder.traits.storageAlignment);
      return { span, at: byteOffset / 4 };
    };
    const lengths = bound('lengths', this.#geometry.lengthStep);
    const starts = bound('starts', this.#geometry.startStep);
    return { spans: { lengths: lengths.span, starts: starts.span }, at: { lengths: lengths.at, starts: starts.at } };
  }

  /** The sums of exp(score) of a window, and where they lie in their binding. */
  #lseOf({ batch, batches, head, heads, query, queries }: Window) {
    if (this.#lse === undefined) return undefined;
    const { heads: all, seqQ } = this.#geometry;
    const elements = ((batches - 1) * all + heads - 1) * seqQ + queries;
    const own = slice(this.#lse, 4 * ((batch * all + head) * seqQ + query), 4 * elements);
    const { span, byteOffset } = bindable(own, this.#recorder.traits.storageAlignment);
    const uniforms = { lse_at: byteOffset / 4, lse_batch: batches > 1 ? all * seqQ : 0, lse_head: seqQ };
    return { span, uniforms };
  }

  #combine(
    records: Span,
    slots: number,
    window: Window,
    output: Span,
    { partial, form: own = outputForm(this.#geometry.form) }: { partial: boolean; form?: 'plain' | OutputForm },
  ): void {
    const { valueDim, o } = this.#geometry;
    const lse = partial ? undefined : this.#lseOf(window);
    const form = partial ? 'plain' : lse !== undefined && own === 'plain' ? 'f32' : own;
    const { storageAlignment } = this.#recorder.traits;
    const rows = rowsOf(window);
    const from = bindable(slice(records, 0, 4 * slots * rows * this.#record), storageAlignment);
    const to = bindable(output, storageAlignment);
    const units = form === 'f16' ? Math.floor(valueDim / 2) + 1 : valueDim;
    const rowGroups = Math.ceil(units / COMBINE_LANES);
    const places = this.#places(window, from.span);
    const any = {
      row_groups: rowGroups,
      queries: window.queries,
      batch_heads: window.heads,
      o_batch: window.batches > 1 ? o[0] : 0,
      o_head: window.heads > 1 ? o[1] : 0,
      causal: this.#call.causal ? 1 : 0,
      ...sightUniforms(this.#geometry, window, places.at),
    };
    this.#recorder.launch({
      kernel: combine({ form, partial, lse: lse !== undefined, atOnce: slotsAtOnce(form, slots) }),
      storage: {
        records: from.span,
        ...(form === 'plain' ? {} : places.spans),
        ...(lse && { lse: lse.span }),
        o: to.span,
      },
      groups: form === 'plain' ? Math.ceil((rows * units) / COMBINE_LANES) : rows * rowGroups,
      uniforms: {
        slots,
        rows,
        value_dim: valueDim,
        records_at: from.byteOffset / 4,
        o_at: to.byteOffset / elementBytes(form, 'o'),
        o_row: form === 'plain' ? valueDim + (partial ? RECORD_EXTRA : 0) : o[2],
        ...(form === 'plain' ? {} : any),
        ...lse?.uniforms,
      },
    });
  }
}

const sizesOf = ({ batches, heads, queries, keys }: Window) => ({ heads: batches * heads, queries, keys });
const rowsOf = ({ batches, heads, queries }: QueryWindow): number => batches * heads * queries;
const multipleOf = (size: number, least: number): number => Math.ceil(least / size) * size;
