import { defineKernel } from '@concord/backend-core/kernel';
import * as o from '@concord/ops';
import { type Tensor, tensor } from '@concord/ops';
import { ELEMENT_CASES } from './element-cases.ts';
import { caseOf, type GradCase, ints, unary } from './grad-case.ts';
import { PRODUCT_CASES } from './product-cases.ts';

const square = defineKernel(
  'own',
  { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } }, params: { a: 'f32' } },
  ({ x, r, a }, k) => ({
    y: k.mul(k.sub(k.mul(x, x), k.fold('mean', k.mul(x, r))), a),
    z: k.add(k.fold('sum', k.sin(x)), r),
  }),
);

const combining = defineKernel(
  'combining',
  {
    inputs: { x: 'f32', i: 'i32' },
    outputs: {
      y: { type: 'f32', access: 'scatter', rank: 1, mode: 'max' },
      z: { type: 'f32', access: 'scatter', rank: 2, mode: 'min' },
    },
  },
  ({ x, i }, k) => ({ y: k.scatter(x, [i]), z: k.scatter(k.mul(x, x), [i, k.toI32(k.index(0))]) }),
);

/** Every function of ops that has a gradient, with each of its options that changes one. */
export const CASES: readonly GradCase[] = [
  ...ELEMENT_CASES,
  ...PRODUCT_CASES,
  caseOf('concat', (x, y) => o.concat([x, y], { axis: 1 }), [2, 3], [2, 1]),
  caseOf('concat twice', (x) => o.concat([x, o.square(x), x]), [2, 3]),
  caseOf('stack', (x, y) => o.stack([x, y], { axis: 1 }), [2, 3], [2, 3]),
  unary('flip', (x) => o.flip(x, { axis: 1 })),
  ...(['constant', 'reflect', 'edge', 'symmetric', 'wrap'] as const).map((mode) =>
    unary(`pad ${mode}`, (x) =>
      o.pad(
        x,
        [
          [1, 0],
          [2, 1],
        ],
        { mode },
      ),
    ),
  ),
  unary('tile', (x) => o.tile(x, [2, 3])),
  unary('triu', (x) => o.triu(x, { diagonal: 1 })),
  unary('tril', (x) => o.tril(x)),
  unary('expand', (x) => o.mul(o.expand(o.unsqueeze(x, 0), [3, 2, 5]), 2)),
  unary('expand as it is', (x) => o.expand(o.unsqueeze(x, 0), [3, 2, 5])),
  unary('squeeze', (x) => o.squeeze(o.unsqueeze(x, [0, 2]))),
  unary('unsqueeze', (x) => o.square(o.unsqueeze(x, -1))),
  unary('copy', (x) => o.copy(x)),
  unary('pack', (x) => o.pack(o.transpose(x))),
  unary('permute', (x) => o.square(o.permute(x, [1, 0]))),
  unary('transpose', (x) => o.transpose(x)),
  unary('flatten', (x) => o.flatten(x)),
  unary('reshape', (x) => o.square(o.reshape(o.transpose(x), [2, 5]))),
  unary('slice', (x) => o.slice(x, [1, [null, null, 2]])),
  unary('slice backwards', (x) => o.slice(x, [null, [null, 0, -2]])),
  unary('split', (x) => o.mul(o.split(x, [2, 3], 1)[0] as Tensor, o.slice(x, [null, [2, 4]]))),
  unary('dropout', (x) => o.dropout(x, 0.4, { seed: 7 })),
  {
    ...caseOf('dequantize', (x) => o.dequantize(tensor(x.backend, new Uint8Array([1, 7, 200]), [3]), x), []),
    range: [0.2, 1],
  },
  caseOf(
    'run',
    (x, r) => {
      const { y, z } = o.run(square, { x, r }, { params: { a: 1.5 } });
      return o.concat([o.flatten(y), z]);
    },
    [3, 4],
    [3],
  ),
  {
    ...caseOf(
      'run combining',
      (x, row, square) => {
        const [y, z] = [o.mul(row, 0.25), o.square(square)];
        const inputs = { x, i: ints(x, [0, 0, 2, 1, 2, 1, 7, 1], [2, 4]) };
        o.run(combining, inputs, { out: { y, z } });
        return o.concat([y, o.flatten(z)]);
      },
      [2, 4],
      [3],
      [3, 2],
    ),
    isApart: true,
  },
  caseOf(
    'run with out',
    (x) => {
      const out = o.empty(x.backend, [4, 3]);
      o.mul(x, 2, { out: o.slice(out, [[0, 2]]) });
      o.sin(x, { out: o.slice(out, [[2, 4]]) });
      o.add(out, o.square(o.flip(out, { axis: 0 })), { out });
      return out;
    },
    [2, 3],
  ),
];
