import { expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { assemble, disassemble } from '../src/text/index.ts';
import { spirvDis, spirvAs } from './support/text-tools.ts';
for (const f of (process.env.FILES ?? '').split(' '))
  test(f, () => {
    const words = new Uint32Array(Uint8Array.from(readFileSync(f)).buffer);
    expect(disassemble(words)).toBe(spirvDis(words));
    const raw = disassemble(words, { friendlyNames: false });
    expect(raw).toBe(spirvDis(words, '--raw-id'));
    expect(assemble(raw)).toEqual(words);
    expect(assemble(disassemble(words)).slice(5)).toEqual(spirvAs(disassemble(words)).slice(5));
    expect(disassemble(words, { header: false, indent: false })).toBe(spirvDis(words, '--no-header', '--no-indent'));
  });
