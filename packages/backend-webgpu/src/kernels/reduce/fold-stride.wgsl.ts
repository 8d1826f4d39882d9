import type { StorageBinding } from '../kernel.ts';
import { elementType, type Fold, foldWgsl } from './fold.wgsl.ts';

/** WGSL type of `width` neighbouring elements. */
export function vectorType(fold: Fold, width: 1 | 4): string {
  return width === 1 ? elementType(fold) : `vec4<${elementType(fold)}>`;
}

/** Bindings of the kernels that reduce columns, `width` of them at once. */
export function columnsStorage(fold: Fold, width: 1 | 4): Record<'input' | 'output', StorageBinding> {
  const type = `array<${vectorType(fold, width)}>`;
  return { input: { access: 'read', type }, output: { access: 'read_write', type } };
}

/**
 * `fold_stride(begin, end, stride)`: what the vectors of `input` at begin, begin + stride, ... below `end` fold to.
 * Four are on their way at a time, each for a total of its own: 1,024 of them make a chain of 258 additions.
 */
export function foldStrideWgsl(fold: Fold, width: 1 | 4): string {
  const type = vectorType(fold, width);
  const s = width === 1 ? '' : '4';
  return /* wgsl */ `
${foldWgsl(fold, width)}

fn fold_stride(begin: u32, end: u32, stride: u32) -> ${type} {
  var total0 = NOTHING${s};
  var total1 = NOTHING${s};
  var total2 = NOTHING${s};
  var total3 = NOTHING${s};
  var i = begin;
  for (; i + 3u * stride < end; i += 4u * stride) {
    total0 = take${s}(total0, input[i]);
    total1 = take${s}(total1, input[i + stride]);
    total2 = take${s}(total2, input[i + 2u * stride]);
    total3 = take${s}(total3, input[i + 3u * stride]);
  }
  for (; i < end; i += stride) { total0 = take${s}(total0, input[i]); }
  return fold${s}(fold${s}(total0, total1), fold${s}(total2, total3));
}`;
}
