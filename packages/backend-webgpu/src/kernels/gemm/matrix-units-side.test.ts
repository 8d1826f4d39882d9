import { describe, expect, it } from 'vitest';
import { BLOCK_VECTORS, LINE, matrixUnitsSide, UNIT, VECTOR } from './matrix-units.wgsl.ts';

// Software devices have no matrix units: here the places that the WGSL works out are worked out by hand.

/** Evaluates an expression of u32 with `+ * / %`. */
function evaluate(text: string, names: Readonly<Record<string, number>>): number {
  const tokens = text.match(/\w+|[()+*/%]/g) ?? [];
  let next = 0;
  const value = (): number => {
    const token = tokens[next++] as string;
    if (token === '(') {
      const inner = sum();
      next++;
      return inner;
    }
    return /^\d/.test(token) ? Number.parseInt(token, 10) : (names[token] as number);
  };
  const product = (): number => {
    let result = value();
    while (/^[*/%]$/.test(tokens[next] ?? '')) {
      const operator = tokens[next++];
      const other = value();
      result = operator === '*' ? result * other : operator === '/' ? Math.floor(result / other) : result % other;
    }
    return result;
  };
  const sum = (): number => {
    let result = product();
    while (tokens[next] === '+') {
      next++;
      result += product();
    }
    return result;
  };
  return sum();
}

describe.each([
  { size: 128, piece: 64, threads: 128 },
  { size: 64, piece: 32, threads: 128 },
])('a strip of $size', ({ size, piece, threads }) => {
  it.each(['a', 'b'] as const)(
    '%s: matrices are found where vectors were stored, eight of which are in different banks',
    (name) => {
      for (const alongK of [false, true]) {
        const side = matrixUnitsSide({ name, count: 'u.m', size, piece, alongK, threads, fit: 'full' });
        const lines = [...side.declare('0u').matchAll(/let (\w+?)(\d+) = (.*);/g)];
        const stored = new Map<number, { row: number; term: number }>();
        for (let read = 0; read < (size * UNIT) / VECTOR / threads; read++) {
          for (let first = 0; first < threads; first += 8) {
            const banks = new Set<number>();
            for (let lane = first; lane < first + 8; lane++) {
              const names: Record<string, number> = { lane, begin: 0, [`${name}_first`]: 0 };
              for (const [, text, number, expression] of lines) {
                if (Number(number) === read) names[`${text}${number}`] = evaluate(expression as string, names);
              }
              const of = (what: string): number => names[`${name}_${what}${read}`] as number;
              const place = of('block') * BLOCK_VECTORS + of('place');
              expect(stored.has(place)).toBe(false);
              stored.set(place, { row: of('row'), term: of('term') });
              banks.add(place % 8);
            }
            expect(banks.size).toBe(8);
          }
        }
        for (let row = 0; row < size; row += UNIT) {
          const number = Math.floor(row / piece);
          const [, block, column] = /&strips\[(.*)\], (\d+)u, /.exec(side.load(row % piece, 'number', '0u')) ?? [];
          const start = evaluate(block as string, { number }) * BLOCK_VECTORS + Number(column);
          for (let line = 0; line < UNIT; line++) {
            for (const half of [0, VECTOR]) {
              const want = alongK ? { row: row + line, term: half } : { row: row + half, term: line };
              expect(stored.get(start + line * LINE + half / VECTOR)).toEqual(want);
            }
          }
        }
      }
    },
  );
});
