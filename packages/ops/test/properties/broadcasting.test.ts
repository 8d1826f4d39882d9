import { CpuBackend } from '@concord/backend-cpu';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { permute, sub, tensor, type Tensor, tidy, where } from '../../src/index.ts';
import { broadcast, indicesOf, type Model, rebuilt, seenFrom } from '../support/model.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

/** Shapes that mostly broadcast: of one shape each leaves out axes before some place, and has some of the others once. */
const shapesOf = (count: number): fc.Arbitrary<number[][]> =>
  fc
    .tuple(
      fc.array(fc.nat(4), { maxLength: 4 }),
      fc.array(fc.record({ from: fc.nat(4), once: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }) }), {
        minLength: count,
        maxLength: count,
      }),
      fc.nat(9),
    )
    .map(([shape, drawn, wrong]) => {
      const shapes = drawn.map(({ from, once }) =>
        shape.map((length, axis) => (once[axis] === true ? 1 : length)).slice(Math.min(from, shape.length)),
      );
      // One in ten has an axis that fits by chance only.
      const [first] = shapes;
      if (wrong === 0 && first !== undefined && first.length > 0) first[0] = 5;
      return shapes;
    });

const modelOf = (shape: readonly number[], seed: number): Model => ({
  shape,
  values: indicesOf(shape).map((_, place) => (((place + seed) * 7) % 11) - 3),
});

/** The tensor of a model; every second one lies transposed. */
function tensorOf(model: Model, isTransposed: boolean): Tensor {
  if (!isTransposed) return tensor(backend, [...model.values], model.shape);
  const axes = model.shape.map((_, axis) => axis).reverse();
  const reversed = rebuilt(model, [...model.shape].reverse(), (index) => [...index].reverse());
  return permute(tensor(backend, [...reversed.values], reversed.shape), axes);
}

function check(
  count: number,
  op: (a: Tensor, b: Tensor, c: Tensor) => Tensor,
  plain: (a: number, b: number, c: number) => number,
) {
  return fc.assert(
    fc.asyncProperty(
      shapesOf(count),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      async (shapes, transposed) => {
        const models = shapes.map(modelOf);
        const shape = broadcast(shapes);
        const run = () => {
          const tensors = models.map((model, i) => tensorOf(model, transposed[i] === true));
          return op(...(tensors as [Tensor, Tensor, Tensor]));
        };
        if (shape === undefined) {
          const { message } = tidy(() => expectInvalid(run));
          expect(message).toContain(`cannot broadcast ${shapes.map((each) => `[${each.join(', ')}]`).join(' with ')}`);
          return;
        }
        using result = tidy(run);
        expect(result.shape).toEqual(shape);
        const want = indicesOf(shape).map((index) =>
          plain(...(models.map((model) => seenFrom(model, index)) as [number, number, number])),
        );
        expect(Array.from(await result.toArray())).toEqual(want);
      },
    ),
    { numRuns: 300 },
  );
}

test('two operands broadcast as a plain loop says, or are refused', async () => {
  await check(
    2,
    (a, b) => sub(a, b),
    (a, b) => a - b,
  );
  expect(backend.memory().liveAllocations).toBe(0);
});

test('three operands broadcast as a plain loop says, or are refused', async () => {
  await check(
    3,
    (condition, a, b) => where(condition, a, b),
    (condition, a, b) => (condition === 0 ? b : a),
  );
  expect(backend.memory().liveAllocations).toBe(0);
});
