import { ofType } from '@concord/variants';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { FloatDType } from '@concord/backend-core';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { loadElement, storeElement } from './storage.ts';

/** Rows of op(A) that lie beside each other in a packed panel: the rows of a register tile. */
export const PANEL_ROWS = 8;

/** Components of a vector. */
export const LANES = 16 as const;

/** Columns of op(B) that lie beside each other in a packed panel: the columns of a register tile, two vectors. */
export const PANEL_COLUMNS = 32;

/** Entries of a register tile. */
export const TILE: number = PANEL_ROWS * PANEL_COLUMNS;

/**
 * Transposes as many vectors as they have components, a power of two: blocks of 1, 2, 4, ... change places across the
 * diagonal.
 */
function transpose(k: FunctionBuilder, vectors: readonly Value[]): readonly Value[] {
  const count = vectors.length;
  const places = Array.from({ length: count }, (_, place) => place);
  let made = [...vectors];
  for (let size = 1; size < count; size *= 2) {
    const isLow = (place: number): boolean => (place & size) === 0;
    const lower = places.map((place) => (isLow(place) ? place : count + place - size));
    const upper = places.map((place) => (isLow(place) ? place + size : count + place));
    made = made.map((vector, i) =>
      isLow(i) ? k.shuffle(vector, made[i + size] as Value, lower) : k.shuffle(made[i - size] as Value, vector, upper),
    );
  }
  return made;
}

/** Parameters of {@link pack}. */
interface PackParams {
  readonly input: FloatDType;
  /** Lines of a panel. */
  readonly width: 1 | 8 | 32;
  /** True if neighbours in memory are neighbours along k; else they are neighbouring lines. */
  readonly alongK: boolean;
}

/** Terms for one work-item: enough that starting it does not count. */
export const PACK_DEPTH = 256;

/** Lines, and terms, that are transposed at a time. */
const BLOCK = 8;

/**
 * Copies lines - rows of op(A), columns of op(B) - to panels of `width` lines in float32, `panel[p][width]`, so that
 * the inner loop of a product reads one stretch of memory, whatever the transposes, strides and storage of the
 * operands. Lines beyond the last are zeros. A work-item packs up to `each` terms of one panel: neighbouring lines as
 * vectors, and what is a neighbour along k in blocks of 8 x 8 that are transposed in registers.
 */
export const pack: (params: PackParams) => Kernel = variants(({ input, width, alongK }: PackParams) =>
  defineKernel({
    name: `gemm/pack ${input} ${width} ${alongK ? 'along k' : 'across k'}`,
    parameters: {
      source: `${input}*`,
      panels: 'f32*',
      ...ofType('u64', 'lines k source_ld source_stride each'),
    },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const panel = k.groupId(0);
      const from = k.mul(k.groupId(1), args.each);
      const terms = k.math('u_min', k.sub(args.k, from), args.each);
      const batch = k.groupId(2);
      const line = k.mul(panel, width);
      const [lineStep, termStep] = alongK ? [args.source_ld, 1] : [1, args.source_ld];
      const offset = k.add(k.mul(line, lineStep), k.mul(from, termStep));
      const source = k.at(args.source, k.add(k.mul(batch, args.source_stride), offset));
      const place = k.add(k.mul(k.add(k.mul(batch, k.groupCount(0)), panel), args.k), from);
      const target = k.at(args.panels, k.mul(place, width));
      const linesLeft = k.sub(args.lines, line);
      const all = k.constant(module.int(64), width);
      const present = k.math('u_min', linesLeft, all);

      const copyLine = (l: Value, start: Value): void => {
        const [read, write] = [k.at(source, k.mul(l, lineStep)), k.at(target, l)];
        k.forLoop({ from: start, to: terms }, [], (p) => {
          k.store(k.at(write, k.mul(p, width)), loadElement(k, input, k.at(read, k.mul(p, termStep))));
        });
      };
      /** Copies lines from `first` on; missing lines are zero. */
      const copyRest = (first: Value): void => {
        const start = k.constant(first.type, 0);
        k.forLoop({ from: first, to: present }, [], (l) => copyLine(l, start));
        k.forLoop({ from: k.math('u_max', first, present), to: all }, [], (l) => {
          const write = k.at(target, l);
          k.forLoop({ to: terms }, [], (p) => k.store(k.at(write, k.mul(p, width)), k.constant(f32, 0)));
        });
      };

      if (alongK && width > 1) {
        const blocked = k.mul(k.udiv(present, BLOCK), BLOCK);
        const whole = k.mul(k.udiv(terms, BLOCK), BLOCK);
        k.forLoop({ to: blocked, step: BLOCK, unroll: 'dont-unroll' }, [], (first) => {
          const lines = Array.from({ length: BLOCK }, (_, l) => k.at(source, k.mul(k.add(first, l), lineStep)));
          const write = k.at(target, first);
          k.forLoop({ to: whole, step: BLOCK }, [], (p) => {
            const rows = lines.map((read) => loadElement(k, input, k.at(read, p), BLOCK));
            const block = k.at(write, k.mul(p, width));
            transpose(k, rows).forEach((column, t) => k.storeVector(k.at(block, t * width), column));
          });
          k.forLoop({ from: first, to: k.add(first, BLOCK) }, [], (l) => copyLine(l, whole));
        });
        copyRest(blocked);
        return;
      }
      const vectors = Math.ceil(width / LANES);
      const count = (width / vectors) as 1 | 8 | 16;
      k.ifElse(
        k.uge(linesLeft, width),
        () => {
          k.forLoop({ to: terms }, [], (p) => {
            const [read, write] = [k.at(source, k.mul(p, termStep)), k.at(target, k.mul(p, width))];
            for (let v = 0; v < vectors; v++) {
              storeElement(k, 'f32', k.at(write, v * count), loadElement(k, input, k.at(read, v * count), count));
            }
          });
        },
        () => copyRest(k.constant(all.type, 0)),
      );
    },
  }),
);
