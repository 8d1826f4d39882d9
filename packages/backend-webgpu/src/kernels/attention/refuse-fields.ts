import type { CheckedAttention } from '@concord/backend-core/implement';

/** Why the kernels cannot run a call: what they do not know of. */
export function refuseFields(call: CheckedAttention): string | undefined {
  const { heads, kvHeads, seqQ, seqKv, headDim, softcap, causalOffset, window, maskStrides } = call;
  const packed = (count: number, rows: number): string => [count * rows * headDim, rows * headDim, headDim].join();
  const isPacked =
    [call.qStrides, call.oStrides].every((strides) => strides.join() === packed(heads, seqQ)) &&
    [call.kStrides, call.vStrides].every((strides) => strides.join() === packed(kvHeads, seqKv));
  if (kvHeads !== heads) return 'kvHeads is not built yet';
  if (softcap !== 0) return 'softcap is not built yet';
  if (causalOffset !== 0) return 'causalOffset is not built yet';
  if (window !== Infinity) return 'window is not built yet';
  if (maskStrides !== undefined) return 'mask is not built yet';
  return isPacked ? undefined : 'strides are not built yet';
}
