import type { DevicePtr } from '@concord/backend-core';
import type { DefinedOp } from '@concord/backend-core/implement';
import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { PlannedEpilogue } from '../epilogue/planned-epilogue.ts';
import type { CaseContext, Needs } from '../harness/case.ts';
import { callOp, SOME_POINTER } from '../harness/sample-calls.ts';
import type { Check } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { type Multiply, productTolerance, roundTo, smallIntegers } from './product.ts';
import { type Draw, isZero, makeData, type ProductData, type ProductParams, productShape } from './product-data.ts';

/** The epilogue of a product with these parameters. */
export function productEpilogue(params: ProductParams): PlannedEpilogue {
  const { m, n, ldc = n, strideC, batchCount } = productShape(params);
  const { dtype } = params;
  return new PlannedEpilogue({ shape: [batchCount, m, n], strides: [strideC, ldc, 1], dtype }, params);
}

async function checkEpilogue(
  context: CaseContext,
  params: ProductParams,
  multiply: Multiply,
  data: ProductData,
  isExact: boolean,
): Promise<void> {
  const { offset: offsetBytes, together, dtype } = params;
  const { shape } = data;
  const planned = productEpilogue(params);
  const workspace = new Workspace(context.backend, { offsetBytes, together });
  const a = workspace.input(data.a, dtype);
  const b = workspace.input(data.b, dtype);
  const inputs = planned.inputs(workspace, context.random, isExact);
  const c = isZero(params.beta) ? workspace.output(data.c.length, dtype) : workspace.inOut(data.c, dtype);
  await workspace.run(() => {
    const epilogue = planned.call((name) => inputs[name]?.ptr as DevicePtr);
    multiply(context.backend, { ...shape, epilogue }, a, b, c);
  });
  c.matrices(shape.batchCount, shape.strideC, shape.m, shape.n, shape.ldc ?? shape.n);
  const { value, magnitude } = batchedGemmReference(shape, data.a, data.b, data.c);
  // The epilogue gets the product in float32, whatever C is stored as.
  const { bound } = productTolerance(data, value, magnitude, 'f32');
  planned.check(context, c, inputs, value, isExact ? () => 0 : bound);
}

/** Integers whose sums float32 holds and binary16 does not. */
async function checkExact(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const draw = smallIntegers(random, params.k > 200 ? 8 : 60);
  await checkEpilogue(context, params, multiply, makeData(params, draw, draw, draw), true);
}

async function checkBounded(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const draw = roundTo(params.dtype, () => random.unit() * 2 - 1);
  await checkEpilogue(context, params, multiply, makeData(params, draw, draw, draw), false);
}

async function checkSpecials(context: CaseContext, params: ProductParams, multiply: Multiply): Promise<void> {
  const { random } = context;
  const integers = smallIntegers(random, 3);
  const chance = 1 / (4 * Math.max(1, params.k));
  const special: Draw = (row, column) =>
    random.chance(chance) ? random.pick([Number.NaN, Infinity, -Infinity]) : integers(row, column);
  await checkEpilogue(context, params, multiply, makeData(params, special, special, special), true);
}

/** The checks of epilogues that gemm, gemmF16 and batchedGemm share, for one way of calling the op. */
export function productEpilogueChecks(multiply: Multiply): Readonly<Record<string, Check<ProductParams>>> {
  const checks = { epilogue: checkExact, 'epilogue-bounded': checkBounded, 'epilogue-specials': checkSpecials };
  return Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [name, (context, params) => check(context, params, multiply)]),
  );
}

/** The requirements of a case of a product on a backend: the call itself where it is one that some cannot do. */
export function productNeeds(op: DefinedOp): (params: ProductParams) => Omit<Needs, 'op'> {
  return (params) => {
    const { dtype, epilogue, interleaved } = params;
    if (epilogue === '' && !interleaved) return { dtype };
    const { strideA, strideB, strideC, batchCount, ...plain } = productShape(params);
    const shape = op === 'batchedGemm' ? { ...plain, strideA, strideB, strideC, batchCount } : plain;
    const planned = epilogue === '' ? undefined : productEpilogue(params);
    const pointers = { a: SOME_POINTER, b: SOME_POINTER, c: SOME_POINTER };
    return {
      dtype,
      shape: { ...shape, ...(planned === undefined ? {} : { epilogue: planned.shape }) },
      call: (backend) =>
        callOp(backend, op, {
          ...shape,
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
