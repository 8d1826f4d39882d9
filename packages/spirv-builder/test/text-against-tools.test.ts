import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble, disassemble, SpirvTextError } from '../src/text/index.ts';
import { randomModule, type Random } from './support/text-random-module.ts';
import { literalTexts, NUMBER_DECLARATIONS } from './support/text-literals.ts';
import { needSpirvTools } from './support/spirv-tools.ts';
import { spirvAs, spirvDis } from './support/text-tools.ts';

const SEED = 20260;

/** The generator of fast-check as the one that the support files draw from. */
const randoms = fc.integer({ min: 0, max: 0xffff_ffff }).map(randomFrom);

function randomFrom(seed: number): Random {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

describe('against spirv-dis and spirv-as', () => {
  it('agrees on modules of every instruction and enumerant of the subset, in both directions', (context) => {
    needSpirvTools(context);
    fc.assert(
      fc.property(randoms, (random) => {
        const words = randomModule(random, 2);
        const raw = disassemble(words, { friendlyNames: false });
        const friendly = disassemble(words);
        expect(raw).toBe(spirvDis(words, '--raw-id'));
        expect(friendly).toBe(spirvDis(words));
        expect(assemble(raw)).toEqual(words);
        expect(spirvAs(raw).subarray(5)).toEqual(words.subarray(5));
        expect(assemble(friendly).subarray(5)).toEqual(spirvAs(friendly).subarray(5));
      }),
      { seed: SEED, numRuns: 6 },
    );
  });

  it('agrees on which damaged modules can be read, and on what they say', (context) => {
    needSpirvTools(context);
    fc.assert(
      fc.property(randoms, (random) => {
        const words = damaged(randomModule(random, 1), random);
        const ours = attempt(() => disassemble(words));
        const theirs = attempt(() => spirvDis(words));
        // What spirv-dis knows beyond the subset, and what has no text that could be read back.
        if (/subset|UTF-8|number of \d+ bits|OpPhi/.test(ours.problem ?? '')) return;
        expect({ problem: ours.problem !== undefined, text: ours.value }).toEqual({
          problem: theirs.problem !== undefined,
          text: theirs.value,
        });
      }),
      { seed: SEED, numRuns: 40 },
    );
  });

  it('reads the same numbers out of texts, and refuses the same', (context) => {
    needSpirvTools(context);
    const literals = literalTexts(randomFrom(SEED), 1500).map(({ type, text }) => ({
      line: `OpConstant %${type} ${text}`,
      module: `${NUMBER_DECLARATIONS}%100 = OpConstant %${type} ${text}\n`,
    }));
    const accepted = literals.filter(({ module }) => attempt(() => assemble(module)).problem === undefined);
    const refused = literals.filter((literal) => !accepted.includes(literal));
    expect(accepted.length).toBeGreaterThan(300);
    const all = NUMBER_DECLARATIONS + accepted.map(({ line }, index) => `%${100 + index} = ${line}\n`).join('');
    expect(assemble(all).subarray(5)).toEqual(spirvAs(all).subarray(5));
    for (const { line, module } of refused.slice(0, 60)) {
      expect({ line, refused: attempt(() => spirvAs(module)).problem !== undefined }).toEqual({ line, refused: true });
    }
  });

  it('refuses the texts that spirv-as refuses', (context) => {
    needSpirvTools(context);
    fc.assert(
      fc.property(randoms, (random) => {
        const words = randomModule(random, 1);
        const parts = disassemble(words, { header: false, friendlyNames: random(2) === 0 }).split(/(\s+)/);
        const junk = [
          '',
          '%',
          '"',
          '=',
          'OpNop',
          '-1',
          '0x1.8p+3',
          '|',
          'None',
          ';',
          '"a" "b"',
          parts[random(parts.length)]!,
        ];
        parts[random(parts.length)] = junk[random(junk.length)]!;
        const text = parts.join('');
        const ours = attempt(() => assemble(text).subarray(5));
        const theirs = attempt(() => spirvAs(text).subarray(5));
        // spirv-as lets OpPhi end in the middle of a pair.
        if (ours.problem?.includes('OpPhi ends')) return;
        expect({ refused: ours.problem !== undefined, words: ours.value }).toEqual({
          refused: theirs.problem !== undefined,
          words: theirs.value,
        });
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});

function damaged(words: Uint32Array, random: Random): Uint32Array {
  if (random(8) === 0) return words.slice(0, random(words.length));
  const at = 5 + random(words.length - 5);
  const word = words[at]!;
  words[at] = [0, word ^ (1 << random(32)), words[5 + random(words.length - 5)]!, word + 0x10000][random(4)]! >>> 0;
  return words;
}

/** What an action gives, or the problem that it names. Errors of ours have to be those for users. */
function attempt<T>(action: () => T): { value?: T; problem?: string } {
  try {
    return { value: action() };
  } catch (error) {
    if (error instanceof SpirvTextError || String(error).includes('spirv-')) return { problem: String(error) };
    throw error;
  }
}
