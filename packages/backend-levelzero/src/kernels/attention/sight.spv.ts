import type { ResolvedAttention } from '@concord/backend-core/implement';
import type { Value } from '@concord/spirv-builder';
import { FAR_PLACE, placedSight } from '@concord/variants';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder, Span } from '../recorder.ts';
import { SIGHT, type SightName } from './any-call.ts';

/** Work-items in a group. */
const SIGHT_LANES = 64;

/**
 * Computes what the queries of each batch see, by the lengths and starts in memory: {@link SIGHT} of each. One
 * work-item a batch. Places are within 2^30, and there are fewer than 2^29 queries and keys.
 */
export const sight: Kernel = defineKernel({
  name: 'attention/sight',
  parameters: {
    ...{ lengths: 'u32*', starts: 'u32*', sight: 'u32*', batches: 'u64' },
    ...{ length_stride: 'u64', start_stride: 'u64', has_lengths: 'u32', has_starts: 'u32' },
    ...{ queries: 'u32', keys: 'u32', hidden: 'u32', seen: 'u32', causal: 'u32' },
  },
  groupSize: [SIGHT_LANES, 1, 1],
  write: (k, { module, args }) => {
    const u32 = module.int(32);
    const int = (value: number): Value => k.constant(u32, value >>> 0);
    const most = (a: Value, b: Value): Value => k.math('s_max', a, b);
    const least = (a: Value, b: Value): Value => k.math('s_min', a, b);
    const batch = k.add(k.mul(groupIndex(k), SIGHT_LANES), k.localId(0));
    k.when(k.ult(batch, args.batches), () => {
      const read = (from: Value, stride: Value, has: Value): Value =>
        k.load(k.at(from, k.select(k.ne(has, 0), k.mul(batch, stride), 0)));
      const given = k.math('u_min', read(args.lengths, args.length_stride, args.has_lengths), args.keys);
      const length = k.select(k.ne(args.has_lengths, 0), given, args.keys);
      const start = k.math(
        's_clamp',
        read(args.starts, args.start_stride, args.has_starts),
        int(-FAR_PLACE),
        int(FAR_PLACE),
      );
      const place = k.select(k.ne(args.has_starts, 0), start, k.sub(length, args.queries));
      // Where it makes no difference any more, the place stays in range of the difference.
      const first = least(k.sub(most(place, k.sub(args.hidden, int(FAR_PLACE))), args.hidden), int(FAR_PLACE));
      const end = k.select(k.ne(args.causal, 0), least(k.add(place, args.seen), int(FAR_PLACE)), int(FAR_PLACE));
      const query = (value: Value): Value => least(most(value, int(0)), args.queries);
      const numbers: Readonly<Record<SightName, Value>> = {
        begin_plus: most(first, int(0)),
        begin_minus: most(k.sub(int(0), first), int(0)),
        end_plus: most(end, int(0)),
        end_minus: most(k.sub(int(0), end), int(0)),
        seeing_begin: query(k.sub(int(1), end)),
        seeing_end: k.select(k.eq(length, 0), int(0), query(k.sub(length, first))),
        there: length,
      };
      const to = k.at(args.sight, k.mul(batch, SIGHT.length));
      for (const [index, name] of SIGHT.entries()) k.store(k.at(to, index), numbers[name]);
    });
  },
});

/** Launches {@link sight} and returns what it writes; undefined where no places are in memory. */
export function readPlaces(call: ResolvedAttention<DeviceMemory>, recorder: Recorder): Span | undefined {
  const placed = placedSight(call);
  if (placed === undefined) return undefined;
  const { batch, seqQ, seqKv, causal, lengthStride, startStride } = call;
  const written = recorder.scratch(4 * SIGHT.length * batch);
  recorder.launch({
    kernel: sight,
    args: {
      // Where there are none, the first number there is not used.
      ...{ lengths: call.lengths ?? call.q, starts: call.starts ?? call.q, sight: written, batches: batch },
      ...{ length_stride: lengthStride ?? 0, start_stride: startStride ?? 0 },
      ...{ has_lengths: lengthStride === undefined ? 0 : 1, has_starts: startStride === undefined ? 0 : 1 },
      ...{ queries: seqQ, keys: seqKv, causal: causal ? 1 : 0 },
      ...{ hidden: placed.hidden >>> 0, seen: placed.seen >>> 0 },
    },
    groups: gridOf(Math.ceil(batch / SIGHT_LANES), recorder.traits),
  });
  return written;
}
