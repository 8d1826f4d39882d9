import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { type Conv2dShape, conv2dForward } from './conv2d.ts';

const valid: Conv2dShape = {
  inputShape: [2, 4, 8, 9],
  filterShape: [6, 2, 3, 3],
  outputShape: [2, 6, 4, 5],
  stride: [2, 2],
  padding: [1, 1],
  groups: 2,
};
const conv = (fields: object, outputIsNull = false) => conv2dForward.check({ ...valid, ...fields }, outputIsNull);
const refused = (fields: object, words: string | RegExp) => expectInvalid(() => conv(fields), words);

describe('conv2dForward: types', () => {
  it.each(['inputShape', 'filterShape', 'outputShape'])('%s is there', (name) => {
    refused({ [name]: undefined }, `${name} must be an array of integers, got undefined`);
  });

  it.each(['inputShape', 'filterShape', 'outputShape', 'padding'])('%s is an array of sizes', (name) => {
    refused({ [name]: 4 }, `${name} must be an array of integers, got 4`);
    refused({ [name]: [1, -1, 1, 1] }, `${name}[1] must be a non-negative safe integer, got -1`);
    refused({ [name]: [1, Number.NaN] }, `${name}[1] must be a non-negative safe integer, got NaN`);
  });

  it.each(['stride', 'dilation'])('%s is an array of positive integers', (name) => {
    refused({ [name]: '22' }, `${name} must be an array of integers, got "22"`);
    refused({ [name]: [1, 0] }, `${name}[1] must be a positive safe integer, got 0`);
  });

  it('groups and dtype', () => {
    refused({ groups: 0 }, 'groups must be a positive safe integer, got 0');
    refused({ groups: 1.5 }, 'groups must be a positive safe integer, got 1.5');
    refused({ dtype: 'i8' }, 'dtype must be one of f32, f16, got "i8"');
  });

  it('an array with a hole is not an array of integers', () => {
    const hole: number[] = [];
    hole[1] = 1;
    refused({ stride: hole }, 'stride[0] must be a positive safe integer, got undefined');
  });
});

describe('conv2dForward: fixed messages', () => {
  it.each([
    [{ inputShape: [1, 3, 32] }, 'inputShape must have 4 elements [n, c, h, w], got 3'],
    [{ filterShape: [16, 3, 3] }, 'filterShape must have 4 elements [k, c / groups, r, s], got 3'],
    [{ outputShape: [1, 16, 30] }, 'outputShape must have 4 elements [n, k, p, q], got 3'],
    [{ stride: [1] }, 'stride must have 2 elements [h, w], got 1'],
    [{ padding: [0] }, 'padding must have 2 elements [h, w] or 4 [top, left, bottom, right], got 1'],
    [{ padding: [0, 0, 0] }, 'padding must have 2 elements [h, w] or 4 [top, left, bottom, right], got 3'],
    [{ dilation: [1, 1, 1] }, 'dilation must have 2 elements [h, w], got 3'],
  ])('%j', (fields, detail) => {
    refused(fields, detail);
  });

  it('come after types and before zero sizes', () => {
    refused({ inputShape: [1], groups: 0 }, 'groups must be a positive safe integer, got 0');
    expectInvalid(
      () => conv({ inputShape: [0, 1, 1, 1], stride: [1] }, true),
      'stride must have 2 elements [h, w], got 1',
    );
  });
});

describe('conv2dForward: zero sizes', () => {
  it('N or K 0 is a no-op, whatever the rest', () => {
    expect(conv({ inputShape: [0, 4, 8, 9], outputShape: [9, 9, 9, 9] })).toBeNull();
    expect(conv({ filterShape: [0, 7, 3, 3] })).toBeNull();
  });

  it('any other zero is a no-op with a null output', () => {
    expect(conv({ inputShape: [2, 0, 8, 9] }, true)).toBeNull();
    expect(conv({ filterShape: [6, 2, 0, 3] }, true)).toBeNull();
    expect(conv({ outputShape: [2, 6, 0, 5] }, true)).toBeNull();
  });

  it('and an error otherwise', () => {
    refused({ inputShape: [2, 4, 0, 9] }, 'inputShape must not contain 0 besides n and k, got [2, 4, 0, 9]');
    refused({ filterShape: [6, 0, 3, 3] }, 'filterShape must not contain 0 besides n and k, got [6, 0, 3, 3]');
    refused({ outputShape: [2, 6, 0, 5] }, 'outputShape must be [2, 6, 4, 5], got [2, 6, 0, 5]');
  });
});

describe('conv2dForward: relations', () => {
  it('groups divide channels and filters', () => {
    const detail = (groups: number) => `groups ${groups} must divide the 4 input channels and the 6 filters`;
    refused({ groups: 3 }, detail(3));
    refused({ groups: 4 }, detail(4));
  });

  it('the filter has the channels of a group', () => {
    refused({ groups: 1 }, 'filterShape[1] must be 4, input channels / groups, got 2');
  });

  it('the output shape follows from the rest', () => {
    // floor((8 + 2 - 3) / 2) + 1 = 4 and floor((9 + 2 - 3) / 2) + 1 = 5
    expect(conv({})).toMatchObject({ outputShape: [2, 6, 4, 5], dilation: [1, 1], groups: 2, dtype: 'f32' });
    for (const outputShape of [
      [1, 6, 4, 5],
      [2, 5, 4, 5],
      [2, 6, 5, 5],
      [2, 6, 4, 4],
    ]) {
      refused({ outputShape }, `outputShape must be [2, 6, 4, 5], got [${outputShape.join(', ')}]`);
    }
    // dilation 3 reaches 7: floor((8 + 2 - 7) / 2) + 1 = 2, floor((9 + 2 - 7) / 2) + 1 = 3
    expect(conv({ dilation: [3, 3], outputShape: [2, 6, 2, 3] })).not.toBeNull();
  });

  it('the filter fits the padded input', () => {
    refused({ dilation: [5, 1] }, "the dilated filter's height 11 exceeds the padded input's 10");
    refused({ dilation: [1, 6] }, "the dilated filter's width 13 exceeds the padded input's 11");
  });

  it('a filter as large as the padded input gives one output', () => {
    const shape = { filterShape: [6, 2, 5, 3], dilation: [2, 5], padding: [1, 1], outputShape: [2, 6, 1, 1] };
    // height: 2 * 4 + 1 = 9 = 7 + 2, width: 5 * 2 + 1 = 11 = 9 + 2
    expect(conv({ ...shape, inputShape: [2, 4, 7, 9] })).not.toBeNull();
  });

  it('overflow', () => {
    const huge = Number.MAX_SAFE_INTEGER;
    refused({ padding: [huge, 1] }, 'height overflows 2^53');
    refused({ dilation: [1, huge] }, 'width overflows 2^53');
    refused(
      {
        inputShape: [2 ** 50, 1, 4, 4],
        filterShape: [1, 1, 1, 1],
        outputShape: [2 ** 50, 1, 4, 4],
        stride: [1, 1],
        padding: [0, 0],
        groups: 1,
      },
      'input spans more than 2^53 bytes',
    );
  });

  it('operands are packed', () => {
    expect(conv({})?.operands).toEqual([
      { name: 'input', dtype: 'f32', elements: 576 },
      { name: 'filter', dtype: 'f32', elements: 108 },
      { name: 'output', dtype: 'f32', elements: 240, output: true },
    ]);
  });

  it('keeps a copy of the arrays', () => {
    const stride = [2, 2];
    const checked = conv({ stride });
    stride[0] = 7;
    expect(checked?.stride).toEqual([2, 2]);
  });
});

describe('conv2dForward: defaults and padding', () => {
  it('stride, padding, dilation and groups may be left out', () => {
    const bare = { inputShape: [1, 4, 8, 9], filterShape: [6, 4, 3, 3], outputShape: [1, 6, 6, 7] } as const;
    expect(conv2dForward.check(bare, false)).toMatchObject({
      stride: [1, 1],
      padding: [0, 0, 0, 0],
      dilation: [1, 1],
      groups: 1,
    });
  });

  it('two values are for both sides, four for top, left, bottom, right', () => {
    expect(conv({})).toMatchObject({ padding: [1, 1, 1, 1] });
    expect(conv({ padding: [1, 2], outputShape: [2, 6, 4, 6] })).toMatchObject({ padding: [1, 2, 1, 2] });
    // floor((8 + 0 + 3 - 3) / 2) + 1 = 5 and floor((9 + 4 + 1 - 3) / 2) + 1 = 6
    const sides = [0, 4, 3, 1];
    const checked = conv({ padding: sides, outputShape: [2, 6, 5, 6] });
    sides[0] = 7;
    expect(checked).toMatchObject({ padding: [0, 4, 3, 1] });
  });
});

describe('conv2dForward: dtypeFilter', () => {
  it('is the type of the filter', () => {
    const checked = conv({ dtypeFilter: 'bf16' });
    expect(checked).toMatchObject({ dtype: 'f32', dtypeFilter: 'bf16', needs: ['dtypeFilter bf16'] });
    expect(checked?.operands.map(({ dtype }) => dtype)).toEqual(['f32', 'bf16', 'f32']);
    expect(conv({ dtypeFilter: 'f32' })).toMatchObject({ dtypeFilter: undefined, needs: [] });
    expect(conv({ dtypeFilter: 'f16', dtype: 'f16' })).toMatchObject({ dtypeFilter: undefined, needs: [] });
  });

  it('has no other value', () => {
    refused({ dtypeFilter: 'i8' }, 'dtypeFilter must be one of f32, f16, bf16, got "i8"');
    refused({ dtypeFilter: 'bf16', dtype: 'f16' }, 'dtypeFilter must be one of f16, got "bf16"');
  });
});

describe('conv2dForward: transposed', () => {
  const transposed = (fields: object) =>
    conv({ filterShape: [4, 3, 3, 4], outputShape: [2, 6, 15, 18], transposed: true, padding: [1, 1], ...fields });
  const wrong = (fields: object, words: string) => expectInvalid(() => transposed(fields), words);

  it('filter and output sizes', () => {
    expect(transposed({})).toMatchObject({ transposed: true, needs: ['transposed'], outputShape: [2, 6, 15, 18] });
    expect(conv({})).toMatchObject({ transposed: false });
    expect(conv({})).toHaveProperty('needs', []);
    expect(transposed({ outputPadding: [1, 0], outputShape: [2, 6, 16, 18] })).not.toBeNull();
    wrong({ filterShape: [6, 2, 3, 4] }, 'filterShape[0] must be 4, the input channels, got 6');
    wrong({ filterShape: [4, 3, 3] }, 'filterShape must have 4 elements [c, k / groups, r, s], got 3');
    wrong({ outputShape: [2, 6, 16, 18] }, 'outputShape must be [2, 6, 15, 18], got [2, 6, 16, 18]');
    wrong({ padding: [8, 9, 9, 1] }, "the padding's height 17 leaves nothing of the output's 17");
    wrong({ stride: [2 ** 52, 1] }, 'height overflows 2^53');
  });

  it('output padding', () => {
    const below = 'must be below 2, the greater one of stride and dilation';
    wrong({ outputPadding: [0, 2] }, `outputPadding[1] ${below}, got 2`);
    refused({ outputPadding: [1, 0] }, 'outputPadding[0] must be 0 unless transposed, got 1');
    wrong({ outputPadding: [1] }, 'outputPadding must have 2 elements [h, w], got 1');
  });

  it('costs what each input is multiplied with', () => {
    expect(conv2dForward.cost(transposed({})!).operations).toBe(2 * 2 * 4 * 8 * 9 * 3 * 3 * 4);
  });
});
