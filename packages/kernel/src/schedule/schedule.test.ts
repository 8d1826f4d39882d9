import { defineKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { accessOf } from './access.ts';
import { padAxes } from './coalesce.ts';
import { foldAt, phasesOf } from './phases.ts';
import { rowClasses } from './row-class.ts';

describe('accessOf', () => {
  const of = (strides: number[], offset = 0, width = 4) =>
    accessOf({ strides, axis: strides.length - 1, width, offset });

  it.each([
    ['vector', [8, 1], 0],
    ['vector', [8, 1], 4],
    ['dense', [8, 1], 2],
    ['dense', [7, 1], 0],
    ['dense', [6, 1], 0],
    ['dense', [6, 8, 1], 0],
    ['dense', [8, 1], 1],
    ['constant', [8, 0], 1],
    ['strided', [1, 8], 0],
  ] as const)('%s of strides %j at %d', (access, strides, offset) => {
    expect(of([...strides], offset)).toBe(access);
  });

  it('knows no vectors of one', () => {
    expect(of([8, 1], 0, 1)).toBe('dense');
  });
});

it('axes are padded in front, to the next rank that there is code for', () => {
  const axes = { sizes: [2, 3, 4, 5, 6], strides: [[5, 4, 3, 2, 1]] };
  expect(padAxes(axes)).toEqual({ sizes: [1, 1, 1, 2, 3, 4, 5, 6], strides: [[0, 0, 0, 5, 4, 3, 2, 1]] });
  expect(padAxes({ sizes: [], strides: [[]] })).toEqual({ sizes: [1], strides: [[0]] });
});

it('folds that do not need each other share a phase', () => {
  const kernel = defineKernel('phases', { inputs: { x: 'f32' } }, ({ x }, k) => {
    const [most, least] = [k.fold('max', x), k.fold('min', x)];
    return { y: k.fold('sum', k.mul(k.sub(x, least), most)) };
  });
  const { folds } = phasesOf(kernel);
  expect(folds.map((nodes) => nodes.map((node) => foldAt(kernel, node).op).sort())).toEqual([['max', 'min'], ['sum']]);
});

describe('rowClasses', () => {
  const question = { count: 1000, passes: 3, maxLanes: 1024, prefersLanes: false };

  it('keep a whole row, or read it again', () => {
    for (const width of [1, 4]) {
      for (const length of [1, 3, 17, 33, 128, 513, 1000, 1024, 8192, 50_257, 2 ** 20]) {
        for (const maxLanes of [96, 128, 256, 1000, 1024]) {
          for (const { team, rows, vectors } of rowClasses({ ...question, maxLanes, length, width })) {
            expect(team * rows).toBeLessThanOrEqual(maxLanes);
            expect(Math.log2(team) % 1).toBe(0);
            if (vectors > 0) expect(team * vectors * width).toBeGreaterThanOrEqual(length);
          }
        }
      }
    }
  });

  it('a lane works alone first where teams are expensive, and on very short rows', () => {
    expect(rowClasses({ ...question, length: 1024, width: 4, prefersLanes: true })[0]?.team).toBe(1);
    expect(rowClasses({ ...question, length: 3, width: 1 })[0]?.team).toBe(1);
    expect(rowClasses({ ...question, length: 1024, width: 4 })[0]?.vectors).toBeGreaterThan(0);
  });
});
