import type { DType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { loadElement, storeElement } from './storage.ts';
import { LANES } from './wide-shape.ts';

/** Parameters of {@link pack}. */
export interface PackParams {
  readonly input: DType;
  /** Lines of a panel. */
  readonly width: 1 | 8 | 32;
  /** Whether neighbours in memory are neighbours along k; else they are neighbouring lines. */
  readonly alongK: boolean;
}

/** Terms that one work-item packs. */
export const PACK_DEPTH = 256;

/**
 * Copies lines - rows of op(A), columns of op(B) - to panels of `width` lines in float32, `panel[p][width]`, so that the inner
 * loop of a product reads one stretch of memory, whatever the transposes, strides and storage of the operands. Lines beyond the last
 * are zeros. A work-item packs up to {@link PACK_DEPTH} terms of one panel.
 */
export const pack: (params: PackParams) => Kernel = variants(({ input, width, alongK }: PackParams) =>
  defineKernel({
    name: `gemm/pack ${input} ${width} ${alongK ? 'along k' : 'across k'}`,
    parameters: {
      source: `${input}*`,
      panels: 'f32*',
      lines: 'u64',
      k: 'u64',
      source_ld: 'u64',
      source_stride: 'u64',
    },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const panel = k.groupId(0);
      const from = k.mul(k.groupId(1), PACK_DEPTH);
      const terms = k.math('u_min', k.sub(args.k, from), PACK_DEPTH);
      const batch = k.groupId(2);
      const line = k.mul(panel, width);
      const linesLeft = k.sub(args.lines, line);
      const [lineStep, termStep] = alongK ? [args.source_ld, 1] : [1, args.source_ld];
      const offset = k.add(k.mul(line, lineStep), k.mul(from, termStep));
      const source = k.at(args.source, k.add(k.mul(batch, args.source_stride), offset));
      const place = k.add(k.mul(k.add(k.mul(batch, k.groupCount(0)), panel), args.k), from);
      const target = k.at(args.panels, k.mul(place, width));
      const vectors = Math.ceil(width / LANES);
      const count = (width / vectors) as 1 | 8 | 16;

      const copyLine = (l: Value): void => {
        const read = k.at(source, k.mul(l, lineStep));
        const write = k.at(target, l);
        k.forLoop({ to: terms }, [], (p) => {
          k.store(k.at(write, k.mul(p, width)), loadElement(k, input, k.at(read, k.mul(p, termStep))));
        });
      };
      const clearLine = (l: Value): void => {
        const write = k.at(target, l);
        k.forLoop({ to: terms }, [], (p) => k.store(k.at(write, k.mul(p, width)), k.constant(f32, 0)));
      };
      const all = k.constant(module.int(64), width);
      if (alongK) {
        const present = k.math('u_min', linesLeft, all);
        k.forLoop({ to: present }, [], copyLine);
        k.forLoop({ from: present, to: all }, [], clearLine);
        return;
      }
      k.ifElse(
        k.uge(linesLeft, width),
        () => {
          k.forLoop({ to: terms }, [], (p) => {
            const read = k.at(source, k.mul(p, termStep));
            const write = k.at(target, k.mul(p, width));
            for (let v = 0; v < vectors; v++) {
              storeElement(k, 'f32', k.at(write, v * count), loadElement(k, input, k.at(read, v * count), count));
            }
          });
        },
        () => {
          k.forLoop({ to: linesLeft }, [], copyLine);
          k.forLoop({ from: linesLeft, to: all }, [], clearLine);
        },
      );
    },
  }),
);
