import type { FunctionBuilder, Operand, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';

/** The parameters that distinguish the `pack` kernels. */
export interface PackParams {
  /** True if columns are one apart: then rows are copied in vectors. */
  readonly isDense: boolean;
}

const LANES = 16;

/**
 * Lays out images for `wide`: `[images * channels][row phases][column phases][rows][pitch]`, as `layout.ts` says. The padding
 * becomes zeros. A work-item copies `rows_per_item` lines of `pitch` elements, numbered in the order in which they lie; the
 * input is NCHW.
 */
export const pack: (params: PackParams) => Kernel = variants(({ isDense }: PackParams) =>
  defineKernel({
    name: `conv2d/pack${isDense ? ' dense' : ''}`,
    parameters: {
      input: 'f32*',
      images: 'f32*',
      lines: 'u64',
      lines_per_item: 'u64',
      height: 'u64',
      width: 'u64',
      row_phases: 'u64',
      column_phases: 'u64',
      rows: 'u64',
      pitch: 'u64',
      first_row: 'u64',
      stride_h: 'u64',
      stride_w: 'u64',
      pad_h: 'u64',
      pad_w: 'u64',
    },
    groupSize: [1, 1, 1],
    write: (k, { args }) => {
      const first = k.mul(groupIndex(k), args.lines_per_item);
      const end = k.math('u_min', k.add(first, args.lines_per_item), args.lines);
      k.forLoop({ from: first, to: end }, [], (line) => {
        const row = k.umod(line, args.rows);
        const phases = k.udiv(line, args.rows);
        const columnPhase = k.umod(phases, args.column_phases);
        const rowPhase = k.umod(k.udiv(phases, args.column_phases), args.row_phases);
        const channel = k.udiv(k.udiv(phases, args.column_phases), args.row_phases);
        // Modulo 2^64: above and left of the image come out as huge numbers.
        const y = k.sub(k.add(k.mul(k.add(row, args.first_row), args.stride_h), rowPhase), args.pad_h);
        const to = k.at(args.images, k.mul(line, args.pitch));
        k.ifElse(
          k.ult(y, args.height),
          () => {
            const from = k.at(args.input, k.mul(k.add(k.mul(channel, args.height), y), args.width));
            if (isDense) copyDense(k, from, to, args);
            else copyStrided(k, from, to, columnPhase, args);
          },
          () => fillZeros(k, to, 0, args.pitch),
        );
      });
    },
  }),
);

type Arguments = Readonly<Record<'width' | 'pitch' | 'stride_w' | 'pad_w', Value>>;

function fillZeros(k: FunctionBuilder, to: Value, from: Operand, end: Value): void {
  k.forLoop({ from, to: end }, [], (column) => k.store(k.at(to, column), 0));
}

/** Zeros, a piece of the row, zeros. */
function copyDense(k: FunctionBuilder, from: Value, to: Value, { width, pitch, pad_w: pad }: Arguments): void {
  const left = k.math('u_min', pad, pitch);
  const count = k.math('u_min', width, k.sub(pitch, left));
  fillZeros(k, to, 0, left);
  const target = k.at(to, left);
  const whole = k.and(count, -LANES);
  k.forLoop({ to: whole, step: LANES }, [], (at) => {
    k.storeVector(k.at(target, at), k.loadVector(k.at(from, at), LANES));
  });
  k.forLoop({ from: whole, to: count }, [], (at) => k.store(k.at(target, at), k.load(k.at(from, at))));
  fillZeros(k, to, k.add(left, count), pitch);
}

function copyStrided(k: FunctionBuilder, from: Value, to: Value, phase: Value, args: Arguments): void {
  const { width, pitch, stride_w: stride, pad_w: pad } = args;
  k.forLoop({ to: pitch }, [k.sub(phase, pad)], (column, [x]) => {
    const inside = k.ult(x as Value, width);
    const [value] = k.ifElse(
      inside,
      () => [k.load(k.at(from, x as Value))],
      () => [k.constant(k.types.float(32), 0)],
    );
    k.store(k.at(to, column), value as Value);
    return [k.add(x as Value, stride)];
  });
}
