import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { OPERATORS } from '../src/operators/table.ts';

it('the README lists every operator', () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
  const listed = ['ai.onnx', 'com.microsoft'].flatMap((domain) => {
    const names = new RegExp(`\`${domain}\`: ([^.]+)\\.`).exec(text)?.[1]?.split(', ') ?? [];
    return names.map((name) => (domain === 'ai.onnx' ? name : `${domain}.${name}`));
  });
  const own = Object.keys(OPERATORS).filter((name) => !name.startsWith('concord.'));
  expect(listed.sort()).toEqual(own.sort());
});
