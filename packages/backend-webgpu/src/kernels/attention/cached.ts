import { BYTES_OF, type CheckedAttention } from '@concord/backend-core/implement';
import type { Canonical } from '@concord/variants';
import { bindingSlack } from '../operands.ts';
import type { DeviceTraits } from '../recorder.ts';
import { DECODE_QUERIES } from './decode.ts';

/** Keys of a plan are a multiple of this, as those of a split are. */
const STEP_KEYS = 64;
/** The largest part by which a plan has more keys than a call of more keys. */
const MAX_MORE = 1 / 8;
/** An upper bound of the records of a row that any plan writes. */
const MAX_RECORDS = 256;

/**
 * Calls of few queries over a cache, which has a key more for each token, are planned for some more keys than they have, and
 * seen to the last of those: one plan, and its bind groups, serve many tokens. Undefined for any other call, which is planned
 * as it is. Its parameters are `CACHED_PARAMS`.
 */
export function cached(call: CheckedAttention, traits: DeviceTraits): Canonical<CheckedAttention> | undefined {
  const { seqQ, seqKv, causal, causalOffset, window } = call;
  if (call.lengthStride !== undefined || call.startStride !== undefined) return undefined;
  if (traits.isSoftware || seqQ > DECODE_QUERIES || window !== Infinity) return undefined;
  // Those that the last query sees; one at least.
  const keys = causal ? Math.max(1, Math.min(seqKv, seqQ + causalOffset)) : seqKv;
  const step = Math.max(STEP_KEYS, 2 ** Math.floor(Math.log2(keys * MAX_MORE)));
  const planned = Math.ceil(keys / step) * step;
  if (!isOneLaunch(call, planned, traits)) return undefined;
  const end = causal ? Math.max(-seqQ, Math.min(seqKv, causalOffset)) + 1 : seqKv;
  const params = [keys, end, Math.max(0, Math.min(seqQ, 1 - end))];
  // An offset, so that this is no plain call; all keys are before it.
  const scalars = { scale: 1, softcap: Math.sign(call.softcap) };
  return { call: { ...call, ...scalars, seqKv: planned, causalOffset: planned - seqQ }, params };
}

/** Returns whether bindings cover a call with a number of keys. */
function isOneLaunch(call: CheckedAttention, keys: number, traits: DeviceTraits): boolean {
  const { batch, heads, kvHeads, seqQ, headDim, valueDim, kStrides, vStrides, maskStrides, dtype, operands } = call;
  const bytes = traits.maxBindingBytes - bindingSlack(traits.storageAlignment);
  const max = bytes / BYTES_OF[dtype] - Math.max(headDim, valueDim);
  const extent = (strides: readonly number[], count: number): number =>
    (batch - 1) * (strides[0] as number) +
    (count - 1) * (strides[1] as number) +
    (keys - 1) * (strides.at(-1) as number);
  if (extent(kStrides, kvHeads) > max || extent(vStrides, kvHeads) > max) return false;
  for (const { elements } of operands) if (elements > max) return false;
  const rows = (maskStrides?.[2] ?? 0) * (seqQ - 1);
  const numbers = Math.max(
    maskStrides === undefined ? 0 : extent(maskStrides, heads) + rows + 1,
    MAX_RECORDS * batch * heads * seqQ * (valueDim + 2),
  );
  return numbers * BYTES_OF.f32 <= bytes;
}
