import { OP_NAMES } from '@concord/backend-core';
import { OPS } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { sizePaths } from '../src/cases/huge-sizes.ts';

describe('the cases of huge sizes', () => {
  it.each(OP_NAMES.filter((op) => op !== 'run'))('have every size field of %s', (op) => {
    const sizes = Object.entries(OPS[op].fields).flatMap(([name, kind]) =>
      ['size', 'sizes', 'axis'].includes(kind) ? name : [],
    );
    expect(new Set(sizePaths(op).map(([name]) => name))).toEqual(
      new Set([...sizes, ...(op === 'attention' ? ['strides', 'mask'] : [])]),
    );
  });

  it('have the sizes and strides of run', () => {
    const paths = sizePaths('run').map((path) => path.join('.'));
    expect(paths).toContain('shape.1');
    expect(paths).toContain('inputs.t.shape.0');
    expect(paths).toContain('outputs.y.strides.1');
  });
});
