import type { NodeOp } from '@concord/backend-core/kernel';
import { afterAll, describe, expect, it } from 'vitest';
import { arithmeticNode } from '../src/functions/arithmetic-node.ts';
import { ACCURACIES, pow, powGrant } from './support/accuracy.ts';
import { type BitFunction, CProgram, hasGcc } from './support/c-program.ts';
import { flushed, note, used, type Worst } from './support/judge.ts';
import { anyFloats, moderateFloats, SPECIAL } from './support/samples.ts';

// Shader compilers may assume what -ffast-math assumes: no NaN, no infinities, sums may be regrouped. The functions have to
// be right all the same.
const FAST = ['-O2', '-ffast-math'];
/** Quotients and roots by approximations and one step of Newton's, as GPUs make them: about the 2.5 ulp of WGSL. */
const RECIPROCALS = [...FAST, '-mrecip=all'];

const bitFunction =
  (op: NodeOp, operands: 1 | 2): BitFunction =>
  (a, x, y) => {
    const node = { kind: 'arithmetic', op, type: 'f32', level: 'element', operands: [] } as const;
    const floats = [x, y].slice(0, operands).map((bits) => a.bitcast('u32', 'f32', bits));
    return a.bitcast('f32', 'u32', arithmeticNode(a, node, operands === 1 ? ['f32'] : ['f32', 'f32'], floats));
  };

const UNARY = Object.keys(ACCURACIES) as NodeOp[];
const BINARY = {
  div: { exact: (x: number, y: number) => x / y, grant: () => ({ ulps: 3 }) },
  pow: { exact: pow, grant: powGrant },
  atan2: { exact: Math.atan2, grant: () => ({ ulps: 6 }) },
  max: { exact: Math.max, grant: () => ({ ulps: 0, unit: 0 }) },
  min: { exact: Math.min, grant: () => ({ ulps: 0, unit: 0 }) },
} as const;

const bits = (values: readonly number[]): Uint32Array => new Uint32Array(Float32Array.from(values).buffer);
const floats = (words: Uint32Array): Float32Array => new Float32Array(words.buffer);

const isThere = hasGcc();
if (!isThere) console.log('not run, as there is no gcc: functions of kernels under -ffast-math');

for (const options of process.arch === 'x64' ? [FAST, RECIPROCALS] : [FAST]) {
  describe.runIf(isThere)(`by gcc ${options.join(' ')}`, () => {
    const functions = [
      ...UNARY.map((op) => [op, bitFunction(op, 1)] as const),
      ...(Object.keys(BINARY) as NodeOp[]).map((op) => [op, bitFunction(op, 2)] as const),
    ];
    const program = isThere ? new CProgram(Object.fromEntries(functions), options) : undefined;
    afterAll(() => program?.dispose());

    it.each(Object.entries(ACCURACIES))('%s is within its grant', (op, accuracy) => {
      const { exact, grant, limit = 60 } = accuracy;
      const operands = bits([...SPECIAL, ...anyFloats(10_000), ...moderateFloats(40_000, limit)]);
      const results = floats((program as CProgram).run(op, operands, operands));
      const worst: Worst = { used: 0, detail: '' };
      floats(operands).forEach((x, i) => {
        const got = results[i] as number;
        note(worst, used(got, flushed(x).map(exact), grant(x)), () => `${op}(${x}) gave ${got}, not ${exact(x)}`);
      });
      expect(worst.used <= 1 ? '' : worst.detail).toBe('');
    });

    it.each(Object.entries(BINARY))('%s is within its grant', (op, { exact, grant }) => {
      const [any, near] = [anyFloats(20_000), moderateFloats(20_000, 20)];
      const x = bits([...SPECIAL.flatMap((value) => SPECIAL.map(() => value)), ...any.slice(0, 10_000), ...near]);
      const y = bits([...SPECIAL.flatMap(() => SPECIAL), ...any.slice(10_000), ...[...near].reverse()]);
      const results = floats((program as CProgram).run(op, x, y));
      const worst: Worst = { used: 0, detail: '' };
      const [first, second] = [floats(x), floats(y)];
      results.forEach((got, i) => {
        const [p, q] = [first[i] as number, second[i] as number];
        const wants = flushed(p).flatMap((one) => flushed(q).map((other) => exact(one, other)));
        note(worst, used(got, wants, grant(p, q)), () => `${op}(${p}, ${q}) gave ${got}, not ${exact(p, q)}`);
      });
      expect(worst.used <= 1 ? '' : worst.detail).toBe('');
    });
  });
}
