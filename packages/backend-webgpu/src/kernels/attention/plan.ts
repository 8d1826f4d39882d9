import { BackendError } from '@concord/backend-core';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import type { Kernel } from '../kernel.ts';
import { apartFrom, bindable, bindingSlack, slice } from '../operands.ts';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { pickVariant } from '@concord/variants';
import {
  attentionKernels,
  type AttentionSizes,
  type AttentionVariant,
  launchOf,
  maxKeys,
  variantsFor,
} from './choose-variant.ts';
import { combine, COMBINE_LANES } from './combine.wgsl.ts';

export { VARIANT_IDS } from './choose-variant.ts';

/** Numbers behind the sums in a record: the largest score, and the sum of the weights. */
const RECORD_EXTRA = 2;

/**
 * attention: `softmax(scale * Q K^T) V` per batch and head, in as many launches as it takes for each piece of an operand
 * to fit a binding: as many heads as fit, or of one head as many queries. When not even the keys of one head fit, when they
 * are too many for a software device, or to keep a GPU busy when there are few queries, the keys are taken in parts
 * whose outcomes are merged.
 *
 * @param choose - gives the kernel for a window; tests and measurements have their own
 * @throws {BackendError} UNSUPPORTED when two records of a row, of head_dim + 2 numbers, do not fit a binding
 */
export function planAttention(
  call: ResolvedAttention<StorageBuffer>,
  recorder: Recorder,
  choose: Chooser = chooseVariant,
): void {
  const { batch, heads, seqQ, seqKv, headDim, causal, o } = call;
  const plan = new AttentionPlan(
    call,
    {
      q: apartFrom(o, call.q, recorder),
      k: apartFrom(o, call.k, recorder),
      v: apartFrom(o, call.v, recorder),
    },
    recorder,
    choose,
  );
  const { limit } = plan;
  const keysPerPart = Math.min(maxKeys(headDim, recorder.traits), Math.floor(limit / headDim));
  const inParts = keysPerPart < (causal ? Math.min(seqQ, seqKv) : seqKv);
  const rowSize = inParts ? 2 * (headDim + RECORD_EXTRA) : headDim;
  if (rowSize > limit) {
    throw new BackendError(
      'UNSUPPORTED',
      `attention with head_dim ${headDim} needs a binding of ${4 * rowSize} bytes, this device binds at most ${4 * limit}`,
    );
  }
  const headsPerWindow = Math.max(1, Math.floor(limit / Math.max(seqQ * rowSize, seqKv * headDim)));
  const queriesPerWindow = Math.min(seqQ, Math.floor(limit / rowSize));
  for (let head = 0; head < batch * heads; head += headsPerWindow) {
    for (let query = 0; query < seqQ; query += queriesPerWindow) {
      const window: QueryWindow = {
        head,
        heads: Math.min(headsPerWindow, batch * heads - head),
        query,
        queries: Math.min(queriesPerWindow, seqQ - query),
      };
      if (inParts) plan.attendInParts(window, keysPerPart);
      else plan.attend(window);
    }
  }
}

function chooseVariant(sizes: AttentionSizes, recorder: Recorder): AttentionVariant {
  return pickVariant(recorder, variantsFor(sizes, recorder.traits));
}

/** Every kernel of attention for a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return attentionKernels(traits);
}

/** Chooses the kernel for a window. */
type Chooser = (sizes: AttentionSizes, recorder: Recorder) => AttentionVariant;

/** Some heads and their queries, or some of the queries of one head. */
interface QueryWindow {
  readonly head: number;
  readonly heads: number;
  readonly query: number;
  readonly queries: number;
}

/** And some of their keys. */
interface Window extends QueryWindow {
  readonly key: number;
  readonly keys: number;
}

interface Inputs {
  readonly q: Span;
  readonly k: Span;
  readonly v: Span;
}

/** The launches of one call. */
class AttentionPlan {
  /** Most elements of an operand that fit a binding wherever they begin. */
  readonly limit: number;
  readonly #call: ResolvedAttention<StorageBuffer>;
  readonly #inputs: Inputs;
  readonly #recorder: Recorder;
  readonly #chooser: Chooser;

  constructor(call: ResolvedAttention<StorageBuffer>, inputs: Inputs, recorder: Recorder, chooser: Chooser) {
    const { maxBindingBytes, storageAlignment } = recorder.traits;
    this.limit = Math.floor((maxBindingBytes - bindingSlack(storageAlignment)) / 4);
    this.#call = call;
    this.#inputs = inputs;
    this.#recorder = recorder;
    this.#chooser = chooser;
  }

  /** All keys of a window's queries. */
  attend(queryWindow: QueryWindow): void {
    const { headDim, seqQ, seqKv, causal } = this.#call;
    // Keys beyond the last query are hidden, and not bound: they need not fit.
    const keys = causal ? Math.min(seqQ, seqKv) : seqKv;
    const window: Window = { ...queryWindow, key: 0, keys };
    const record = headDim + RECORD_EXTRA;
    const rows = window.heads * window.queries;
    const variant = this.#choose(window);
    const splits = Math.min(variant.splits, Math.floor(this.limit / (rows * record)));
    if (splits <= 1) {
      this.#launch(variant, window, this.#rows(window), { partial: false, splits: 1 });
      return;
    }
    const records = this.#recorder.scratch(4 * splits * rows * record);
    const slots = this.#launch(variant, window, records, { partial: true, splits });
    this.#combine(records, slots, window, this.#rows(window), { partial: false });
  }

  /** All keys of a window's queries, some at a time. What the parts so far came to is kept as a record per row. */
  attendInParts(window: QueryWindow, keysPerPart: number): void {
    const { causal, seqKv, headDim } = this.#call;
    const end = causal ? Math.min(seqKv, window.query + window.queries) : seqKv;
    const slotBytes = 4 * window.heads * window.queries * (headDim + RECORD_EXTRA);
    let records = this.#recorder.scratch(2 * slotBytes);
    let merged = this.#recorder.scratch(2 * slotBytes);
    for (let key = 0; key < end; key += keysPerPart) {
      const part = { ...window, key, keys: Math.min(keysPerPart, end - key) };
      const isFirst = key === 0;
      const isLast = key + keysPerPart >= end;
      const slots = isFirst ? 1 : 2;
      const slot = slice(records, isFirst ? 0 : slotBytes, slotBytes);
      const isAll = isFirst && isLast;
      this.#launch(this.#choose(part), part, isAll ? this.#rows(window) : slot, { partial: !isAll, splits: 1 });
      if (isFirst) continue;
      this.#combine(records, slots, window, isLast ? this.#rows(window) : slice(merged, 0, slotBytes), {
        partial: !isLast,
      });
      [records, merged] = [merged, records];
    }
  }

  /** The rows of O of a window. */
  #rows({ head, heads, query, queries }: QueryWindow): Span {
    const { seqQ, headDim, o } = this.#call;
    return slice(o, 4 * (head * seqQ + query) * headDim, 4 * heads * queries * headDim);
  }

  #choose({ heads, queries, keys }: Window): AttentionVariant {
    const { headDim, causal } = this.#call;
    return this.#chooser({ heads, queries, keys, headDim, causal }, this.#recorder);
  }

  /** Gives the number of splits, which is at most what was asked for. */
  #launch(
    variant: AttentionVariant,
    window: Window,
    output: Span,
    { partial, splits }: { readonly partial: boolean; readonly splits: number },
  ): number {
    const { seqQ, seqKv, headDim, causal, scale } = this.#call;
    const { head, heads, query, queries, key, keys } = window;
    const { traits } = this.#recorder;
    const rows = (operand: Span, first: number, count: number) =>
      bindable(slice(operand, 4 * first * headDim, 4 * count * headDim), traits.storageAlignment);
    const q = rows(this.#inputs.q, head * seqQ + query, heads * queries);
    const k = rows(this.#inputs.k, head * seqKv + key, (heads - 1) * seqKv + keys);
    const v = rows(this.#inputs.v, head * seqKv + key, (heads - 1) * seqKv + keys);
    const o = bindable(output, traits.storageAlignment);
    const wide = headDim % 4 === 0 && [q, k, v, o].every(({ byteOffset }) => byteOffset % 16 === 0);
    const launch = launchOf(variant, { heads, queries, keys, headDim, causal }, { splits, partial, wide });
    this.#recorder.launch({
      kernel: launch.kernel,
      storage: { q: q.span, k: k.span, v: v.span, o: o.span },
      groups: launch.groups,
      variant: variant.id,
      uniforms: {
        heads,
        queries,
        keys,
        head_dim: headDim,
        first_query: query,
        first_key: key,
        causal: causal ? 1 : 0,
        scale,
        q_at: q.byteOffset / 4,
        k_at: k.byteOffset / 4,
        v_at: v.byteOffset / 4,
        kv_head: heads > 1 ? seqKv * headDim : 0,
        o_at: o.byteOffset / 4,
        o_row: headDim + (partial ? RECORD_EXTRA : 0),
        splits: launch.splits,
        split_keys: launch.splitKeys,
      },
    });
    return launch.splits;
  }

  #combine(
    records: Span,
    slots: number,
    { heads, queries }: QueryWindow,
    output: Span,
    params: { readonly partial: boolean },
  ): void {
    const { headDim } = this.#call;
    const { storageAlignment } = this.#recorder.traits;
    const rows = heads * queries;
    const from = bindable(slice(records, 0, 4 * slots * rows * (headDim + RECORD_EXTRA)), storageAlignment);
    const to = bindable(output, storageAlignment);
    this.#recorder.launch({
      kernel: combine(params),
      storage: { records: from.span, o: to.span },
      groups: Math.ceil((rows * headDim) / COMBINE_LANES),
      uniforms: {
        slots,
        rows,
        head_dim: headDim,
        records_at: from.byteOffset / 4,
        o_at: to.byteOffset / 4,
        o_row: headDim + (params.partial ? RECORD_EXTRA : 0),
      },
    });
  }
}
