import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assemble, disassemble } from '../src/text/index.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');

// The texts are spirv-dis's, so these hold where SPIRV-Tools is not installed.
describe('a module that clang has compiled from OpenCL C', () => {
  const raw = read('open-cl-c.raw.spvasm');
  const friendly = read('open-cl-c.spvasm');
  const words = assemble(raw);

  it('prints as spirv-dis prints it', () => {
    expect(disassemble(words)).toBe(friendly);
    expect(disassemble(words, { friendlyNames: false })).toBe(raw);
  });

  it('has a header that the options leave out, and indentation', () => {
    const bare = disassemble(words, { header: false, indent: false });
    const lines = friendly.split('\n').slice(5);
    expect(bare).toBe(lines.map((line) => line.trimStart()).join('\n'));
  });

  it('keeps its instructions under friendly names, whatever numbers those get', () => {
    const renumbered = assemble(friendly);
    expect(renumbered.length).toBe(words.length);
    expect(disassemble(renumbered)).toBe(friendly);
    expect([...renumbered.subarray(0, 5)]).toEqual([...words.subarray(0, 5)]);
  });
});
