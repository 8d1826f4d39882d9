import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assemble, disassemble } from '../src/text/index.ts';
import { drawProgram } from './support/draw-program.ts';
import { emitProgram } from './support/emit-program.ts';
import { FEATURES } from './support/features.ts';
import { needSpirvTools } from './support/spirv-tools.ts';
import { spirvDis } from './support/text-tools.ts';

const programs = fc.sample(drawProgram(), { numRuns: 40, seed: 7 });
const modules = [...programs.map(emitProgram), ...FEATURES.map(({ emit }) => emit())];

it('takes apart and puts together what the builder emits', () => {
  for (const words of modules) expect(assemble(disassemble(words, { friendlyNames: false }))).toEqual(words);
});

it('prints what the builder emits as spirv-dis does', (context) => {
  needSpirvTools(context);
  for (const words of modules) {
    expect(disassemble(words)).toBe(spirvDis(words));
    expect(disassemble(words, { friendlyNames: false })).toBe(spirvDis(words, '--raw-id'));
  }
});
