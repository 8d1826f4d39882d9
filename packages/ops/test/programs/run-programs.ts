import type { ComputeBackend, DType } from '@concord/backend-core';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { expand, memory, mul, permute, record, slice, tensor, type Tensor, tidy } from '../../src/index.ts';
import { at, type Model } from '../support/model.ts';
import { ELEMENT_STEPS } from './elements.ts';
import { PRODUCT_STEPS } from './products.ts';
import { computed, integers, type Operand, type Pick, sizes, type Step, put } from './step.ts';

/** What lies between the elements of a view, and is to stay as it is. */
const GUARD = 55;

interface Laid {
  readonly base: Tensor;
  readonly view: Tensor;
  readonly shown: string;
}

/** A tensor of a model whose axes lie in any order, with gaps, and, where that changes nothing, repeat one element. */
function layOut(backend: ComputeBackend, model: Model, dtype: DType, pick: Pick, repeats: boolean): Laid {
  const { shape } = model;
  const left = [...shape.keys()];
  const order = shape.map(() => left.splice(pick(left.length), 1)[0] as number);
  const own = order.map((axis) => {
    const length = shape[axis] as number;
    return {
      length: repeats && isConstant(model, axis) ? 1 : length,
      start: pick(2),
      step: 1 + (pick(3) === 0 ? 1 : 0),
    };
  });
  const base = computed(
    own.map(({ length, start, step }) => start + length * step),
    (index) => {
      const inner = index.map((each, place) => {
        const { length, start, step } = own[place] as (typeof own)[number];
        const at = (each - start) / step;
        return Number.isInteger(at) && at >= 0 && at < length ? at : -1;
      });
      return inner.includes(-1)
        ? GUARD
        : at(
            model,
            shape.map((_, axis) => inner[order.indexOf(axis)] as number),
          );
    },
  );
  const whole = tensor(backend, [...base.values], base.shape, { dtype });
  const part = slice(
    whole,
    own.map(({ length, start, step }) => [start, start + length * step, step] as const),
  );
  const view = expand(
    permute(
      part,
      shape.map((_, axis) => order.indexOf(axis)),
    ),
    shape,
  );
  return { base: whole, view, shown: `${dtype}[${String(shape)}] strides ${String(view.strides)}` };
}

function isConstant(model: Model, axis: number): boolean {
  const first = computed(model.shape, (index) => at(model, put(index, axis, 0)));
  return model.values.length > 0 && first.values.every((v, i) => v === model.values[i]);
}

/** What is to be read, and what must be there. */
interface Check {
  readonly got: Tensor;
  readonly want: readonly number[];
  readonly tolerance: number;
}

function play(backend: ComputeBackend, drawn: readonly number[], said: string[]): Check[] {
  let next = 0;
  const pick: Pick = (below) => (next < drawn.length ? (drawn[next++] as number) % below : 0);
  const checks: Check[] = [];
  let x: Operand = integers(pick, sizes(pick, 1 + pick(4)));
  for (let count = 1 + pick(3); count > 0; count--) {
    const steps = pick(2) === 0 ? PRODUCT_STEPS : ELEMENT_STEPS;
    const step = (steps[pick(steps.length)] as (typeof steps)[number])(pick, x);
    const { model, result } = playStep(backend, step, pick, said, checks);
    const isSmall = model.values.length <= 300 && model.values.every((v) => Math.abs(v) <= 64 && Number.isInteger(v));
    if (isSmall && model.shape.length > 0 && model.shape.length <= 4 && model.values.length > 0) {
      x = { model, dtype: 'f32', changes: true, ...(result?.dtype === 'f32' ? { tensor: result } : {}) };
    }
  }
  return checks;
}

/** The result of a step, also as a tensor where it was not recorded. */
interface Played {
  readonly model: Model;
  readonly result: Tensor | undefined;
}

function playStep(backend: ComputeBackend, step: Step, pick: Pick, said: string[], checks: Check[]): Played {
  const { operands, want, tolerance = 0 } = step;
  const laid = operands.map(({ model, dtype, tensor: result }) => {
    if (result === undefined || pick(2) === 0) return layOut(backend, model, dtype, pick, true);
    return { base: undefined, view: result, shown: `the last result, strides ${String(result.strides)}` };
  });
  const views = laid.map(({ view }) => view);
  const models = operands.map(({ model }) => model);
  const result = want(models);
  const hasOut = step.hasNoOut !== true && pick(2) === 0;
  const blank = { shape: result.shape, values: result.values.map(() => GUARD) };
  const out = hasOut ? layOut(backend, blank, step.dtype ?? 'f32', pick, false) : undefined;
  const isRecorded = pick(4) === 0 && backend.record !== undefined;
  const shown = laid.map((each) => each.shown).join('; ');
  said.push(`${step.shown}(${shown})${out === undefined ? '' : ` into ${out.shown}`}${isRecorded ? ', recorded' : ''}`);
  let got: Tensor | undefined;
  if (!isRecorded) {
    got = step.run(views, out?.view);
    expect(got.shape, said.join('\n')).toEqual(result.shape);
    checks.push({ got, want: result.values, tolerance });
  } else {
    const recording = record(backend, () => step.run(views, out?.view));
    const isChanged = (index: number): boolean => operands[index]?.changes === true && laid[index]?.base !== undefined;
    for (const [index, { base }] of laid.entries()) if (isChanged(index)) mul(base as Tensor, -1, { out: base });
    recording.replay();
    const negated = ({ shape, values }: Model): Model => ({ shape, values: values.map((each) => -each) });
    const other = want(models.map((model, index) => (isChanged(index) ? negated(model) : model)));
    checks.push({ got: mul(recording.result, 1), want: other.values, tolerance });
    recording.dispose();
  }
  if (out !== undefined) {
    // All of what lies around the view.
    const size = out.base.size - result.values.length;
    checks.push({ got: out.base, want: Array.from({ length: size }, () => GUARD), tolerance: -1 });
  }
  return { model: result, result: got };
}

function compare(got: ArrayLike<number>, { want, tolerance }: Check, said: string): void {
  if (tolerance < 0) {
    const kept = Array.from(got).filter((each) => each === GUARD).length;
    if (kept < want.length) expect.fail(`${said}\nwrote beside out: ${kept} of ${want.length} elements are left`);
    return;
  }
  const scale = want.reduce((most, each) => (Number.isFinite(each) ? Math.max(most, Math.abs(each)) : most), 1e-30);
  const isRight = (each: number, i: number): boolean =>
    Object.is(each, got[i]) || Math.abs(each - (got[i] as number)) <= tolerance * scale;
  if (want.length === got.length && want.every(isRight)) return;
  expect.fail(`${said}\n got ${Array.from(got).join(' ')}\nwant ${want.join(' ')}`);
}

/** Runs random programs on a backend; a failure prints the smallest one found. `CONCORD_PROGRAMS` says how many. */
export async function checkPrograms(backend: ComputeBackend, runs: number, seed: number): Promise<void> {
  const programs = fc.array(fc.nat(999), { minLength: 400, maxLength: 400, size: 'max' });
  const property = fc.asyncProperty(programs, async (drawn) => {
    const before = memory();
    const said: string[] = [];
    const checks = tidy(() => {
      try {
        return play(backend, drawn, said);
      } catch (cause) {
        throw new Error(`after ${said.join('\n')}: ${String(cause)}`, { cause });
      }
    });
    try {
      for (const check of checks) compare(await check.got.toArray(), check, said.join('\n'));
    } finally {
      for (const { got } of checks) got.dispose();
    }
    expect(memory(), said.join('\n')).toEqual(before);
  });
  const own = Number(process.env['CONCORD_PROGRAMS'] ?? 0);
  await fc.assert(property, own > 0 ? { numRuns: own } : { numRuns: runs, seed });
}
