import { expect, test } from 'vitest';
import { assemble, disassemble } from '../src/text/index.ts';
import { randomModule } from './support/text-random-module.ts';
import { spirvDis, spirvAs } from './support/text-tools.ts';
for (let seed = 1; seed < 6; seed++)
  test(`seed ${seed}`, () => {
    let state = seed;
    const random = (end: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * end);
    };
    const words = randomModule(random, 3);
    expect(disassemble(words)).toBe(spirvDis(words));
    const raw = disassemble(words, { friendlyNames: false });
    expect(raw).toBe(spirvDis(words, '--raw-id'));
    console.log(raw.split('\n').filter((l) => /%\d{5}/.test(l)));
    expect(assemble(raw)).toEqual(words);
    expect(spirvAs(raw).slice(5)).toEqual(words.slice(5));
    expect(assemble(disassemble(words)).slice(5)).toEqual(spirvAs(disassemble(words)).slice(5));
  });
