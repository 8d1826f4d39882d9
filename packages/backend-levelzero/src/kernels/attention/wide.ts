import { shapeOf } from '@concord/variants';
import { gridOf } from '../work.ts';
import type { Recorder } from '../recorder.ts';
import {
  packKeys,
  PAD_LANES,
  PADDED_COLUMNS,
  padValues,
  PANEL_KEYS,
  wide,
  WIDE_QUERIES,
  type WideParams,
} from './wide.spv.ts';
import { anyCallOf, type PackedAttention } from './packed-call.ts';
import { hasSubgroupKernels, subgroupTable } from './subgroup.ts';
import {
  attend,
  type Attending,
  type AttentionTable,
  type AttentionVariant,
  keysFrom,
  splitsFor,
  visibleKeys,
  FORMS,
  wholeGroups,
} from './table.ts';

/** Columns of a vector of the CPU kernels. */
const LANES = 16;
/** The maximum number of bytes of K and V that are laid out anew at a time, where the device allocates that much, unless one head has more. */
const LAID_OUT_BYTES = 2 ** 26;

const COLUMNS_OF: ReadonlyMap<string, WideParams['columns']> = new Map(
  ([16, 32] as const).map((columns) => [`attention/wide-${columns}`, columns]),
);

/** Attention by wide vectors, of keys that are laid out: for processors, and for GPUs without sub-groups. */
export const wideTable: AttentionTable = {
  ids: [...COLUMNS_OF.keys()],
  kernelsFor: (traits) => {
    if (hasSubgroupKernels(traits)) return [];
    const attending = FORMS.flatMap((form) => [...COLUMNS_OF.values()].map((columns) => wide({ columns, ...form })));
    return [...[false, true].flatMap((placed) => [packKeys({ placed }), padValues({ placed })]), ...attending];
  },
  candidates: (sizes, traits) => {
    const { heads, queries, headDim } = sizes;
    if (subgroupTable.candidates(sizes, traits) !== undefined) return undefined;
    const groups = heads * Math.ceil(queries / WIDE_QUERIES);
    const variant = {
      id: `attention/wide-${headDim < 2 * LANES ? 16 : 32}`,
      splits: splitsFor(groups, sizes, traits),
    };
    return { variants: [variant], preferred: variant };
  },
  launch,
};

/** K, and V where its rows are short, laid out for as many heads at a time as fit in {@link LAID_OUT_BYTES}. */
function launch(call: PackedAttention, variant: AttentionVariant, recorder: Recorder): void {
  const { seqKv, headDim } = call;
  const columns = shapeOf(COLUMNS_OF, variant);
  const any = anyCallOf(call);
  const heads = call.batch * call.heads;
  const panelsPerHead = Math.ceil(visibleKeys(call) / PANEL_KEYS);
  const panelElements = panelsPerHead * PANEL_KEYS * headDim;
  const isPadded = headDim < PADDED_COLUMNS;
  const paddedElements = isPadded ? seqKv * PADDED_COLUMNS : 0;
  const limit = Math.min(LAID_OUT_BYTES, recorder.traits.maxAllocationBytes);
  const fitting = Math.floor(limit / (4 * Math.max(panelElements, paddedElements)));
  const group = call.heads / call.kvHeads;
  const headsAtATime = Math.min(heads, wholeGroups(call, group * fitting));
  const panels = recorder.scratch((4 * headsAtATime * panelElements) / group);
  const padded = isPadded ? recorder.scratch((4 * headsAtATime * paddedElements) / group) : undefined;
  for (let first = 0; first < heads; first += headsAtATime) {
    const count = Math.min(headsAtATime, heads - first);
    const [keys, values] = keysFrom(call, first);
    const keyHeads = count / group;
    const placed = call.sight !== undefined;
    const places = placed ? { sight: call.sight, first_head: first / group, batch_heads: call.kvHeads } : {};
    recorder.launch({
      kernel: packKeys({ placed }),
      args: {
        ...{ k: keys, panels, heads: keyHeads, keys: seqKv, head_dim: headDim, panels_per_head: panelsPerHead },
        ...places,
      },
      groups: gridOf(keyHeads * panelsPerHead, recorder.traits),
    });
    if (padded !== undefined) {
      const rows = keyHeads * seqKv;
      recorder.launch({
        kernel: padValues({ placed }),
        args: { v: values, padded, rows, keys: seqKv, head_dim: headDim, ...places },
        groups: gridOf(Math.ceil((rows * PADDED_COLUMNS) / PAD_LANES), recorder.traits),
      });
    }
    const attending: Attending = {
      kernel: (partial) => wide({ columns, any, partial }),
      args: {
        panels,
        v: padded ?? values,
        value_pitch: isPadded ? PADDED_COLUMNS : headDim,
        panels_head: panelElements,
      },
      groups: count * Math.ceil(call.seqQ / WIDE_QUERIES),
    };
    attend(call, { first, count }, variant, attending, recorder);
  }
}
