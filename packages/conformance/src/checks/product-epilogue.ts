import type { DefinedOp } from '@concord/backend-core/implement';
import { PlannedEpilogue } from '../epilogue/planned-epilogue.ts';
import type { Needs } from '../harness/case.ts';
import { callOp, SOME_POINTER } from '../harness/sample-calls.ts';
import { placeQuant } from './product-weights.ts';
import { type ProductParams, productShape } from './product-data.ts';

/** The epilogue of a product with these parameters. */
export function productEpilogue(params: ProductParams): PlannedEpilogue {
  const { m, n, ldc = n, strideC, batchCount } = productShape(params);
  const { dtype } = params;
  return new PlannedEpilogue({ shape: [batchCount, m, n], strides: [strideC, ldc, 1], dtype }, params);
}

/** The requirements of a case of a product on a backend: the call itself where it is one that some cannot do. */
export function productNeeds(op: DefinedOp): (params: ProductParams) => Omit<Needs, 'op'> {
  return (params) => {
    const { dtype, dtypeB, epilogue, interleaved } = params;
    if (epilogue === '' && !interleaved && dtypeB === 'same') return { dtype };
    const { strideA, strideB, strideC, batchCount, ...plain } = productShape(params);
    const shape = op === 'batchedGemm' ? { ...plain, strideA, strideB, strideC, batchCount } : plain;
    const planned = epilogue === '' ? undefined : productEpilogue(params);
    const pointers = { a: SOME_POINTER, b: SOME_POINTER, c: SOME_POINTER };
    return {
      dtype,
      shape: { ...shape, ...(planned === undefined ? {} : { epilogue: planned.shape }) },
      call: (backend) =>
        callOp(backend, op, {
          ...placeQuant(shape, () => SOME_POINTER),
          ...pointers,
          ...(planned === undefined ? {} : { epilogue: planned.call(() => SOME_POINTER) }),
        }),
    };
  };
}

type Entry = readonly [string, Partial<ProductParams>];

/** The listed cases of epilogues of one product, most of a shape that fits no tile. */
export function epilogueEntries(odd: Partial<ProductParams>): Entry[] {
  const wide: Partial<ProductParams> = { ...odd, m: 68, n: 132, k: 36 };
  return [
    ['epilogue', { ...odd, epilogue: 'copy' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 1' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2', stored: 'f16', padC: 3 }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'padded', stored: 'bf16' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'transposed' }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'scalar', beta: 2, trans: 'TT' }],
    ['epilogue', { ...odd, epilogue: 'bias gelu', view: 'axis 2', padC: 1, offset: 4 }],
    ['epilogue', { ...odd, epilogue: 'low bits', beta: -1 }],
    ['epilogue', { ...odd, epilogue: 'bias', view: 'axis 2', offset: odd.dtype === 'f16' ? 2 : 12, together: true }],
    ['epilogue', { ...odd, epilogue: 'three inputs', view: 'permuted' }],
    ['epilogue', { ...odd, epilogue: 'three inputs', view: 'repeated', together: true, alpha: -0.5 }],
    ['epilogue', { ...odd, epilogue: 'parameters', trans: 'TN' }],
    ['epilogue', { ...odd, epilogue: 'parameters', trans: 'TN', seed: 1 }],
    ['epilogue', { ...odd, epilogue: 'indices', padC: 2 }],
    ['epilogue', { ...odd, epilogue: 'mask', stored: 'u8', view: 'padded' }],
    ['epilogue', { ...odd, epilogue: 'mask', view: 'axis 1' }],
    ['epilogue', { ...odd, k: 0, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...odd, k: 0, beta: 2, epilogue: 'three inputs', view: 'axis 1' }],
    ['epilogue', { ...odd, alpha: 0, epilogue: 'indices' }],
    ['epilogue', { ...odd, alpha: 0, beta: -1, epilogue: 'parameters', padC: 1 }],
    // No product at all: the epilogue has to be applied whatever C is scaled by.
    ...[{ k: 0 }, { alpha: 0 }].flatMap((none) =>
      [0, 1, -1, 2].map((beta): Entry => ['epilogue', { ...odd, ...none, beta, epilogue: 'bias', view: 'axis 1' }]),
    ),
    ['epilogue', { ...odd, m: 1, epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue', { ...odd, n: 1, epilogue: 'bias', view: 'axis 1' }],
    ['epilogue', { ...odd, m: 2, n: 3, k: 1500, epilogue: 'three inputs', view: 'axis 2' }],
    ['epilogue', { ...wide, epilogue: 'bias', view: 'axis 2' }],
    ['epilogue', { ...wide, epilogue: 'bias', view: 'axis 1', stored: 'f16', trans: 'NT' }],
    ['epilogue', { ...wide, epilogue: 'three inputs', view: 'dense', beta: 1 }],
    ['epilogue', { ...wide, epilogue: 'indices' }],
    ['epilogue', { ...wide, m: 136, n: 72, k: 40, epilogue: 'low bits', trans: 'TN' }],
    ['epilogue-bounded', { ...wide, epilogue: 'bias gelu', view: 'axis 2' }],
    ['epilogue-bounded', { ...wide, epilogue: 'three inputs', view: 'axis 2', alpha: 0.3, beta: -1.7 }],
    ['epilogue-bounded', { ...odd, epilogue: 'relu' }],
    ['epilogue-specials', { ...odd, k: 6, epilogue: 'relu' }],
    ['epilogue-specials', { ...odd, k: 6, epilogue: 'three inputs', view: 'axis 2', beta: 1 }],
    ['epilogue-specials', { ...wide, k: 8, epilogue: 'bias gelu', view: 'axis 2' }],
  ];
}
