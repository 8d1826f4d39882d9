// @ts-check
// What cases of sub-groups share: 20 work-items, so that the third sub-group of 8 is a smaller one.
import { item } from './item.mjs';

const items = 20;
export const given = Array.from({ length: items }, (_, at) => ((at * 7) % 11) - 3);
export const each = (
  /** @type {(lane: number, members: number[], at: number) => number} */ value,
  /** @type {number} */ size = 8,
) =>
  given.map((_, at) => {
    const first = at - (at % size);
    return value(at % size, given.slice(first, first + size), at);
  });

export const sum = (/** @type {number[]} */ of) => of.reduce((a, b) => a + b, 0);
export const kernel = { capabilities: ['Groups'], version: '1.1' };
export const modern = {
  capabilities: [
    'GroupNonUniform',
    'GroupNonUniformVote',
    'GroupNonUniformArithmetic',
    'GroupNonUniformBallot',
    'GroupNonUniformShuffle',
    'GroupNonUniformShuffleRelative',
    'GroupNonUniformClustered',
  ],
  version: '1.3',
};
export const intel = { capabilities: ['SubgroupShuffleINTEL'], extensions: ['SPV_INTEL_subgroups'], version: '1.1' };

export const one = (
  /** @type {string} */ name,
  /** @type {string} */ type,
  /** @type {string} */ body,
  /** @type {number[]} */ expected,
  /** @type {object} */ more,
) => item(name, type, type, body, given, expected, more);
export const flag = (/** @type {string} */ vote) =>
  `%c = OpSGreaterThan %bool %x #i32:-3\n%v = ${vote}\n%y = OpSelect %i32 %v #i32:1 #i32:0`;
export const builtin = (/** @type {string} */ name) => `%y = OpLoad %i32 %builtin_${name}`;
export const dispatch = { capabilities: ['SubgroupDispatch'], version: '1.1' };
