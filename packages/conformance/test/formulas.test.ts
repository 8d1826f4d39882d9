import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { BINARY_OPS, UNARY_OPS } from '@concord/backend-core';
import { expect, test } from 'vitest';
import { binaryUlps, unaryUlps } from '../src/checks/elementwise.ts';

test('functions are held to the formulas of docs/numerics.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/numerics.md'), 'utf8');
  const rows = page.split('\n').map((line) =>
    line
      .replaceAll('\\|', '¦')
      .split('|')
      .map((cell) => cell.trim()),
  );
  const inDocs = (fn: string): string => {
    const row = rows.find(([, names]) => names?.split(', ').includes(fn));
    if (row === undefined) throw new Error(`docs/numerics.md has no row for ${fn}`);
    return (row[2] as string).replaceAll('¦', '|');
  };
  const evaluate = (formula: string, x: number, y: number): number => {
    // As the docs write it; |..| nests once, around a product.
    const code = formula
      .replace('|y log2|x||', 'Math.abs(y * Math.log2(Math.abs(x)))')
      .replace('|x|', 'Math.abs(x)')
      .replace('|y|', 'Math.abs(y)')
      .replace('x^2', 'x ** 2')
      .replace(/(\d)(?=Math|x)/g, '$1 * ');
    return Number(runInNewContext(code, { x, y }));
  };
  for (const fn of UNARY_OPS) expect(unaryUlps(fn, -3), fn).toBe(evaluate(inDocs(fn), -3, 0));
  for (const fn of BINARY_OPS) expect(binaryUlps(fn, 3, -5), fn).toBeCloseTo(evaluate(inDocs(fn), 3, -5), 9);
});
