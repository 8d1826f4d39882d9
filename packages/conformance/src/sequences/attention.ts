import { planAttention } from '../cases/attention/checks.ts';
import { ATTENTION_DEFAULTS, type AttentionParams } from '../cases/attention/params.ts';
import type { ConformanceCase } from '../harness/case.ts';
import { offsetCases } from './offsets.ts';
import { pairCases } from './pairs.ts';
import type { SequenceSubject } from './sequence-case.ts';

type Change = Partial<AttentionParams>;

const ATTENTION: SequenceSubject<AttentionParams> = {
  op: 'attention',
  defaults: ATTENTION_DEFAULTS,
  plan: planAttention,
};

const BASE: Change = { batch: 2, heads: 4, kvHeads: 2, seqQ: 6, seqKv: 6, headDim: 8, mask: 'qk', causal: true };
const CHANGES: readonly Change[] = [
  ...[1, 3].map((batch) => ({ batch })),
  ...[{ heads: 2 }, { heads: 6 }, { kvHeads: 1 }, { kvHeads: 4 }],
  ...[1, 5, 7, 12].flatMap((size): Change[] => [{ seqQ: size }, { seqKv: size }, { headDim: size }]),
  ...[3, 12].map((valueDim) => ({ valueDim })),
  ...[0.5, 1, 2].map((scale) => ({ scale })),
  ...[1, 5].map((softcap) => ({ softcap })),
  { causal: false },
  ...[1, -1, 4].map((causalOffset) => ({ causalOffset })),
  ...[1, 3, 6].map((window) => ({ window })),
  ...['bhqk', 'hqk', 'bk', 'k', 'q', 'one'].map((mask) => ({ mask })),
  ...[{ maskDtype: 'u8' as const }, { maskDtype: 'own' as const }],
  ...(['interleaved', 'padded', 'joined'] as const).map((layout) => ({ layout })),
  ...[{ lengths: 'each' as const }, { lengths: 'one' as const }, { starts: 'each' as const }],
  { lse: true },
  ...[{ dtypeKv: 'f16' as const }, { dtypeKv: 'bf16' as const }],
  { dtype: 'f16' },
];
/** One query, as where keys are kept: separate kernels on some backends. */
const ONE_QUERY: Change = { batch: 1, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 40, headDim: 32 };
const CHANGES_OF_ONE: readonly Change[] = [
  ...[1, 39, 41, 64].map((seqKv) => ({ seqKv })),
  ...[31, 33].map((headDim) => ({ headDim })),
  ...[
    { scale: 0.5 },
    { softcap: 5 },
    { mask: 'k' },
    { window: 7, causalOffset: 39 },
    { causal: true, causalOffset: 20 },
  ],
  ...[{ kvHeads: 1 }, { kvHeads: 4 }, { layout: 'padded' as const }, { dtype: 'f16' as const }],
  ...[{ dtypeKv: 'f16' as const }, { dtypeKv: 'bf16' as const }],
];

const offsets = [['f32', 4] as const, ['f16', 2] as const].map(([dtype, size]) =>
  offsetCases(ATTENTION, {
    ...{ name: dtype, operands: 4, size },
    shapes: [
      { seqQ: 8, seqKv: 8, headDim: 16, dtype },
      { seqQ: 1, seqKv: 16, headDim: 8, dtype },
    ],
  }),
);

/** Sequences of attention. */
export const attentionSequences: readonly ConformanceCase[] = [
  ...pairCases(ATTENTION, 'many queries', BASE, CHANGES),
  ...pairCases(ATTENTION, 'one query', ONE_QUERY, CHANGES_OF_ONE),
  ...offsets,
];
