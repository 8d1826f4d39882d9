import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { checkFields } from './fields.ts';

const NAMES = ['shape', 'folded', 'inputs', 'outputs', 'ldc'];
const check = (value: object, names = NAMES) => checkFields('run', value, names);

describe('checkFields', () => {
  it('takes the names that there are, and any that is undefined', () => {
    expect(() => check({ shape: 1, ldc: undefined, other: undefined })).not.toThrow();
    expect(() => check({})).not.toThrow();
  });

  it('looks at own fields only, whatever their values', () => {
    expect(() => check(Object.create({ other: 1 }) as object)).not.toThrow();
    for (const value of [null, 0, false, Number.NaN]) {
      expectInvalid(() => check({ shap: value }), 'run has no field shap; did you mean shape?');
    }
  });

  it.each([
    ['Shape', 'shape'],
    ['input', 'inputs'],
    ['oputuuts', 'outputs'],
    ['lda', 'ldc'],
    ['fodled', 'folded'],
    ['out', 'outputs'],
  ])('%s is near %s', (name, near) => {
    expectInvalid(() => check({ [name]: 1 }), `run has no field ${name}; did you mean ${near}?`);
  });

  it('lists the names where none is near', () => {
    expectInvalid(() => check({ tensor: 1 }), 'run has no field tensor; it has shape, folded, inputs, outputs, ldc');
    expectInvalid(() => check({ x: 1 }, ['q', 'k']), 'run has no field x; it has q, k');
    expectInvalid(() => check({ x: 1 }, []), 'run has no field x; it has none');
  });
});
