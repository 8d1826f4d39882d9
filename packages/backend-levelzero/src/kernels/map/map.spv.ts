import { names } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel } from '../kernel.ts';
import { axisCount, contractionOf, formName, formParameters, type RunForm } from '../run/form.ts';
import { coordinatesOf, KernelCode } from '../run/kernel-code.ts';

/** The parameters that distinguish the kernels of a map. */
export interface MapParams {
  readonly form: RunForm;
  /** `runs`, for CPUs: a work-item takes many neighbours; `lanes`, for GPUs: one vector. */
  readonly kind: 'runs' | 'lanes';
  /** True if vectors end with the last axis. */
  readonly isWhole: boolean;
  /** Outputs that are stored, by number; all of them of one level. */
  readonly stores: readonly number[];
}

/** Work-items of a group of the kind `lanes`. */
export const MAP_GROUP = 256;

/**
 * Computes each point by itself. Lines are the points that differ in the last axis only.
 *
 * - `runs`: a line is cut into `segments` of `segment` points, the last one perhaps shorter; a work-item takes `run`
 *   neighbours of all segments from `first` on, `items` in all, each by vectors and then the last points one by one.
 * - `lanes`: a line is cut into `segments` vectors; a work-item takes one. Groups of 256 in a grid of two dimensions.
 *
 * A work-item reads all of a point, or of a vector of them, before it stores any: an output may be an input.
 */
export function mapKernel({ form, kind, isWhole, stores }: MapParams): Kernel {
  const { index } = form;
  return defineKernel<string>({
    name: `run/map ${kind} ${formName(form, { isWhole, stores })}`,
    parameters: {
      ...formParameters(form),
      items: index,
      first: index,
      segments: index,
      ...(kind === 'runs' ? { segment: index, run: index } : {}),
    },
    groupSize: [kind === 'runs' ? 1 : MAP_GROUP, 1, 1],
    contraction: contractionOf(form),
    write: (k, { args }) => {
      const code = new KernelCode(k, form, args);
      const point = (line: readonly Value[], place: Value, width: Width): void => {
        storePoint(code, [...line, place], width, stores);
      };
      if (kind === 'runs') writeRuns(code, point);
      else writeLanes(code, isWhole, point);
    },
  });
}

type Point = (line: readonly Value[], place: Value, width: Width) => void;

/** Coordinates of a line: all but the last one. */
function lineOf(code: KernelCode, number: Value): readonly Value[] {
  return coordinatesOf(code.k, number, code.sizes(0, axisCount(code.form) - 1));
}

function lengthOf(code: KernelCode): Value {
  return code.arg(names.size(axisCount(code.form) - 1));
}

function writeRuns(code: KernelCode, point: Point): void {
  const { k, form } = code;
  const arg = (name: string): Value => code.arg(name);
  const from = k.add(arg('first'), k.mul(k.uconvert(groupIndex(k), code.index), arg('run')));
  const to = k.math('u_min', k.add(from, arg('run')), arg('items'));
  k.forLoop({ from, to }, [], (item) => {
    const number = k.udiv(item, arg('segments'));
    const line = lineOf(code, number);
    const start = k.mul(k.sub(item, k.mul(number, arg('segments'))), arg('segment'));
    const size = k.math('u_min', arg('segment'), k.sub(lengthOf(code), start));
    const end = k.add(start, size);
    if (form.width === 1) {
      k.forLoop({ from: start, to: end }, [], (place) => point(line, place, 1));
      return;
    }
    const tail = k.add(start, k.and(size, -form.width));
    k.forLoop({ from: start, to: tail, step: form.width }, [], (place) => point(line, place, form.width));
    k.forLoop({ from: tail, to: end }, [], (place) => point(line, place, 1));
  });
}

function writeLanes(code: KernelCode, isWhole: boolean, point: Point): void {
  const { k, form } = code;
  const item = k.add(code.arg('first'), laneIndex(k, code));
  k.when(k.ult(item, code.arg('items')), () => {
    const isFlat = axisCount(form) === 1;
    const number = isFlat ? item : k.udiv(item, code.arg('segments'));
    const line = isFlat ? [] : lineOf(code, number);
    const unit = isFlat ? item : k.sub(item, k.mul(number, code.arg('segments')));
    const place = k.mul(unit, form.width);
    if (isWhole || form.width === 1) {
      point(line, place, form.width);
      return;
    }
    const end = k.add(place, form.width);
    const length = lengthOf(code);
    k.ifElse(
      k.ule(end, length),
      () => point(line, place, form.width),
      () => {
        k.forLoop({ from: place, to: length }, [], (each) => point(line, each, 1));
      },
    );
  });
}

function laneIndex(k: FunctionBuilder, code: KernelCode): Value {
  return k.uconvert(k.add(k.mul(groupIndex(k), MAP_GROUP), k.localId(0)), code.index);
}

function storePoint(code: KernelCode, coordinates: readonly Value[], width: Width, stores: readonly number[]): void {
  const { kernel, form } = code;
  const row = code.row(coordinates.slice(0, form.rowRank), width);
  const isRow = kernel.outputs[stores[0] as number]?.level === 'row';
  code.store(stores, isRow ? row : code.element(row, coordinates.slice(form.rowRank), width));
}
