import type { Random } from '../../harness/random.ts';
import { defineSuite, type Suite } from '../../harness/suite.ts';
import { ATTENTION_TEXTS } from '../../texts/attention.ts';
import { ATTENTION_CHECKS } from './checks.ts';
import { FIELD_CASES, PLAIN_CASES } from './lists.ts';
import { ATTENTION_DEFAULTS, type AttentionParams, shapeOf, viewsOf } from './params.ts';

function draw(random: Random): [string, AttentionParams] {
  const size = (): number => random.pick([random.integer(1, 6), random.integer(1, 80)]);
  const rarely = <T>(usual: T, other: () => T): T => (random.chance(0.25) ? other() : usual);
  const kvHeads = random.integer(1, 3);
  const seqQ = random.pick([1, size(), size()]);
  const layout = random.pick(['packed', 'packed', 'interleaved', 'padded', 'joined'] as const);
  const seqKv = layout === 'joined' ? seqQ : size();
  const mask = rarely('none', () => random.pick(['bhqk', 'hqk', 'qk', 'bk', 'k', 'q', 'one']));
  const params: AttentionParams = {
    batch: random.integer(1, 2),
    ...rarely({ heads: kvHeads, kvHeads: 0 }, () => ({ heads: kvHeads * random.integer(1, 8), kvHeads })),
    ...{ seqQ, seqKv, layout, mask, maskDtype: rarely('f32', () => random.pick(['u8', 'own'])) },
    headDim: random.pick([random.integer(1, 20), random.integer(1, 256), 64]),
    valueDim: rarely(0, () => random.pick([random.integer(1, 20), random.integer(1, 256)])),
    scale: random.pick([0, 0, 1, 0.01]),
    softcap: rarely(0, () => random.pick([0.5, 5, 50])),
    causal: random.chance(0.5),
    causalOffset: rarely(0, () => random.integer(-3, seqKv)),
    window: rarely(0, () => random.integer(1, seqKv + 1)),
    ...rarely({ lengths: 'none', starts: 'none' } as const, () => drawPlaces(random)),
    lse: random.chance(0.2),
    dtype: random.pick(['f32', 'f32', 'f16'] as const),
    dtypeKv: rarely('own', () => random.pick(['f16', 'bf16'] as const)),
    range: random.pick([1, 1, 4, 20]),
    offset: random.pick([0, 4, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  if (params.starts !== 'none') return ['bounded', { ...params, causalOffset: 0 }];
  if (params.causal && random.chance(0.2)) return ['hidden', params];
  if (mask !== 'none') return [random.pick(['bounded', 'bounded', 'rows', 'unseen', 'repeat']), params];
  return [random.pick(['bounded', 'bounded', 'rows', 'specials', 'bad-key', 'repeat']), params];
}

function drawPlaces(random: Random): Pick<AttentionParams, 'lengths' | 'starts'> {
  const by = () => random.pick(['none', 'one', 'each'] as const);
  return { lengths: by(), starts: by() };
}

function shrink(params: AttentionParams): Partial<AttentionParams>[] {
  const { batch, heads, seqQ, seqKv, headDim, kvHeads } = params;
  const smaller: Partial<AttentionParams>[] = [];
  const isJoined = params.layout === 'joined';
  for (const [name, size] of Object.entries({ batch, seqQ, ...(isJoined ? {} : { seqKv }), headDim })) {
    for (const next of size > 1 ? [Math.ceil(size / 2), size - 1] : []) {
      smaller.push({ [name]: next, ...(isJoined && name === 'seqQ' ? { seqKv: next } : {}) });
    }
  }
  if (kvHeads > 0) smaller.push({ kvHeads: 0 }, { heads: heads / kvHeads, kvHeads: 1 });
  else if (heads > 1) smaller.push({ heads: Math.ceil(heads / 2) }, { heads: heads - 1 });
  for (const name of ['softcap', 'causalOffset', 'window', 'offset', 'valueDim'] as const) {
    if (params[name] !== 0) smaller.push({ [name]: 0 });
  }
  if (params.mask !== 'none') smaller.push(...['none', 'k', 'one'].map((mask) => ({ mask })));
  if (params.maskDtype !== 'f32') smaller.push({ maskDtype: 'f32' });
  if (params.layout !== 'packed') smaller.push({ layout: 'packed' });
  if (params.dtype !== 'f32') smaller.push({ dtype: 'f32' });
  if (params.together) smaller.push({ together: false });
  if (params.causal) smaller.push({ causal: false });
  if (params.dtypeKv !== 'own') smaller.push({ dtypeKv: 'own' });
  if (params.lse) smaller.push({ lse: false });
  for (const name of ['lengths', 'starts'] as const) {
    if (params[name] !== 'none') smaller.push({ [name]: 'none' });
  }
  return smaller;
}

/** `attention`. */
export const attentionSuite: Suite = defineSuite<AttentionParams>({
  op: 'attention',
  defaults: ATTENTION_DEFAULTS,
  checks: ATTENTION_CHECKS,
  texts: ATTENTION_TEXTS,
  list: [...PLAIN_CASES, ...FIELD_CASES],
  needs: (params) => {
    const { dtype, dtypeKv, lengths, starts, mask, valueDim, lse } = params;
    const needsMore =
      lengths !== 'none' || starts !== 'none' || mask !== 'none' || valueDim !== 0 || lse || dtypeKv !== 'own';
    return needsMore ? { dtype, shape: { ...shapeOf(params), ...viewsOf(params) } } : { dtype };
  },
  draw,
  shrink,
});
