// @ts-check
import { expect, test } from 'vitest';
import { differences, formatRow, formatTable, keyOf, parseTable } from '../lib/intel-table.mjs';

const made = {
  simd: 16,
  grf: 128,
  slm: 0,
  scratch: 1024,
  loop: { instructions: 368, multiplyAdds: 256, systolic: 0, sends: 40 },
};
const line = 'gemm/subgroup 16\tdg2\t16\t128\t0\t1024\t368\t256\t0\t40\t0.70';

test('a row is a line of what was made, with the ratio of the loop', () => {
  expect(formatRow({ kernel: 'gemm/subgroup 16', product: 'dg2', made })).toBe(line);
  const flat = { ...made, loop: undefined };
  expect(formatRow({ kernel: 'a', product: 'skl', made: flat })).toBe('a\tskl\t16\t128\t0\t1024\t-\t-\t-\t-\t-');
  expect(formatRow({ kernel: 'a', product: 'skl', error: 'it does not build' })).toBe('a\tskl\tfails');
});

test('a table is sorted, and read back as it was', () => {
  const table = formatTable(['b\tdg2\tfails', line, 'b\tdg1\tfails']);
  expect(table.split('\n').map(keyOf)).toEqual(['kernel\tproduct', 'b\tdg1', 'b\tdg2', 'gemm/subgroup 16\tdg2', '']);
  expect(formatTable(parseTable(table).values())).toBe(table);
});

test('differences are the lines that changed, came and went', () => {
  const before = new Map([
    ['a', 'a 1'],
    ['b', 'b 1'],
    ['c', 'c 1'],
  ]);
  const after = new Map([
    ['a', 'a 1'],
    ['b', 'b 2'],
    ['d', 'd 1'],
  ]);
  expect(differences(before, after)).toEqual(['- b 1', '+ b 2', '- c 1', '+ d 1']);
  expect(differences(before, before)).toEqual([]);
});

test('an instruction more or less in the loop is alike; a spill, another width or more instructions are not', () => {
  const withCells = (/** @type {Record<number, string>} */ cells) =>
    new Map([
      [
        'k',
        line
          .split('\t')
          .map((cell, index) => cells[index] ?? cell)
          .join('\t'),
      ],
    ]);
  const before = withCells({});
  expect(differences(before, withCells({ 6: '367', 10: '0.69' }))).toEqual([]);
  for (const cells of [{ 2: '8' }, { 5: '1088' }, { 6: '366' }, { 6: '-' }, { 8: '1' }, { 9: '41' }]) {
    expect(differences(before, withCells(cells)), JSON.stringify(cells)).toHaveLength(2);
  }
});
