import type { ProductParams } from './product-data.ts';

type Entry = readonly [string, Partial<ProductParams>];

const FLOATS = ['f32', 'f16', 'bf16'];
const INTEGERS = ['i8', 'u8', 'i4', 'u4'];
const ZEROS = ['none', 'own', 'f32', 'f16', 'offsets'];

/** The listed cases of a B of each type but `dtype`: rows of C from one to those of a tile, blocks whole and short. */
export function weightEntries(dtype: 'f32' | 'f16', more: Partial<ProductParams> = {}): Entry[] {
  const own = { dtype, ...more };
  const floats = FLOATS.filter((each) => each !== dtype).flatMap((dtypeB): Entry[] => [
    ...['NN', 'NT', 'TN', 'TT'].map((trans): Entry => ['exact', { ...own, dtypeB, m: 5, n: 9, k: 7, trans }]),
    ...['NN', 'NT'].flatMap((trans): Entry[] => [
      ['exact', { ...own, dtypeB, m: 68, n: 36, k: 20, trans, beta: 2, padA: 1, padB: 3, padC: 1 }],
      ['exact', { ...own, dtypeB, m: 1, n: 70, k: 264, trans, alpha: -0.5 }],
      ['exact', { ...own, dtypeB, m: 33, n: 1, k: 70, trans, offset: 4 }],
    ]),
    ['bounded', { ...own, dtypeB, m: 3, n: 40, k: 513, trans: 'NT', alpha: 0.3, beta: -1.7 }],
    ['bounded', { ...own, dtypeB, m: 64, n: 64, k: 64 }],
    ...[2, 4, 8].map((m): Entry => ['exact', { ...own, dtypeB, m, n: 35, k: 68, trans: 'NT', padB: 4, beta: 1 }]),
    ['exact', { ...own, dtypeB, m: 6, n: 5, k: 71, trans: 'TT', padB: 1 }],
    ['bounded', { ...own, dtypeB, m: 7, n: 11, k: 4097, trans: 'NT', padB: 3 }],
    ['epilogue', { ...own, dtypeB, m: 1, n: 21, k: 40, trans: 'NT', epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue', { ...own, dtypeB, m: 20, n: 21, k: 9, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
    ['repeat', { ...own, dtypeB, m: 2, n: 33, k: 300, trans: 'NT' }],
  ]);
  const integers = INTEGERS.flatMap((dtypeB): Entry[] => {
    const each = { ...own, dtypeB, trans: 'NT' };
    return [
      ...ZEROS.flatMap((zeros): Entry[] => [
        ['exact', { ...each, zeros, m: 1, n: 37, k: 96 }],
        ['exact', { ...each, zeros, m: 5, n: 9, k: 75, block: 16, scales: 'f16', blocksView: 'padded' }],
        ['bounded', { ...each, zeros, m: 1, n: 10, k: 1000, block: 128, scales: 'f16' }],
        ['bounded', { ...each, zeros, m: 70, n: 36, k: 64, beta: 0.5, alpha: -2 }],
      ]),
      ...[1, 2, 3, 4, 8, 9].map((m): Entry => ['bounded', { ...each, m, n: 70, k: 512, scales: 'f16', zeros: 'own' }]),
      ...[1, 7, 8, 24, 100].map((block): Entry => [
        'exact',
        { ...each, m: 2, n: 11, k: 75, block, zeros: 'own', blocksView: 'turned' },
      ]),
      // Few rows: whole words and pieces of them, last blocks that are short, one block for all of a row.
      ...ZEROS.flatMap((zeros): Entry[] => [
        ['exact', { ...each, zeros, m: 2, n: 11, k: 75, padB: 5, block: 16, scales: 'f16', beta: 2 }],
        ['exact', { ...each, zeros, m: 3, n: 35, k: 200, padB: 8, block: 64, blocksView: 'padded' }],
        ['bounded', { ...each, zeros, m: 6, n: 9, k: 1160, block: 32, scales: 'f16', blocksView: 'turned' }],
      ]),
      ...[1, 5, 8].map((m): Entry => ['exact', { ...each, m, n: 13, k: 77, padB: 3, block: 100, zeros: 'own' }]),
      ...[4, 7].map((m): Entry => ['bounded', { ...each, m, n: 130, k: 2056, block: 128, padA: 4, zeros: 'own' }]),
      ['bounded', { ...each, m: 1, n: 3, k: 20_000, block: 32, scales: 'f16', zeros: 'own' }],
      ['exact', { ...each, m: 3, n: 5, k: 40, trans: 'TT', padA: 3, padC: 2, block: 8, zeros: 'own', offset: 4 }],
      ['epilogue', { ...each, m: 3, n: 21, k: 40, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
      ...(dtype === 'f32' ? ['none', 'own'] : []).flatMap((zeros): Entry[] => [
        ['large', { ...each, zeros, m: 1, n: 19, k: 32 }],
        ['large', { ...each, zeros, m: 3, n: 5, k: 20, padB: 4, block: 32, scales: 'f16' }],
      ]),
      ['exact', { ...each, m: 1, n: 6, k: 64, padB: 4, offset: dtype === 'f16' ? 2 : 4, together: true }],
      ['exact', { ...each, m: 3, n: 6, k: 128, padB: 1, block: 64, zeros: 'own' }],
      ['exact', { ...each, m: 7, n: 13, k: 33, trans: 'TT', padA: 2, padC: 3, beta: -1, blocksView: 'repeated' }],
      ['exact', { ...each, m: 4, n: 6, k: 0, beta: 2 }],
      ['exact', { ...each, m: 4, n: 6, k: 5, alpha: 0 }],
      ['epilogue', { ...each, m: 1, n: 21, k: 40, epilogue: 'bias gelu', view: 'axis 2' }],
      ['epilogue', { ...each, m: 12, n: 21, k: 40, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
      ['repeat', { ...each, m: 1, n: 33, k: 300 }],
    ];
  });
  return [...floats, ...integers];
}
